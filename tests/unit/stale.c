/* SPDX-License-Identifier: MIT */
/*
 * Of a thread that is about to make its first record where hardly any stack is left, the
 * way back to its stub is in a register: is nothing written while one is there?
 */
#include <errno.h>
#include <stdio.h>

#include "injector/patch/stale.h"
#include "injector/session/blobs.h"

enum { FIRST = 0x10000, FIRST_END = 0x10100, ARENA = 0x200000, ARENA_SIZE = 0x40000 };

static struct session session = {
	.slow_first = FIRST, .slow_first_end = FIRST_END, .narenas = 1,
	.arenas = { { ARENA, ARENA_SIZE, ARENA_SIZE, 0, 0 } },
};
static int failures;

static void expect(raddr_t pc, int want)
{
	struct infection inf = { .map = { .s = &session } };
	struct live live = { 0 };
	struct target none = { 0 };
	raddr_t at;
	int err = stale_check(&none, &inf, &live, &(struct rest){ .pc = pc }, &at);

	if (err != want) {
		fprintf(stderr, "at %#lx: %d, not %d\n", (unsigned long)pc, err, want);
		failures++;
	}
	fail_clear();
}

int main(void)
{
	raddr_t first = ARENA + hot_table.tight_first;
	raddr_t end = ARENA + hot_table.tight_first_end;

	expect(FIRST - 1, 0);
	expect(FIRST, -EAGAIN);
	expect(FIRST_END - 1, -EAGAIN);
	expect(FIRST_END, 0);
	if (first < end) {
		expect(first, -EAGAIN);
		expect(end - 1, -EAGAIN);
	}
	return failures != 0;
}
