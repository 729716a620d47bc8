/* SPDX-License-Identifier: MIT */
/*
 * faulter: lives by its faults, as runtimes do: breakpoints of its own, reads of
 * address 0, undefined instructions, all handled, in functions that are probed
 * and that probed functions call. Signals are also sent to it by other threads.
 * Is each delivered once, to the right thread, and none that is not its own?
 *
 * faulter [hot]: with pauses, or one fault after the other.
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <ucontext.h>

#include "tests/machine.h"
#include "tests/victims/victim.h"

enum { THREADS = 3 };

static __thread sigjmp_buf back;
static __thread volatile uint64_t traps, faults, sent;

/* What comes before the instruction leaves room for a probe. */
PROBED uint64_t fault_trap(uint64_t x)
{
	uint64_t y = x * 11 + 2;

	__asm__ volatile(MACHINE_TRAP : "+r"(y));
	return y;
}

/* The handler goes on behind the instruction. */
PROBED uint64_t fault_undefined(uint64_t x)
{
	uint64_t y = x * 7 + 1;

	__asm__ volatile(MACHINE_UNDEFINED : "+r"(y));
	return y;
}

PROBED uint64_t fault_read(volatile uint64_t *nowhere)
{
	return *nowhere;
}

/* Left by siglongjmp. */
PROBED uint64_t fault_jump(uint64_t x)
{
	if (sigsetjmp(back, 1) == 0)
		return fault_read(NULL);
	return x * 5 + 9;
}

PROBED uint64_t fault_handled(uint64_t count)
{
	return count + 1;
}

static void on_fault(int sig, siginfo_t *info, void *context)
{
	ucontext_t *uc = context;

	if (info->si_code == SI_TKILL) {
		sent = fault_handled(sent);
		return;
	}
	if (sig == SIGTRAP)
		traps = fault_handled(traps);
	else
		faults = fault_handled(faults);
	if (sig == SIGTRAP)
		CONTEXT_PC(uc) += MACHINE_BEHIND_TRAP;
	else if (sig == SIGILL)
		CONTEXT_PC(uc) += MACHINE_BEHIND_UNDEFINED;
	else if (sig == SIGSEGV)
		siglongjmp(back, 1);
}

static bool hot;

static void *work(void *arg)
{
	for (uint64_t x = 1;; x++) {
		uint64_t before = sent;

		if (fault_trap(x) != x * 11 + 2 || fault_undefined(x) != x * 7 + 1 ||
		    fault_jump(x) != x * 5 + 9)
			victim_wrong("a value");
		pthread_kill(pthread_self(), x % 2 ? SIGTRAP : SIGSEGV);
		if (traps != x || faults != 2 * x || sent != before + 1)
			victim_wrong("%d traps, %d faults, %d sent in round %d", (int)traps,
				     (int)faults, (int)(sent - before), (int)x);
		victim_count();
		if (!hot)
			victim_sleep_us(200);
	}
	return arg;
}

int main(int argc, char **argv)
{
	static const int signals[] = { SIGTRAP, SIGSEGV, SIGILL };
	struct sigaction act = { .sa_sigaction = on_fault, .sa_flags = SA_SIGINFO };
	pthread_t t;

	hot = argc > 1 && strcmp(argv[1], "hot") == 0;
	for (int i = 0; i < 3; i++)
		if (sigaction(signals[i], &act, NULL))
			return 1;
	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&t, NULL, work, NULL))
			return 1;
	victim_say("ready");
	while (victim_poll(1000, NULL))
		;
	return victim_errors != 0;
}
