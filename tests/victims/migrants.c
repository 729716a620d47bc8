/* SPDX-License-Identifier: MIT */
/*
 * migrants: fibers that begin calls in one thread and end them in another, by a
 * switch of their own and not the C library's. Does a tracer see each call begin
 * and end once, as the fibers themselves have counted?
 *
 * migrants FIBERS. A command "run N" has each of them make N rounds, of a depth
 * that chance decides, and then answers with what was called: "made mig_deep N
 * mig_hop N mig_leaf N inside N moved N". "inside" adds up how many calls each of
 * them was in, "moved" how often a fiber went on in another thread than before.
 *
 * A fiber's stack is as small as those of real programs, and they lie side by
 * side, with no guard between them.
 */
#include <alloca.h>
#include <pthread.h>

#include "tests/victims/change_stacks.h"
#include "tests/victims/victim.h"

enum { FIBERS = 48, THREADS = 3, DEPTH = 8, STACK = 32 * 1024 };

struct fiber {
	void *sp, *back;	/* of the fiber; of the thread that runs it */
	pthread_mutex_t running;
	uint64_t rounds, limit;
	uint64_t deep, hops, leaves, inside, moved;
	uint64_t depth, chance;
	pthread_t last;
};

static struct fiber fibers[FIBERS];
static int nfibers = FIBERS;
static char stacks[FIBERS][STACK] __attribute__((aligned(64)));

PROBED void mig_hop(struct fiber *f)
{
	change_stacks(&f->sp, f->back);
	asm volatile("" ::: "memory");
}

PROBED uint64_t mig_leaf(uint64_t x)
{
	asm volatile("" : "+r"(x) : : "memory");
	return x + 1;
}

/* xorshift */
static unsigned int chance(struct fiber *f, unsigned int below)
{
	f->chance ^= f->chance << 13;
	f->chance ^= f->chance >> 7;
	f->chance ^= f->chance << 17;
	return (unsigned int)(f->chance >> 33) % below;
}

static void hop(struct fiber *f)
{
	f->hops++;
	f->inside += f->depth;
	mig_hop(f);
}

static void leaf(struct fiber *f, uint64_t x)
{
	f->leaves++;
	f->inside += f->depth;
	if (mig_leaf(x) != x + 1)
		victim_wrong("mig_leaf");
}

/* Frames of other sizes each time: what another call has left is not mistaken
 * for this one's. */
PROBED uint64_t mig_deep(struct fiber *f, unsigned int left)
{
	char *room = alloca(48 + 80 * chance(f, 5));
	uint64_t below = 0;

	room[0] = (char)left;
	f->deep++;
	f->inside += f->depth++;
	if (chance(f, 2))
		leaf(f, left);
	if (left)
		below = 1 + mig_deep(f, left - 1);
	if (!left || chance(f, 3) == 0)
		hop(f);
	if (chance(f, 2))
		leaf(f, below);
	if (room[0] != (char)left)
		victim_wrong("room");
	f->depth--;
	return below;
}

static void fiber_main(struct fiber *f)
{
	unsigned int depth;

	for (;;) {
		while (f->rounds >= f->limit)
			change_stacks(&f->sp, f->back);
		depth = chance(f, DEPTH);
		if (mig_deep(f, depth) != depth || f->depth != 0)
			victim_wrong("mig_deep");
		f->rounds++;
	}
}

static struct fiber *starting;	/* under `start` */

static void fiber_start(void)
{
	fiber_main(starting);
}

static void resume(struct fiber *f)
{
	if (!pthread_equal(f->last, pthread_self()) && f->hops)
		f->moved++;
	f->last = pthread_self();
	change_stacks(&f->back, f->sp);
}

/* Its first switch comes to fiber_start, and at once back to here. */
static void prepare(struct fiber *f, char *stack)
{
	f->sp = new_stack(stack + STACK - 64, fiber_start);
	pthread_mutex_init(&f->running, NULL);
	f->chance = 88172645463325252ull + (uint64_t)(f - fibers);
	starting = f;
	change_stacks(&f->back, f->sp);
}

static bool waits(struct fiber *f)
{
	return __atomic_load_n(&f->rounds, __ATOMIC_ACQUIRE) >=
	       __atomic_load_n(&f->limit, __ATOMIC_ACQUIRE);
}

/* Rather one that another thread has run before. */
static bool take(struct fiber *f, bool any)
{
	if (waits(f) || pthread_mutex_trylock(&f->running))
		return false;
	if (any || !pthread_equal(f->last, pthread_self()))
		return true;
	pthread_mutex_unlock(&f->running);
	return false;
}

static void *run(void *arg)
{
	for (uintptr_t pass = (uintptr_t)arg;; pass++) {
		int ran = 0;

		for (int i = 0; i < nfibers; i++)
			if (take(&fibers[i], pass % 16 == 0)) {
				resume(&fibers[i]);
				pthread_mutex_unlock(&fibers[i].running);
				ran++;
			}
		victim_count();
		if (!ran)
			victim_sleep_us(100);
	}
	return NULL;
}

static void add(struct fiber *sum, const struct fiber *f, uint64_t times)
{
	sum->deep += times * f->deep;
	sum->hops += times * f->hops;
	sum->leaves += times * f->leaves;
	sum->inside += times * f->inside;
	sum->moved += times * f->moved;
}

static void command(const char *line)
{
	struct fiber sum = { .rounds = 0 };
	uint64_t n = strtoull(line + 4, NULL, 10);

	if (strncmp(line, "run ", 4) != 0) {
		victim_say("what is %s?", line);
		return;
	}
	for (int i = 0; i < nfibers; i++) {
		add(&sum, &fibers[i], -1ull);
		__atomic_store_n(&fibers[i].limit, fibers[i].rounds + n, __ATOMIC_RELEASE);
	}
	for (int i = 0; i < nfibers; i++) {
		while (!waits(&fibers[i]))
			victim_sleep_us(1000);
		/* Until it has switched away, too. */
		pthread_mutex_lock(&fibers[i].running);
		add(&sum, &fibers[i], 1);
		pthread_mutex_unlock(&fibers[i].running);
	}
	victim_say("made mig_deep %llu mig_hop %llu mig_leaf %llu inside %llu moved %llu",
		   (unsigned long long)sum.deep, (unsigned long long)sum.hops,
		   (unsigned long long)sum.leaves, (unsigned long long)sum.inside,
		   (unsigned long long)sum.moved);
}

int main(int argc, char **argv)
{
	pthread_t t[THREADS];

	if (argc > 1)
		nfibers = atoi(argv[1]);
	if (nfibers < 1 || nfibers > FIBERS)
		return 2;
	for (int i = 0; i < nfibers; i++)
		prepare(&fibers[i], stacks[i]);
	for (uintptr_t i = 0; i < THREADS; i++)
		if (pthread_create(&t[i], NULL, run, (void *)i))
			return 1;
	victim_say("ready");
	while (victim_poll(1000, command))
		;
	return victim_errors != 0;
}
