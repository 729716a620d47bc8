/* SPDX-License-Identifier: MIT */
/*
 * Is a list of mappings that could not be read to its end an error, and no shorter one? And is
 * what failed still said if it was that there is no such thing, and the process is there?
 */
#include "injector/proc/procfs.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"
#include "injector/ptrace/preflight.h"
#include "tests/unit/check.h"

static int lines;	/* until there is no memory for the next; less than 0: never */

/* glibc's getline, which sets no mark in the file where it has no memory. It is called by
 * that name or by the other, as the compiler likes. */
ssize_t __getdelim(char **line, size_t *size, int end, FILE *f)
{
	if (lines-- == 0) {
		errno = ENOMEM;
		return -1;
	}
	return getdelim(line, size, end, f);
}

ssize_t getline(char **line, size_t *size, FILE *f)
{
	return __getdelim(line, size, '\n', f);
}

static int count(void *ctx, const struct mapping *m)
{
	++*(int *)ctx;
	return 0;
}

static int read_maps(int readable, int *seen)
{
	*seen = 0;
	lines = readable;
	return procfs_maps(getpid(), count, seen);
}

static int is_fine(pid_t pid)
{
	return pid == getpid() ? 0 : -EINVAL;
}

int main(void)
{
	int all, some;

	CHECK_EQ(read_maps(-1, &all), 0);
	CHECK(all > 5);
	for (int n = 0; n < 5; n++) {
		CHECK_EQ(read_maps(n, &some), -ENOMEM);
		CHECK_EQ(some, n);
		fail_clear();
	}
	CHECK_EQ(read_maps(-1, &some), 0);
	CHECK(some >= all);
	fail(ESRCH, "read a word");
	CHECK_EQ(preflight_again(is_fine, getpid(), -ESRCH), -ESRCH);
	CHECK(strstr(fail_text(), "read a word"));
	return failures != 0;
}
