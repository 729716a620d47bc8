/* SPDX-License-Identifier: MIT */
/*
 * driver: runs made-up programs (shapes.py), and tells what came of it.
 *
 *	driver ROUNDS	calls each function with each number, so many times
 *	driver		until it is sent a line on standard input; `ready` before
 *
 * Every round has to be as the first. With ROUNDS=1, each function's sum is told.
 * A fault at a place of the tables below is repaired as they say, as kernels and
 * interpreters do.
 */
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

struct called {
	uint64_t (*f)(uint64_t number);
	uint64_t most;
	const char *name;
};

extern const struct called arrive_calls[] __attribute__((visibility("hidden")));

/* Where a fault may be, and where it goes on then: addresses; distances from each of
 * the words; distances from arrive_base. */
#define HIDDEN __attribute__((weak, visibility("hidden")))
extern const uint64_t __start_fix_word[] HIDDEN, __stop_fix_word[] HIDDEN;
extern const int32_t __start_fix_place[] HIDDEN, __stop_fix_place[] HIDDEN;
extern const int32_t __start_fix_base[] HIDDEN, __stop_fix_base[] HIDDEN;
extern const char arrive_base[] HIDDEN;

static uint64_t repair(uint64_t pc)
{
	for (const uint64_t *w = __start_fix_word; w < __stop_fix_word; w += 2)
		if (w[0] == pc)
			return w[1];
	for (const int32_t *d = __start_fix_place; d < __stop_fix_place; d += 2)
		if ((uint64_t)(uintptr_t)d + (uint64_t)(int64_t)d[0] == pc)
			return (uint64_t)(uintptr_t)(d + 1) + (uint64_t)(int64_t)d[1];
	for (const int32_t *d = __start_fix_base; d < __stop_fix_base; d += 2)
		if ((uint64_t)(uintptr_t)arrive_base + (uint64_t)(int64_t)d[0] == pc)
			return (uint64_t)(uintptr_t)arrive_base + (uint64_t)(int64_t)d[1];
	return 0;
}

static void on_fault(int sig, siginfo_t *info, void *context)
{
	ucontext_t *c = context;
	uint64_t to = repair((uint64_t)c->uc_mcontext.gregs[REG_RIP]);

	(void)info;
	if (!to) {
		signal(sig, SIG_DFL);
		return;
	}
	c->uc_mcontext.gregs[REG_RIP] = (greg_t)to;
}

/* Code that is told of no compiler may change any register that is the caller's. */
static uint64_t call(const struct called *c, uint64_t number)
{
	uint64_t ret;

	__asm__ volatile ("sub $256, %%rsp\n\tcall *%[f]\n\tadd $256, %%rsp"
			  : "=a" (ret), "+D" (number)
			  : [f] "r" (c->f)
			  : "rcx", "rdx", "rsi", "r8", "r9", "r10", "r11", "xmm0", "cc", "memory");
	return (uint32_t)ret;
}

static uint64_t round_sum(int told)
{
	uint64_t sum = 0;

	for (const struct called *c = arrive_calls; c->f; c++) {
		uint64_t one = 0;

		for (uint64_t i = 1; i <= c->most; i++)
			one = one * 31 + call(c, i);
		if (told)
			printf("%s %lx\n", c->name, (unsigned long)one);
		sum = sum * 131 + one;
	}
	return sum;
}

static int asked_to_end(void)
{
	struct pollfd p = { .fd = 0, .events = POLLIN };

	return poll(&p, 1, 0) != 0;
}

int arrive_main(int argc, char **argv);
int arrive_main(int argc, char **argv)
{
	long rounds = argc > 1 ? atol(argv[1]) : 0, done = 1;
	struct sigaction a = { .sa_sigaction = on_fault, .sa_flags = SA_SIGINFO };
	int wrong = 0;

	sigaction(SIGSEGV, &a, NULL);
	alarm(60);	/* control that is led astray may never come back */
	if (argc <= 1) {
		puts("ready");
		fflush(stdout);
	}
	uint64_t first = round_sum(rounds == 1);

	for (; rounds ? done < rounds : !asked_to_end(); done++)
		wrong |= round_sum(0) != first;
	printf("%s %lx\n", wrong ? "WRONG" : "sum", (unsigned long)first);
	return wrong;
}

#ifndef NO_MAIN
int main(int argc, char **argv)
{
	return arrive_main(argc, argv);
}
#endif
