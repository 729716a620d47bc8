/* SPDX-License-Identifier: MIT */
/*
 * images: a program that maps a file of code of its own again and again, as some make machine code
 * in memory that they can write in one place and execute in another.
 *
 *	map N	-> mapped N
 */
#include <sys/mman.h>

#include "tests/victims/victim.h"

PROBED uint64_t images_work(uint64_t x)
{
	return x * 31 + 7;
}

/* With a hole behind each, or they would be one. */
static void map_times(int fd, long n)
{
	for (long i = 0; i < n; i++) {
		if (mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_SHARED, fd, 0) == MAP_FAILED)
			victim_wrong("no mapping");
		mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	}
	victim_say("mapped %ld", n);
}

static int code;

static void command(const char *line)
{
	if (strncmp(line, "map ", 4) == 0)
		map_times(code, strtol(line + 4, NULL, 10));
	else
		victim_say("what is %s?", line);
}

int main(void)
{
	code = memfd_create("code", MFD_CLOEXEC);
	if (code < 0 || ftruncate(code, sysconf(_SC_PAGESIZE)))
		return 2;
	victim_say("ready");
	for (uint64_t x = 1; victim_poll(1, command); x++) {
		if (images_work(x) != x * 31 + 7)
			victim_wrong("images_work");
		victim_count();
	}
	return victim_errors != 0;
}
