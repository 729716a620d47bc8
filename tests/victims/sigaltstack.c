/* SPDX-License-Identifier: MIT */
/*
 * sigaltstack: signal handlers on a stack of their own, which call the probed
 * functions that they interrupt, and which at times leave by siglongjmp. Are
 * frames of two stacks kept apart, and is every PC that a signal frame saved
 * still good afterwards?
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/time.h>

#include "tests/victims/victim.h"

static __thread sigjmp_buf env;
static __thread volatile sig_atomic_t may_jump;
static __thread volatile uint64_t handled;

PROBED uint64_t alt_work(uint64_t x)
{
	uint64_t sum = 0;

	for (int i = 0; i < 4; i++)
		sum += x >> i;
	return sum;
}

PROBED uint64_t alt_outer(uint64_t x)
{
	return alt_work(x) + alt_work(x + 1);
}

static uint64_t plain(uint64_t x)
{
	return x + (x >> 1) + (x >> 2) + (x >> 3);
}

static void on_signal(int sig)
{
	uint64_t x = ++handled;

	if (alt_outer(x) != plain(x) + plain(x + 1))
		victim_wrong("in handler of signal %d", sig);
	if (may_jump && x % 7 == 0) {
		may_jump = 0;
		siglongjmp(env, 1);
	}
}

static void *alt_run(void *arg)
{
	stack_t ss = { .ss_size = 1 << 16 };

	ss.ss_sp = mmap(NULL, ss.ss_size, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (ss.ss_sp == MAP_FAILED || sigaltstack(&ss, NULL))
		victim_wrong("sigaltstack");
	for (volatile uint64_t x = 1;; x++) {
		if (sigsetjmp(env, 1) == 0) {
			may_jump = 1;
			if (alt_outer(x) != plain(x) + plain(x + 1))
				victim_wrong("alt_outer");
		}
		may_jump = 0;
		if (x % 64 == 0)
			victim_sleep_us(100);
		victim_count();
	}
	return arg;
}

int main(void)
{
	struct sigaction sa = { .sa_handler = on_signal,
				.sa_flags = SA_ONSTACK | SA_RESTART };
	pthread_t t[2];

	sigaction(SIGUSR1, &sa, NULL);
	for (int i = 0; i < 2; i++)
		if (pthread_create(&t[i], NULL, alt_run, NULL))
			return 1;
	victim_say("ready");
	while (victim_poll(1, NULL))
		for (int i = 0; i < 2; i++)
			pthread_kill(t[i], SIGUSR1);
	return victim_errors != 0;
}
