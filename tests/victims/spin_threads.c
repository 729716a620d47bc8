/* SPDX-License-Identifier: MIT */
/*
 * spin_threads [N [idle]]: N threads that do nothing but call the functions
 * that a test probes. Is every call counted, and does none go wrong?
 *
 * spin_*  are called all the time, unless idle.
 * count_* are called in counted phases only, so a test that begins one after
 *         the probes are in, and ends it before they go, knows the number:
 *
 *	count	-> ok count	a phase at full speed (rings will overflow)
 *	pace	-> ok pace	a phase slow enough to lose nothing
 *	end	-> counted N	calls of count_* since count or pace
 *	spin, idle -> ok ...	between phases
 */
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

/* A leaf: straight line. */
PROBED uint64_t spin_leaf(uint64_t x)
{
	return x * 6364136223846793005u + 1442695040888963407u;
}

/* Early returns: several exits. */
PROBED uint64_t spin_branch(uint64_t x)
{
	if (x & 1)
		return 3 * x + 1;
	if (x & 2)
		return spin_leaf(x);
	return x / 2;
}

/* A frame, saved registers, a loop. */
PROBED uint64_t spin_loop(uint64_t x)
{
	uint64_t sum = 0;

	for (int i = 0; i < 3; i++)
		sum += spin_branch(x + i);
	return sum;
}

/* A jump table, and a tail call. */
PROBED uint64_t spin_switch(uint64_t x)
{
	switch (x % 8) {
	case 0: return x + 11;
	case 1: return x ^ 0x5555;
	case 2: return spin_leaf(x + 2);
	case 3: return x >> 3;
	case 4: return spin_branch(x * 5);
	case 5: return ~x;
	case 6: return x * x;
	default: return x - 9;
	}
}

PROBED uint64_t count_leaf(uint64_t x)
{
	return x ^ x >> 29;
}

PROBED uint64_t count_frame(uint64_t x)
{
	return count_leaf(x + 1) + count_leaf(x + 2);
}

PROBED uint64_t count_tail(uint64_t x)
{
	return count_leaf(x * 3);
}

/* The same numbers by code that nobody probes. */
static inline uint64_t plain_leaf(uint64_t x)
{
	return x * 6364136223846793005u + 1442695040888963407u;
}

static inline uint64_t plain_branch(uint64_t x)
{
	return x & 1 ? 3 * x + 1 : x & 2 ? plain_leaf(x) : x / 2;
}

static uint64_t plain_switch(uint64_t x)
{
	const uint64_t by_case[] = { x + 11, x ^ 0x5555, plain_leaf(x + 2),
		x >> 3, plain_branch(x * 5), ~x, x * x, x - 9 };

	return by_case[x % 8];
}

static void spin_round(struct worker *w)
{
	uint64_t x = w->state = plain_leaf(w->state);
	uint64_t loop = plain_branch(x) + plain_branch(x + 1) +
		plain_branch(x + 2);

	if (spin_loop(x) != loop)
		victim_wrong("spin_loop");
	if (spin_switch(x >> 7) != plain_switch(x >> 7))
		victim_wrong("spin_switch");
}

#define plain_count(x) ((x) ^ (x) >> 29)

static void count_round(struct worker *w)
{
	uint64_t x = w->state;

	if (count_frame(x) != plain_count(x + 1) + plain_count(x + 2))
		victim_wrong("count_frame");
	if (count_tail(x) != plain_count(x * 3))
		victim_wrong("count_tail");
	w->counted += 5;
}

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

int main(int argc, char **argv)
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
