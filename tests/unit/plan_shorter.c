/* SPDX-License-Identifier: MIT */
/*
 * What becomes of a plan if the file is cut off while it is made?
 *
 * Data is read when it is asked for. A jump table that cannot be read any more must
 * not look like one that is short, for then a window could hold its targets. Text is
 * there from the beginning.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "plan/plan.h"
#include "tests/unit/check.h"

/* A copy of the C library in memory, or -1. */
static int copy_libc(void)
{
	int copy = memfd_create("libc", 0), from = -1;
	char block[1 << 16];
	Dl_info info;
	ssize_t n = 0;

	if (dladdr((void *)memchr, &info))
		from = open(info.dli_fname, O_RDONLY);
	while (from >= 0 && copy >= 0 && (n = read(from, block, sizeof(block))) > 0)
		if (write(copy, block, (size_t)n) != n)
			break;
	CHECK_EQ(n, 0);
	if (from >= 0)
		close(from);
	return from < 0 ? -1 : copy;
}

/* What the plan of all functions comes to, and in *kept whether their bytes are there. */
static int plan_all(const struct symbols *s, bool *kept)
{
	const struct func **all = calloc(s->nfuncs + 1, sizeof(*all));
	const struct plan *plan = NULL;
	size_t n = 0, left;

	*kept = all != NULL;
	for (; *kept && n < s->nfuncs; n++) {
		all[n] = &s->funcs[n];
		const uint8_t *p = symbols_text(s, all[n]->range.start, &left);

		*kept = p && p == s->texts[0].bytes + (all[n]->range.start -
						       s->texts[0].range.start);
	}
	int err = plan_make(arch_by_machine(s->machine), s, all, n, NULL, &plan);

	plan_free(err ? NULL : plan);
	free(all);
	return err;
}

int main(void)
{
	struct symbols *s = NULL;
	int fd = copy_libc();
	bool kept;

	if (fd < 0 || symbols_open(fd, "libc", &s)) {
		printf("no copy of the C library: %s\n", fail_text());
		return 1;
	}
	CHECK_EQ(plan_all(s, &kept), 0);
	CHECK_EQ(symbols_error(s), 0);
	CHECK(kept);
	symbols_close(s);

	CHECK_EQ(symbols_open(fd, "libc", &s), 0);
	CHECK_EQ(ftruncate(fd, (off_t)(s->texts[0].offset + range_size(s->texts[0].range))), 0);
	CHECK(plan_all(s, &kept) < 0);
	CHECK(kept);
	CHECK(strstr(fail_text(), "read libc"));
	symbols_close(s);
	close(fd);
	return failures != 0;
}
