/* SPDX-License-Identifier: MIT */
/*
 * interrupted: a profiler in the process: a timer's handler that walks the stack
 * which it has interrupted, by unwind tables (backtrace) and by frame pointers.
 * Do both come to an end, wherever they begin, and see no frame that is not there?
 *
 * A walk has to name the functions of this program in the order in which they call
 * each other, and never leave the stack.
 *
 * Command "walks" -> walks N whole N short N: samples so far; those that came to
 * the thread's first function; those that ended before.
 */
#include <execinfo.h>
#include <pthread.h>
#include <signal.h>
#include <sys/time.h>

#include "tests/machine.h"
#include "tests/victims/victim.h"

enum { DEPTH = 8, MOST = 64 };

static uint64_t walks, whole;
static uintptr_t stack_lo, stack_hi;	/* of the one thread that calls */

/* Each with so much room for itself, and away from the rest. */
enum { ROOM = 256 };
#define APART __attribute__((section(".text.apart"), aligned(ROOM)))

APART PROBED uint64_t in_leaf(uint64_t x)
{
	asm volatile("" : "+r"(x) : : "memory");
	return x + 1;
}

APART PROBED uint64_t in_chain(uint64_t x, int left)
{
	if (left)
		x = in_chain(x, left - 1);
	x = in_leaf(x);
	asm volatile("" : "+r"(x) : : "memory");
	return x;
}

APART PROBED void *in_bottom(void *arg)
{
	size_t size;
	void *lo;
	pthread_attr_t a;
	uint64_t x = 0;

	if (pthread_getattr_np(pthread_self(), &a) ||
	    pthread_attr_getstack(&a, &lo, &size))
		return NULL;
	pthread_attr_destroy(&a);
	stack_lo = (uintptr_t)lo;
	__atomic_store_n(&stack_hi, stack_lo + size, __ATOMIC_RELEASE);
	for (;;) {
		uint64_t y = in_chain(x, DEPTH);

		if (y != x + DEPTH + 1)
			victim_wrong("in_chain");
		x = y;
		victim_count();
	}
	return arg;
}

APART PROBED void behind(void)
{
}

static bool is_in(void *pc, void *function)
{
	return (uintptr_t)pc - (uintptr_t)function < ROOM;
}

static void by_tables(void)
{
	void *pc[MOST];
	int n = backtrace(pc, MOST), chains = 0;
	bool bottom = false;

	if (n >= MOST)
		victim_wrong("backtrace does not end");
	for (int i = 0; i < n; i++) {
		chains += is_in(pc[i], (void *)in_chain);
		if (is_in(pc[i], (void *)in_bottom)) {
			if (bottom)
				victim_wrong("in_bottom twice");
			bottom = true;
		}
	}
	if (chains > DEPTH + 1)
		victim_wrong("%d of in_chain", chains);
	walks++;
	whole += bottom;
}

/* As profilers do it: a chain of frames that goes up, within the stack. */
static void by_frame_pointers(const ucontext_t *u)
{
	uintptr_t fp = (uintptr_t)CONTEXT_FRAME(u);
	int n = 0;

	while (fp >= stack_lo && fp + 16 <= stack_hi && fp % 8 == 0) {
		uintptr_t next = *(uintptr_t *)fp;

		if (++n > MOST)
			victim_wrong("the frame pointers do not end");
		if (next <= fp || n > MOST)
			break;
		fp = next;
	}
}

static void sampled(int sig, siginfo_t *info, void *context)
{
	int saved = errno;
	uintptr_t here = (uintptr_t)&saved;

	(void)sig;
	(void)info;
	if (here >= stack_lo && here < __atomic_load_n(&stack_hi, __ATOMIC_ACQUIRE)) {
		by_tables();
		by_frame_pointers(context);
	}
	errno = saved;
}

static void command(const char *line)
{
	if (strcmp(line, "walks") == 0)
		victim_say("walks %llu whole %llu short %llu", (unsigned long long)walks,
			   (unsigned long long)whole,
			   (unsigned long long)(walks - whole));
	else
		victim_say("what is %s?", line);
}

int main(void)
{
	struct itimerval often = { { 0, 1000 }, { 0, 1000 } };
	struct sigaction a = { .sa_sigaction = sampled, .sa_flags = SA_RESTART | SA_SIGINFO };
	void *warm[4];
	pthread_t t;

	/* It loads libgcc_s when it is called first, which no handler may. */
	backtrace(warm, 4);
	sigaction(SIGPROF, &a, NULL);
	if (pthread_create(&t, NULL, in_bottom, NULL))
		return 1;
	setitimer(ITIMER_PROF, &often, NULL);
	victim_say("ready");
	while (victim_poll(1000, command))
		;
	return victim_errors != 0;
}
