/* SPDX-License-Identifier: MIT */
/*
 * dispatched [beside]: the main thread has its system calls given to a handler of its own
 * (PR_SET_SYSCALL_USER_DISPATCH), but for moments. Each but its own would be an error, and
 * without the handler, which the kernel takes away if the signal is blocked, it would die.
 * "beside": there is another thread, whose calls are the kernel's.
 */
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>

#include "tests/machine.h"
#include "tests/victims/victim.h"

enum {
	SET_DISPATCH = 59,	/* PR_SET_SYSCALL_USER_DISPATCH */
	ANSWER = 4711,
};

static volatile char selector;
static volatile uint64_t given;

static void handle(int sig, siginfo_t *info, void *context)
{
	selector = 0;		/* the return from here is a system call */
	given++;
	if (sig != SIGSYS || info->si_syscall != SYS_getpid)
		victim_wrong("it was given call %d", info->si_syscall);
	CONTEXT_RESULT((ucontext_t *)context) = ANSWER;
}

PROBED uint64_t dispatched_work(uint64_t x)
{
	for (volatile int i = 0; i < 100000; i++)
		x += 3;
	return x;
}

static void *beside(void *arg)
{
	for (;;)
		victim_sleep_us(10000);
	return arg;
}

/* Not by the C library, which has no business there. */
static long ask(void)
{
	long ret = SYS_getpid;

	__asm__ volatile("syscall" : "+a"(ret) : : "rcx", "r11", "memory");
	return ret;
}

int main(int argc, char **argv)
{
	struct sigaction sa = { .sa_sigaction = handle, .sa_flags = SA_SIGINFO };
	pthread_t t;

	(void)argv;
	if (argc > 1 && pthread_create(&t, NULL, beside, NULL))
		return 1;
	if (sigaction(SIGSYS, &sa, NULL) || prctl(SET_DISPATCH, 1, 0, 0, &selector))
		return 77;
	victim_say("ready");
	while (victim_poll(0, NULL)) {
		uint64_t before = given;

		selector = 1;
		for (uint64_t x = 0; x < 20; x++)
			if (dispatched_work(x) != x + 300000)
				victim_wrong("dispatched_work");
		long got = ask();

		selector = 0;
		if (got != ANSWER || given != before + 1)
			victim_wrong("it was given %llu calls",
				     (unsigned long long)(given - before));
		victim_count();
	}
	return 0;
}
