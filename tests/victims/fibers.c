/* SPDX-License-Identifier: MIT */
/*
 * fibers: stacks that the program switches by itself, in the middle of probed
 * calls, and that go on in another thread than before. Does each fiber return
 * to where it was?
 *
 * Each thread runs whichever fiber is free. A fiber switches away from deep
 * inside of fib_deep, so its open calls wait on its stack.
 */
#include <pthread.h>
#include <ucontext.h>

#include "tests/victims/victim.h"

enum { FIBERS = 8, THREADS = 3, DEPTH = 6, STACK = 128 * 1024 };

struct fiber {
	ucontext_t context, *back;	/* of the thread that runs it */
	pthread_mutex_t running;
	uint64_t rounds;
	char stack[STACK];
};

static struct fiber fibers[FIBERS];

PROBED void fib_yield(struct fiber *f)
{
	swapcontext(&f->context, f->back);
	asm volatile("" ::: "memory");
}

PROBED uint64_t fib_deep(struct fiber *f, int depth)
{
	uint64_t below;

	if (depth == 0) {
		fib_yield(f);
		return f->rounds;
	}
	below = fib_deep(f, depth - 1);
	if (depth == 3)
		fib_yield(f);
	return below + 1;
}

static void fiber_main(unsigned int i)
{
	struct fiber *f = &fibers[i];

	for (;; f->rounds++)
		if (fib_deep(f, DEPTH) != f->rounds + DEPTH)
			victim_wrong("fib_deep");
}

PROBED void fib_resume(struct fiber *f, ucontext_t *mine)
{
	f->back = mine;
	swapcontext(mine, &f->context);
	asm volatile("" ::: "memory");
}

static void *run(void *arg)
{
	ucontext_t mine;

	for (uintptr_t i = (uintptr_t)arg;; i++) {
		struct fiber *f = &fibers[i % FIBERS];

		if (pthread_mutex_trylock(&f->running))
			continue;
		fib_resume(f, &mine);
		pthread_mutex_unlock(&f->running);
		victim_count();
		if (i % 64 == 0)
			victim_sleep_us(100);
	}
	return NULL;
}

int main(void)
{
	pthread_t t[THREADS];

	for (unsigned int i = 0; i < FIBERS; i++) {
		struct fiber *f = &fibers[i];

		pthread_mutex_init(&f->running, NULL);
		getcontext(&f->context);
		f->context.uc_stack.ss_sp = f->stack;
		f->context.uc_stack.ss_size = STACK;
		makecontext(&f->context, (void (*)(void))fiber_main, 1, i);
	}
	for (uintptr_t i = 0; i < THREADS; i++)
		if (pthread_create(&t[i], NULL, run, (void *)(i * 3)))
			return 1;
	victim_say("ready");
	while (victim_poll(1000, NULL))
		;
	return victim_errors != 0;
}
