/* SPDX-License-Identifier: MIT */
/*
 * drive: does a reader survive its corpus, and some thousand inputs near it?
 *
 * drive [FILE...]: those files; without one the corpus, each file of it as it is and
 * then damaged. The seed is fixed, so that every run is the same. The input at hand
 * is in the file `input`: it stays when the reader dies.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "tests/fuzz/read/read.h"

enum {
	RUNS = 600,		/* of damaged files, all together */
	EDITS = 6,
	FILE_MOST = 1 << 20,
};

static uint64_t state = 88172645463325252u;

static uint64_t rnd(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static void run(const uint8_t *p, size_t n)
{
	/* Exactly as long as it says, so that a sanitizer sees a read beyond it. */
	uint8_t *copy = malloc(n ? n : 1);
	int fd = open("input", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	if (!copy || fd < 0 || write(fd, p, n) != (ssize_t)n)
		die("input");
	close(fd);
	memcpy(copy, p, n);
	LLVMFuzzerTestOneInput(copy, n);
	free(copy);
}

static void overwrite(uint8_t *p, size_t n)
{
	static const uint64_t trouble[] = {
		0, 1, 8, 0x7f, 0xff, 0x7fff, 0xffff, INT32_MAX, UINT32_MAX, 1ull << 40,
		INT64_MAX, UINT64_MAX - 7, UINT64_MAX,
	};
	size_t width = 1ul << rnd() % 4, at = rnd() % n;

	memcpy(p + at, &trouble[rnd() % ARRAY_SIZE(trouble)], MIN(width, n - at));
}

static size_t damage(uint8_t *p, size_t n)
{
	for (uint64_t i = 1 + rnd() % EDITS; i && n; i--) {
		size_t from = rnd() % n, to = rnd() % n, most = n - MAX(from, to);

		switch (rnd() % 8) {
		case 0: n = rnd() % 4 ? n : from; break;
		case 1: memmove(p + to, p + from, rnd() % (most + 1)); break;
		case 2: case 3: p[to] = (uint8_t)rnd(); break;
		case 4: p[to] ^= (uint8_t)(1u << rnd() % 8); break;
		default: overwrite(p, n); break;
		}
	}
	return n;
}

static void drive(const char *path, size_t damaged)
{
	static uint8_t whole[FILE_MOST], bytes[FILE_MOST];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, whole, sizeof(whole));

	if (n < 0)
		die(path);
	close(fd);
	run(whole, (size_t)n);
	while (damaged--) {
		memcpy(bytes, whole, (size_t)n);
		run(bytes, damage(bytes, (size_t)n));
	}
}

static int visible(const struct dirent *e)
{
	return e->d_name[0] != '.';
}

static void drive_corpus(const char *name)
{
	const char *root = getenv("ROOT");
	struct dirent **files;
	char dir[4096], path[sizeof(dir) + 300];

	snprintf(dir, sizeof(dir), "%s/tests/fuzz/read/corpus/%s", root ? root : ".", name);
	int n = scandir(dir, &files, visible, alphasort);

	if (n <= 0)
		die(dir);
	for (int i = 0; i < n; i++) {
		snprintf(path, sizeof(path), "%s/%s", dir, files[i]->d_name);
		drive(path, RUNS / (size_t)n);
		free(files[i]);
	}
	free(files);
	printf("%s: %d files, %zu inputs\n", name, n, (RUNS / (size_t)n + 1) * (size_t)n);
}

int main(int argc, char **argv)
{
	const char *slash = strrchr(argv[0], '/');

	for (int i = 1; i < argc; i++)
		drive(argv[i], 0);
	if (argc == 1)
		drive_corpus(slash ? slash + 1 : argv[0]);
	unlink("input");
	return 0;
}
