/* SPDX-License-Identifier: MIT */
/*
 * archive: the input is what was done to the files of a recording: bytes written over,
 * copied, cut off. The recording itself is made anew, in the layout of the day.
 */
#include <unistd.h>

#include "tests/fuzz/read/read.h"
#include "tests/unit/trace_readers.h"

enum { EVENTS = 400, FILES = 24, EDITS = 32 };

struct content {
	char *name;
	uint8_t *bytes;
	size_t n;
};

/* A recording as it was written. */
struct original {
	struct content files[FILES];
	size_t n;
};

static struct original plain, compressed;

static void keep(struct original *o, int dir, const char *name)
{
	struct content *c = &o->files[o->n++];
	int fd = openat(dir, name, O_RDONLY | O_CLOEXEC);
	struct stat st;

	CHECK(fd >= 0 && fstat(fd, &st) == 0);
	c->name = strdup(name);
	c->n = (size_t)st.st_size;
	c->bytes = malloc(c->n + 1);
	CHECK_EQ(read(fd, c->bytes, c->n), c->n);
	close(fd);
}

static int visible(const struct dirent *e)
{
	return e->d_name[0] != '.';
}

static void make(struct original *o, bool compress)
{
	struct dirent **entries;
	struct world w;

	world_make(&w, EVENTS);
	world_write(&w, path, (struct record_options){ .compress = compress });
	auto_close int dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int n = scandir(path, &entries, visible, alphasort);

	CHECK(dir >= 0 && n > 2 && n <= FILES);
	for (int i = 0; i < n && !failures; i++) {
		keep(o, dir, entries[i]->d_name);
		free(entries[i]);
	}
	free(entries);
	free(w.events);
}

static void tidy(void)
{
	world_remove(path);
	world_remove(base);
}

static void begin(void)
{
	if (plain.n)
		return;
	readers_begin(".");
	atexit(tidy);
	make(&plain, false);
	world_remove(path);
	make(&compressed, true);
	if (failures)
		abort();
}

/* One thing done to one file. */
static void edit(struct content *c, struct input *in)
{
	uint8_t what = (uint8_t)input_number(in, 1);
	size_t at = c->n ? input_number(in, 3) % c->n : 0;
	size_t left = c->n - at, from, n;

	switch (what % 4) {
	case 0:
		n = MIN(MIN(in->left, 1u + what / 4), left);
		memcpy(c->bytes + at, in->at, n);
		in->at += n;
		in->left -= n;
		break;
	case 1:
		c->n = at;
		break;
	case 2:
		from = c->n ? input_number(in, 3) % c->n : 0;
		n = input_number(in, 2);
		memmove(c->bytes + at, c->bytes + from, MIN(n, MIN(left, c->n - from)));
		break;
	case 3:
		n = input_number(in, 2);
		memset(c->bytes + at, what >> 2, MIN(n, left));
		break;
	}
}

static void write_file(int dir, const struct content *c)
{
	int fd = openat(dir, c->name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	CHECK(fd >= 0);
	CHECK_EQ(write(fd, c->bytes, c->n), c->n);
	close(fd);
}

static void write_all(const struct original *o, struct input *in)
{
	struct content files[FILES];

	for (size_t i = 0; i < o->n; i++) {
		files[i] = o->files[i];
		files[i].bytes = malloc(files[i].n + 1);
		memcpy(files[i].bytes, o->files[i].bytes, files[i].n);
	}
	for (int i = 0; in->left && i < EDITS; i++)
		edit(&files[input_number(in, 1) % o->n], in);
	world_remove(path);
	CHECK_EQ(mkdir(path, 0755), 0);
	auto_close int dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	CHECK(dir >= 0);
	for (size_t i = 0; i < o->n; i++) {
		write_file(dir, &files[i]);
		free(files[i].bytes);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = { data, size };

	begin();
	uint8_t how = (uint8_t)input_number(&in, 1);

	write_all(how & 1 ? &compressed : &plain, &in);
	seed = how * 0x9e3779b97f4a7c15ull | 1;
	readers_one(how >> 1);
	if (failures)
		abort();
	return 0;
}
