/* SPDX-License-Identifier: MIT */
/*
 * Is a trace directory in which anything may stand read to an end, by everything that
 * reads one, without a crash? (With sanitizers that means: without reading what is
 * not there.) The seed is fixed; another one is an argument.
 */
#include "tests/unit/trace_readers.h"

enum { ROUNDS = 250, EVENTS = 6000 };

/* ---- what is done to a file ---------------------------------------------- */

struct content {
	unsigned char *bytes;
	size_t n;
};

static void flip_bits(struct content *c)
{
	for (uint64_t i = 1 + rnd() % 20; i && c->n; i--)
		c->bytes[rnd() % c->n] ^= (unsigned char)(1 << rnd() % 8);
}

static void fill(struct content *c)
{
	size_t at = c->n ? rnd() % c->n : 0, n = rnd() % 4096;

	memset(c->bytes + at, rnd() % 3 ? (int)rnd() : 0xff, MIN(n, c->n - at));
}

static void cut(struct content *c)
{
	c->n = c->n ? rnd() % c->n : 0;
}

/* A piece of it over another one: packets that come twice, or in the middle. */
static void copy(struct content *c)
{
	size_t n = rnd() % 20000;

	if (c->n > n)
		memmove(c->bytes + rnd() % (c->n - n), c->bytes + rnd() % (c->n - n), n);
}

/* Numbers that matter, in places where numbers stand. */
static void numbers(struct content *c)
{
	static const uint64_t values[] = {
		0, 1, 8, 63, 832, SQUEEZED_MAGIC, 65536 * 8,
		65536 * 8 + 64, UINT32_MAX, 1ull << 40, INT64_MAX,
		UINT64_MAX, PACKET_MAGIC,
	};

	for (uint64_t i = 1 + rnd() % 8; i && c->n > 120; i--)
		memcpy(c->bytes + (rnd() % 2 ? rnd() % 104 : rnd() % (c->n - 8)) / 8 * 8,
		       &values[rnd() % ARRAY_SIZE(values)], 8);
}

/* Words that are events, of any kind and function. */
static void words(struct content *c)
{
	size_t at = c->n > 8 ? rnd() % (c->n / 8) * 8 : 0;

	for (uint64_t n = rnd() % 2000; n && at + 8 <= c->n; n--, at += 8) {
		uint64_t w = (rnd() & 3) | (rnd() % 16) << REC_FUNC_SHIFT | (rnd() % 4096) << 2;

		memcpy(c->bytes + at, &w, 8);
	}
}

static void digits(struct content *c)
{
	for (size_t i = 0; i < c->n; i++)
		if (c->bytes[i] >= '0' && c->bytes[i] <= '9' && rnd() % 30 == 0)
			c->bytes[i] = (unsigned char)('0' + rnd() % 10);
}

static void mutate(const char *name)
{
	static void (*const ways[])(struct content *) = {
		flip_bits, fill, cut, copy, numbers, words, digits,
	};
	char file[128];
	struct stat st;

	snprintf(file, sizeof(file), "%s/%s", path, name);
	int fd = open(file, O_RDWR);
	if (fd < 0 || fstat(fd, &st) < 0)
		return;
	struct content c = { malloc((size_t)st.st_size + 1), (size_t)st.st_size };
	CHECK_EQ(pread(fd, c.bytes, c.n, 0), c.n);
	ways[rnd() % ARRAY_SIZE(ways)](&c);
	CHECK_EQ(ftruncate(fd, (off_t)c.n), 0);
	CHECK_EQ(pwrite(fd, c.bytes, c.n, 0), c.n);
	free(c.bytes);
	close(fd);
}

static void spoil(bool compressed)
{
	char name[32];

	for (uint64_t i = 1 + rnd() % 3; i; i--) {
		snprintf(name, sizeof(name), "stream_%d%s", (int)(rnd() % 7),
			 compressed ? ".zst" : "");
		mutate(rnd() % 3 ? name : "metadata");
	}
}

int main(int argc, char **argv)
{
	struct world w;

	if (argc > 1)
		seed = strtoull(argv[1], NULL, 0) | 1;
	readers_begin("/tmp");
	world_switches = true;
	world_make(&w, EVENTS);
	for (int i = 0; i < ROUNDS && !failures; i++) {
		bool compressed = rnd() % 3 == 0;

		world_remove(path);
		world_write(&w, path, (struct record_options){ .compress = compressed });
		spoil(compressed);
		for (size_t k = 0; k < READERS; k++)
			readers_one(k);
	}
	world_remove(path);
	world_remove(base);
	free(w.events);
	/* Most are read, with a complaint; so the test is one. */
	CHECK(opened > ROUNDS && notes > ROUNDS && grouped > ROUNDS);
	printf("trace_hostile: %llu of %d views opened, %llu complaints\n",
	       (unsigned long long)opened, ROUNDS * (int)READERS, (unsigned long long)notes);
	return failures != 0;
}
