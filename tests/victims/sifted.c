/* SPDX-License-Identifier: MIT */
/*
 * sifted: which of millions of calls are told, if only those are wanted that take long?
 *
 *	run	-> run INNER OUTER ALL: calls of step_* and outer_* that took LONG or more, by what
 *		they have measured themselves, and by what their callers have; and how many were
 *		made in all. Four threads, millions of calls; some are left by longjmp
 *	hang	-> hang: from then on hang_here is open, within hang_outer
 *	free	-> free
 *	spin	-> spin: likewise, but spin_here is in a loop
 *	free_spin	-> free_spin
 *	nap	-> nap: a thread of its own calls nap_here again and again, which sleeps for 3 ms
 *	wake	-> wake
 *	paint	-> paint RED BLUE: threads of these ids, which are called so, call step_named again
 *		and again; the second time the first is called green
 *	wash	-> wash N: and so many calls were made by the thread that was green
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "tests/victims/victim.h"

enum { THREADS = 4, ROUNDS = 400, SHORT = 1000, LONG_NS = 5000000 };

static uint64_t inner, outer, all;
static int spinning, napping;
static int painting, tids[2];
static uint64_t named[2];
static pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER;
static __thread sigjmp_buf back;

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void add(uint64_t *to, uint64_t began)
{
	if (now() - began >= LONG_NS)
		__atomic_fetch_add(to, 1, __ATOMIC_RELAXED);
}

PROBED int step_short(int i)
{
	return i + 1;
}

PROBED long step_sleeps(long us)
{
	uint64_t began = now();

	victim_sleep_us(us);
	add(&inner, began);
	return -us;
}

PROBED void step_leaves(void)
{
	siglongjmp(back, 1);
}

PROBED void outer_round(int i)
{
	uint64_t began = now(), called;

	for (int j = 0; j < SHORT; j++)
		step_short(j);
	if (i % 40 == 0) {
		called = now();
		step_sleeps(6000 + i);
		add(&outer, called);
	}
	if (!sigsetjmp(back, 0))
		step_leaves();
	add(&inner, began);
}

static void *rounds(void *arg)
{
	for (int i = 0; i < ROUNDS; i++) {
		uint64_t began = now();

		outer_round(i);
		add(&outer, began);
		__atomic_fetch_add(&all, SHORT + 2 + (i % 40 == 0), __ATOMIC_RELAXED);
	}
	return NULL;
}

static void run(void)
{
	pthread_t t[THREADS];

	inner = outer = all = 0;
	for (int i = 0; i < THREADS; i++)
		pthread_create(&t[i], NULL, rounds, NULL);
	for (int i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
	victim_say("run %llu %llu %llu", (unsigned long long)inner, (unsigned long long)outer,
		   (unsigned long long)all);
}

PROBED void hang_here(int n)
{
	if (n) {
		hang_here(n - 1);
		__asm__ volatile("");	/* no jump in place of the call */
		return;
	}
	victim_say("hang");
	pthread_mutex_lock(&held);
	pthread_mutex_unlock(&held);
}

static void *hang(void *arg)
{
	hang_here(2);
	victim_say("free");
	return NULL;
}

PROBED void spin_here(void)
{
	victim_say("spin");
	while (__atomic_load_n(&spinning, __ATOMIC_RELAXED))
		;
}

static void *spin(void *arg)
{
	spin_here();
	victim_say("free_spin");
	return NULL;
}

PROBED void nap_here(void)
{
	victim_sleep_us(3000);
}

static void *nap(void *arg)
{
	nap_here();
	victim_say("nap");
	while (__atomic_load_n(&napping, __ATOMIC_RELAXED))
		nap_here();
	victim_say("wake");
	return NULL;
}

PROBED void step_named(int i)
{
	__atomic_fetch_add(&named[i], 1, __ATOMIC_RELAXED);
}

static void *paint(void *arg)
{
	int i = (int)(intptr_t)arg, seen = 0, now;

	while ((now = __atomic_load_n(&painting, __ATOMIC_RELAXED))) {
		if (now != seen)
			prctl(PR_SET_NAME, i ? "blue" : now == 1 ? "red" : "green");
		seen = now;
		__atomic_store_n(&tids[i], (int)gettid(), __ATOMIC_RELEASE);
		step_named(i);
		victim_sleep_us(1000);
	}
	return NULL;
}

static void painted(void)
{
	static pthread_t t[2];

	painting++;
	for (intptr_t i = 0; i < 2 && painting == 1; i++) {
		pthread_create(&t[i], NULL, paint, (void *)i);
		pthread_detach(t[i]);
		while (!__atomic_load_n(&tids[i], __ATOMIC_ACQUIRE))
			victim_sleep_us(1000);
	}
	victim_say("paint %d %d", tids[0], tids[1]);
}

static void on_command(const char *line)
{
	pthread_t t;

	if (strcmp(line, "run") == 0) {
		run();
	} else if (strcmp(line, "hang") == 0) {
		pthread_mutex_lock(&held);
		pthread_create(&t, NULL, hang, NULL);
		pthread_detach(t);
	} else if (strcmp(line, "free") == 0) {
		pthread_mutex_unlock(&held);
	} else if (strcmp(line, "spin") == 0) {
		spinning = 1;
		pthread_create(&t, NULL, spin, NULL);
		pthread_detach(t);
	} else if (strcmp(line, "nap") == 0) {
		napping = 1;
		pthread_create(&t, NULL, nap, NULL);
		pthread_detach(t);
	} else if (strcmp(line, "wake") == 0) {
		__atomic_store_n(&napping, 0, __ATOMIC_RELAXED);
	} else if (strcmp(line, "paint") == 0) {
		painted();
	} else if (strcmp(line, "wash") == 0) {
		painting = 0;
		victim_say("wash %llu", (unsigned long long)named[0]);
	} else if (strcmp(line, "free_spin") == 0) {
		__atomic_store_n(&spinning, 0, __ATOMIC_RELAXED);
	}
}

int main(void)
{
	victim_say("ready");
	while (victim_poll(20, on_command))
		victim_count();
	return victim_errors != 0;
}
