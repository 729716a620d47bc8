/* SPDX-License-Identifier: MIT */
/*
 * phases: threads that call functions without end, in phases that a test begins
 * and ends. How many calls does it have to find?
 *
 * A victim that includes this defines spin_round(), called all the time, and count_round(),
 * called in counted phases only, and adds to worker.counted what that calls. A test that
 * begins a phase after the probes are in, and ends it before they go, knows the number:
 *
 *	count	-> ok count	a phase at full speed (rings will overflow)
 *	pace	-> ok pace	a phase slow enough to lose nothing
 *	end	-> counted N	since count or pace
 *	spin, idle -> ok ...	between phases
 */
#ifndef TESTS_PHASES_H
#define TESTS_PHASES_H

#include <pthread.h>

#include "tests/victims/victim.h"

enum mode { MODE_IDLE, MODE_SPIN, MODE_COUNT, MODE_PACE, MODE_QUIT };

struct worker {
	pthread_t thread;
	enum mode seen;		/* the mode that it is in: main waits for it */
	uint64_t counted;
	uint64_t state;
} __attribute__((aligned(64)));

static struct worker *workers;
static int nworkers = 4;
static enum mode mode = MODE_SPIN, between = MODE_SPIN;

static void spin_round(struct worker *w);
static void count_round(struct worker *w);

static void *worker_run(void *arg)
{
	struct worker *w = arg;

	for (;;) {
		enum mode m = __atomic_load_n(&mode, __ATOMIC_ACQUIRE);

		__atomic_store_n(&w->seen, m, __ATOMIC_RELEASE);
		if (m == MODE_QUIT)
			return NULL;
		if (m == MODE_IDLE) {
			victim_sleep_us(1000);
			continue;
		}
		for (int i = 0; i < 16; i++)
			spin_round(w);
		if (m >= MODE_COUNT)
			count_round(w);
		if (m == MODE_PACE)
			victim_sleep_us(200);
		victim_count();
	}
}

/* Returns when no thread is in the old mode any more. */
static void set_mode(enum mode m)
{
	__atomic_store_n(&mode, m, __ATOMIC_RELEASE);
	for (int i = 0; i < nworkers; i++)
		while (__atomic_load_n(&workers[i].seen, __ATOMIC_ACQUIRE) != m)
			victim_sleep_us(500);
}

static void begin(enum mode m)
{
	for (int i = 0; i < nworkers; i++)
		workers[i].counted = 0;
	set_mode(m);
}

static void command(const char *word)
{
	uint64_t sum = 0;

	if (strcmp(word, "count") == 0) {
		begin(MODE_COUNT);
	} else if (strcmp(word, "pace") == 0) {
		begin(MODE_PACE);
	} else if (strcmp(word, "spin") == 0) {
		set_mode(between = MODE_SPIN);
	} else if (strcmp(word, "idle") == 0) {
		set_mode(between = MODE_IDLE);
	} else if (strcmp(word, "end") == 0) {
		set_mode(between);
		for (int i = 0; i < nworkers; i++)
			sum += workers[i].counted;
		victim_say("counted %llu", (unsigned long long)sum);
		return;
	} else {
		victim_say("what is %s?", word);
		return;
	}
	victim_say("ok %s", word);
}

/* main: [N [idle]] for N threads. */
static int phases_run(int argc, char **argv)
{
	if (argc > 1)
		nworkers = atoi(argv[1]);
	if (argc > 2 && strcmp(argv[2], "idle") == 0)
		mode = between = MODE_IDLE;
	if (nworkers < 1 || nworkers > 4096)
		return 2;
	workers = aligned_alloc(64, nworkers * sizeof(*workers));
	if (!workers)
		return 1;
	memset(workers, 0, nworkers * sizeof(*workers));
	for (int i = 0; i < nworkers; i++) {
		workers[i].state = i + 1;
		if (pthread_create(&workers[i].thread, NULL, worker_run,
				   &workers[i]))
			return 1;
	}
	set_mode(mode);
	victim_say("ready");
	while (victim_poll(1000, command))
		;
	set_mode(MODE_QUIT);
	for (int i = 0; i < nworkers; i++)
		pthread_join(workers[i].thread, NULL);
	return victim_errors != 0;
}

#endif
