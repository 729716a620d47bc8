// SPDX-License-Identifier: MIT
/*
 * unwinders: threads that are unwound from wherever they stand: are the destructors of
 * all callers run, and does an exception come to its handler?
 *
 * Command "rounds N" -> rounds N undestroyed N uncaught N: so many times two threads
 * are cancelled asynchronously, and one is thrown out of by a signal's handler, each
 * in the middle of calls; then so many destructors were missed, and exceptions.
 */
#include <pthread.h>
#include <signal.h>

#include "tests/victims/victim.h"

/* What callers have to tell of: a frame that is aligned anew, and one whose size is
 * known when it runs only. */
#define OPAQUE(x) asm volatile("" : "+r"(x) : : "memory")

extern "C" {

PROBED int un_leaf(int a)
{
	OPAQUE(a);
	return a * 3 + 1;
}

PROBED int un_tail(int a)
{
	OPAQUE(a);
	return a & 1 ? un_leaf(a + 1) : a;
}

PROBED int un_aligned(int a)
{
	alignas(64) volatile int v[16];

	v[a & 15] = un_tail(a);
	OPAQUE(a);
	return v[a & 15];
}

PROBED int un_sized(int a)
{
	volatile char *p = (volatile char *)__builtin_alloca(16 + (a & 31));

	p[a & 15] = (char)un_aligned(a);
	return p[a & 15];
}

PROBED int un_chain(int a, int depth)
{
	int (*volatile by)(int) = un_leaf;
	int sum = depth ? un_chain(a, depth - 1) : un_sized(a);

	OPAQUE(sum);
	for (int i = 0; i < 2; i++)
		sum += by(i);
	return sum;
}

}

/* How far a thread is. */
struct progress {
	bool cancelled;		/* asynchronously, that is */
	int begun;		/* it calls */
};

static int destroyed, caught;

struct owned {
	~owned() { __atomic_fetch_add(&destroyed, 1, __ATOMIC_RELAXED); }
};

static __attribute__((noinline)) void call(progress *p)
{
	volatile int sum = 0;

	if (p->cancelled)
		pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
	__atomic_store_n(&p->begun, 1, __ATOMIC_RELEASE);
	for (;;)
		sum = sum + un_chain(sum, 5);
}

static void *be_cancelled(void *p)
{
	owned outer;
	[](progress *mine) __attribute__((noinline)) {
		owned inner;
		call(mine);
		asm volatile("");
	}((progress *)p);
	return NULL;
}

static void thrown(int sig)
{
	throw sig;
}

static void *be_thrown(void *p)
{
	try {
		owned one;
		call((progress *)p);
	} catch (int sig) {
		__atomic_fetch_add(&caught, sig == SIGUSR1, __ATOMIC_RELAXED);
	}
	return NULL;
}

/* Some time later, at most that of a few hundred calls. */
static void wait_for(progress *p, unsigned int spins)
{
	while (!__atomic_load_n(&p->begun, __ATOMIC_ACQUIRE))
		victim_sleep_us(20);
	for (volatile unsigned int i = 0; i < spins; i = i + 1)
		;
}

static void round_trip(unsigned int n)
{
	progress p[3] = { { true, 0 }, { true, 0 }, { false, 0 } };
	pthread_t t[3];

	for (int i = 0; i < 3; i++)
		if (pthread_create(&t[i], NULL, i < 2 ? be_cancelled : be_thrown, &p[i]))
			_exit(3);
	for (int i = 0; i < 3; i++) {
		wait_for(&p[i], n * 7919 % 4001);
		if (i < 2)
			pthread_cancel(t[i]);
		else
			pthread_kill(t[i], SIGUSR1);
	}
	for (int i = 0; i < 3; i++)
		pthread_join(t[i], NULL);
	victim_count();
}

static void command(const char *line)
{
	unsigned int n;

	if (sscanf(line, "rounds %u", &n) != 1) {
		victim_say("what is %s?", line);
		return;
	}
	destroyed = caught = 0;
	for (unsigned int i = 0; i < n; i++)
		round_trip(i);
	victim_say("rounds %u undestroyed %d uncaught %d", n, (int)(n * 5) - destroyed,
		   (int)n - caught);
}

int main(void)
{
	struct sigaction a = {};

	/* An unwinder of its own has tables that it fills when it throws, but not
	 * when it is led on by another one, as by that of the C library. */
	try {
		thrown(0);
	} catch (int) {
	}
	a.sa_handler = thrown;
	sigaction(SIGUSR1, &a, NULL);
	victim_say("ready");
	do
		round_trip(victim_progress);
	while (victim_poll(1, command));
	return victim_errors != 0;
}
