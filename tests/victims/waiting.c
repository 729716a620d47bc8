/* SPDX-License-Identifier: MIT */
/*
 * waiting: threads that wait in read, for a lock, a condition or events, in sleeps, or on
 * another stack, three functions deep, or thirty, until they are told to go on; then they
 * return from all of them, and wait again. Does what was put into them leave anything
 * behind that a return needs?
 *
 *	go		-> gone ROUND	each has returned from all and waits again
 *	forbid LO HI	-> forbidden	these bytes may not be read or run any more
 */
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#ifdef __GLIBC__
#include <ucontext.h>
#endif

#include "tests/victims/victim.h"

enum way { READ, LOCK, CONDITION, EVENTS, POLL, SLEEP, FIBER, WAYS };
enum { THREADS = 2 * WAYS, DEPTH = 30, STACK = 64 * 1024 };

/* The main thread holds the lock of the round, and takes the next one first. */
struct gate {
	enum way way;
	int pipe[2], events;
	pthread_mutex_t locks[2], lock;
	pthread_cond_t condition;
	uint64_t round, allowed;	/* of `lock` or atomic */
#ifdef __GLIBC__
	ucontext_t own, fiber;
	char stack[STACK] __attribute__((aligned(64)));
#endif
};

static struct gate gates[THREADS];
static uint64_t waits;

static void take_byte(struct gate *g)
{
	char c;

	if (read(g->pipe[0], &c, 1) != 1)
		victim_wrong("read: %s", strerror(errno));
}

/* The wait is on its thread's stack, and the probed functions are not. */
static void leave_fiber(struct gate *g)
{
#ifdef __GLIBC__
	swapcontext(&g->fiber, &g->own);
#else
	take_byte(g);
#endif
}

static bool may_pass(struct gate *g, uint64_t round)
{
	return __atomic_load_n(&g->allowed, __ATOMIC_SEQ_CST) >= round;
}

static void wait_condition(struct gate *g, uint64_t round)
{
	pthread_mutex_lock(&g->lock);
	while (!may_pass(g, round))
		pthread_cond_wait(&g->condition, &g->lock);
	pthread_mutex_unlock(&g->lock);
}

static void pass(struct gate *g)
{
	pthread_mutex_t *lock = &g->locks[g->round++ % 2];
	struct epoll_event event;
	struct pollfd fd = { .fd = g->pipe[0], .events = POLLIN };

	switch (g->way) {
	case LOCK:
		pthread_mutex_lock(lock);
		pthread_mutex_unlock(lock);
		break;
	case CONDITION:
		wait_condition(g, g->round);
		break;
	case SLEEP:
		while (!may_pass(g, g->round))
			victim_sleep_us(20000);
		break;
	case FIBER:
		leave_fiber(g);
		return;
	case EVENTS:
		if (epoll_wait(g->events, &event, 1, -1) != 1)
			victim_wrong("epoll_wait: %s", strerror(errno));
		break;
	case POLL:
		if (poll(&fd, 1, -1) != 1)
			victim_wrong("poll: %s", strerror(errno));
		break;
	default:
		break;
	}
	take_byte(g);
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

static void rounds(struct gate *g)
{
	for (uint64_t x = 0;; x += 3)
		if (g - gates >= WAYS ? wait_deep(x, g, DEPTH) != x + DEPTH :
		    wait_outer(x, g) != x + 3)
			victim_wrong("wait_outer");
}

#ifdef __GLIBC__
static void run_fiber(unsigned int i)
{
	rounds(&gates[i]);
}

static void begin_fiber(struct gate *g)
{
	getcontext(&g->fiber);
	g->fiber.uc_stack.ss_sp = g->stack;
	g->fiber.uc_stack.ss_size = STACK;
	makecontext(&g->fiber, (void (*)(void))run_fiber, 1, (unsigned int)(g - gates));
	for (;;) {
		swapcontext(&g->own, &g->fiber);
		take_byte(g);
	}
}
#endif

static void *run(void *arg)
{
	struct gate *g = arg;

#ifdef __GLIBC__
	if (g->way == FIBER)
		begin_fiber(g);
#endif
	rounds(g);
	return arg;
}

/* The last system call before read is made, or nearly: the byte is not there. */
static void all_wait(uint64_t n)
{
	while (__atomic_load_n(&waits, __ATOMIC_SEQ_CST) < n * THREADS)
		victim_sleep_us(1000);
}

static void open_gate(struct gate *g, uint64_t round)
{
	pthread_mutex_lock(&g->locks[round % 2]);
	pthread_mutex_unlock(&g->locks[(round - 1) % 2]);
	pthread_mutex_lock(&g->lock);
	__atomic_fetch_add(&g->allowed, 1, __ATOMIC_SEQ_CST);
	pthread_cond_signal(&g->condition);
	pthread_mutex_unlock(&g->lock);
	if (write(g->pipe[1], "x", 1) != 1)
		victim_wrong("write");
}

static void go(void)
{
	static uint64_t round = 1;

	for (int i = 0; i < THREADS; i++)
		open_gate(&gates[i], round);
	all_wait(++round);
	victim_say("gone %llu", (unsigned long long)round);
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

static bool begin(struct gate *g, enum way way)
{
	struct epoll_event in = { .events = EPOLLIN };
	pthread_t t;

	g->way = way;
	pthread_mutex_init(&g->locks[0], NULL);
	pthread_mutex_init(&g->locks[1], NULL);
	pthread_mutex_init(&g->lock, NULL);
	pthread_cond_init(&g->condition, NULL);
	pthread_mutex_lock(&g->locks[0]);
	if (pipe(g->pipe))
		return false;
	g->events = epoll_create1(0);
	return !epoll_ctl(g->events, EPOLL_CTL_ADD, g->pipe[0], &in) &&
		!pthread_create(&t, NULL, run, g);
}

int main(void)
{
	for (int i = 0; i < THREADS; i++)
		if (!begin(&gates[i], i % WAYS))
			return 1;
	all_wait(1);
	victim_say("ready");
	while (victim_poll(10, command))
		victim_count();
	return victim_errors != 0;
}
