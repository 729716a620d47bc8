/* SPDX-License-Identifier: MIT */
/*
 * waiting: threads that wait in read or for a lock, three functions deep, or thirty,
 * until they are told to go on; then they return from all of them, and wait again.
 * Does what was put into them leave anything behind that a return needs?
 *
 *	go		-> gone ROUND	each has returned from all and waits again
 *	forbid LO HI	-> forbidden	nobody may read or run these bytes any more
 */
#include <pthread.h>
#include <sys/mman.h>

#include "tests/victims/victim.h"

enum { THREADS = 8, LOCKED = 4, DEEP = 6, DEPTH = 30 };	/* from which thread on */

/* The main thread holds the lock of the round, and takes the next one first. */
struct gate {
	int pipe[2];
	pthread_mutex_t locks[2];
	uint64_t round;
};

static struct gate gates[THREADS];
static uint64_t waits;

static void pass(struct gate *g)
{
	pthread_mutex_t *lock = &g->locks[g->round++ % 2];
	char c;

	if (g - gates >= LOCKED && g - gates < DEEP) {
		pthread_mutex_lock(lock);
		pthread_mutex_unlock(lock);
	} else if (read(g->pipe[0], &c, 1) != 1) {
		victim_wrong("read: %s", strerror(errno));
	}
}

PROBED uint64_t wait_inner(uint64_t x, struct gate *gate)
{
	__atomic_fetch_add(&waits, 1, __ATOMIC_SEQ_CST);
	pass(gate);
	return x + 1;
}

PROBED uint64_t wait_middle(uint64_t x, struct gate *gate)
{
	uint64_t y = wait_inner(x, gate);

	asm volatile("" : "+r"(y) : : "memory");
	return y + 1;
}

PROBED uint64_t wait_outer(uint64_t x, struct gate *gate)
{
	uint64_t y = wait_middle(x, gate);

	asm volatile("" : "+r"(y) : : "memory");
	return y + 1;
}

PROBED uint64_t wait_deep(uint64_t x, struct gate *gate, int depth)
{
	uint64_t y = depth > 4 ? wait_deep(x, gate, depth - 1) : wait_outer(x, gate);

	asm volatile("" : "+r"(y) : : "memory");
	return y + 1;
}

static void *run(void *arg)
{
	struct gate *g = arg;

	for (uint64_t x = 0;; x += 3)
		if (g - gates >= DEEP ? wait_deep(x, g, DEPTH) != x + DEPTH :
		    wait_outer(x, g) != x + 3)
			victim_wrong("wait_outer");
	return arg;
}

/* The last system call before read is made, or nearly: the byte is not there. */
static void all_wait(uint64_t rounds)
{
	while (__atomic_load_n(&waits, __ATOMIC_SEQ_CST) < rounds * THREADS)
		victim_sleep_us(1000);
}

static void go(void)
{
	static uint64_t rounds = 1;

	for (int i = 0; i < THREADS; i++) {
		pthread_mutex_lock(&gates[i].locks[rounds % 2]);
		pthread_mutex_unlock(&gates[i].locks[(rounds - 1) % 2]);
		if (write(gates[i].pipe[1], "x", 1) != 1)
			victim_wrong("write");
	}
	all_wait(++rounds);
	victim_say("gone %llu", (unsigned long long)rounds);
}

static void command(const char *line)
{
	unsigned long lo, hi;

	if (strcmp(line, "go") == 0) {
		go();
	} else if (sscanf(line, "forbid %lx %lx", &lo, &hi) == 2) {
		if (mprotect((void *)lo, hi - lo, PROT_NONE))
			victim_wrong("mprotect: %s", strerror(errno));
		victim_say("forbidden");
	} else {
		victim_say("what is %s?", line);
	}
}

int main(void)
{
	pthread_t t;

	for (int i = 0; i < THREADS; i++) {
		pthread_mutex_init(&gates[i].locks[0], NULL);
		pthread_mutex_init(&gates[i].locks[1], NULL);
		pthread_mutex_lock(&gates[i].locks[0]);
		if (pipe(gates[i].pipe) || pthread_create(&t, NULL, run, &gates[i]))
			return 1;
	}
	all_wait(1);
	victim_say("ready");
	while (victim_poll(10, command))
		victim_count();
	return victim_errors != 0;
}
