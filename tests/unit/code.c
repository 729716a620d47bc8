/* SPDX-License-Identifier: MIT */
/*
 * Code is read from its file, and from memory only where the process has a copy of its
 * own; in either case it is what stands there.
 */
#include "injector/ptrace/code.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "injector/proc/kernel.h"
#include "tests/unit/check.h"

enum { PAGES = 600, COPY = 3, TAIL = 100 };	/* more than is read at once */

static size_t page;
static uint8_t *file, *got;	/* of so many pages of the kernel */

/* Private, as the loader maps code; the last page lies partly behind the file's end. */
static uint8_t *map_file(struct mapping *m)
{
	int fd = memfd_create("code", MFD_CLOEXEC);
	size_t size = PAGES * page - page + TAIL;
	uint8_t *at;

	for (size_t i = 0; i < size; i++)
		file[i] = (uint8_t)(i * 7 + i / page);
	CHECK(fd >= 0 && write(fd, file, size) == (ssize_t)size);
	/* It begins with another page than the file. */
	at = mmap(NULL, PAGES * page - page, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, page);
	CHECK(at != MAP_FAILED);
	close(fd);
	*m = (struct mapping){ .range = { (raddr_t)at, (raddr_t)at + PAGES * page - page },
			       .offset = page, .ino = 1, .read = true };
	return at;
}

static bool reads(const struct code *c, const uint8_t *at, size_t n)
{
	memset(got, 0xee, PAGES * page);
	bool is = code_read(c, (raddr_t)at, got, n) == 0 && memcmp(got, at, n) == 0;

	fail_clear();
	return is;
}

int main(void)
{
	struct target t = { .pid = getpid(), .mem = -1 };
	struct mapping m;
	struct code c;

	page = kernel_page();
	file = calloc(2 * PAGES, page);
	MUST(file);
	got = file + PAGES * page;
	uint8_t *at = map_file(&m);

	code_open(&t, &m, &c);
	if (c.file < 0) {
		printf("skipped: the kernel does not tell what is mapped (CAP_SYS_ADMIN)\n");
		return 77;
	}
	/* What was never written to needs no memory; not even once it was looked at. */
	CHECK(reads(&c, at + 5, 2 * page));
	CHECK(reads(&c, at, (PAGES - 2) * page));
	at[COPY * page + 8] ^= 0xff;
	CHECK(reads(&c, at, COPY * page));
	CHECK(!reads(&c, at + COPY * page + 9, 1));
	CHECK(!reads(&c, at, (PAGES - 1) * page));
	t.mem = open("/proc/self/mem", O_RDWR | O_CLOEXEC);
	CHECK(t.mem >= 0);
	/* Of what was written, and behind the end, the memory tells. */
	CHECK(reads(&c, at, (PAGES - 1) * page));
	CHECK(reads(&c, at + COPY * page - 3, 12));
	CHECK(reads(&c, at + COPY * page + 8, page));
	CHECK(reads(&c, at + (PAGES - 2) * page - 1, page + 1));
	code_close(&c);
	/* And of all, where the file is not to be had. */
	CHECK(reads(&c, at, (PAGES - 1) * page));
	return failures != 0;
}
