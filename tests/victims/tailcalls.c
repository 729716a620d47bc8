/* SPDX-License-Identifier: MIT */
/* tailcalls: functions that end in jumps to others: direct, conditional,
 * through a pointer, in a ring, by hand, and switches by jump table. Is each end an
 * exit, and does each value come out right? */
#include <pthread.h>

#include "tests/victims/victim.h"

typedef uint64_t (*tail_fn)(uint64_t x, int left);

PROBED uint64_t tail_a(uint64_t x, int left);
PROBED uint64_t tail_b(uint64_t x, int left);

PROBED uint64_t tail_c(uint64_t x, int left)
{
	if (left <= 0)
		return x;
	return tail_a(x + 1, left - 1);
}

/* Read at run time, so that the jump stays indirect. */
static tail_fn volatile next[3] = { tail_a, tail_b, tail_c };

PROBED uint64_t tail_b(uint64_t x, int left)
{
	return next[2](x + 10, left - 1);
}

PROBED uint64_t tail_a(uint64_t x, int left)
{
	if (left <= 0)
		return x;
	if (x & 1)
		return tail_b(x + 100, left - 1);
	return tail_c(x + 1000, left - 1);
}

PROBED uint64_t tail_table(uint64_t x, int op)
{
	switch (op) {
	case 0: return tail_c(x, 0);
	case 1: return x + 1;
	case 2: return x * 2;
	case 3: return x ^ 0xff;
	case 4: return tail_c(x - 4, 0);
	case 5: return x << 3;
	case 6: return x / 3;
	case 7: return tail_c(x, 0) + 1;
	}
	return 0;
}

/* tail_a(x, left) computed without a call. */
static uint64_t expect_ring(uint64_t x, int left)
{
	for (char at = 'a'; left > 0 || at == 'b'; left--) {
		if (at == 'a' && (x & 1)) {
			x += 100;
			at = 'b';
		} else if (at == 'a') {
			x += 1000;
			at = 'c';
		} else if (at == 'b') {
			x += 10;
			at = 'c';
		} else {
			x += 1;
			at = 'a';
		}
	}
	return x;
}

static uint64_t expect_table(uint64_t x, int op)
{
	const uint64_t by_op[] = { x, x + 1, x * 2, x ^ 0xff, x - 4, x << 3,
				   x / 3, x + 1 };

	return by_op[op];
}

/* By hand: through what lies below the stack pointer, and by a return to what was pushed. */
PROBED uint64_t tail_below(uint64_t x, int left);
PROBED uint64_t tail_pushed(uint64_t x, int left);
#ifdef __x86_64__
__asm__(".text\n"
	".type tail_below, @function\n"
	"tail_below:\n"
	"	lea	tail_c(%rip), %rax\n"
	"	mov	%rax, -8(%rsp)\n"
	"	jmp	*-8(%rsp)\n"
	".size tail_below, . - tail_below\n"
	".type tail_pushed, @function\n"
	"tail_pushed:\n"
	"	lea	tail_c(%rip), %rax\n"
	"	push	%rax\n"
	"	ret\n"
	".size tail_pushed, . - tail_pushed\n");
#else
PROBED uint64_t tail_below(uint64_t x, int left) { return tail_c(x, left); }
PROBED uint64_t tail_pushed(uint64_t x, int left) { return tail_c(x, left); }
#endif

static void *tail_run(void *arg)
{
	for (uint64_t x = 5;; x += 3) {
		if (tail_a(x, x % 11) != expect_ring(x, x % 11))
			victim_wrong("tail_a(%llu)", (unsigned long long)x);
		for (int op = 0; op < 8; op++)
			if (tail_table(x, op) != expect_table(x, op))
				victim_wrong("tail_table %d", op);
		if (tail_below(x, 0) != x || tail_pushed(x, 0) != x)
			victim_wrong("tail_below(%llu)", (unsigned long long)x);
		victim_count();
		if (x % 64 == 0)
			victim_sleep_us(100);
	}
	return arg;
}

int main(void)
{
	pthread_t t[2];

	for (int i = 0; i < 2; i++)
		if (pthread_create(&t[i], NULL, tail_run, NULL))
			return 1;
	victim_say("ready");
	while (victim_poll(1000, NULL))
		;
	return victim_errors != 0;
}
