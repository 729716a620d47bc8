/* SPDX-License-Identifier: MIT */
/*
 * balance [ROUNDS]: calls that return, and calls that are left in every way there
 * is; how many of which? A command, that says so at its end:
 *
 *	made FUNCTION CALLS LEFT	LEFT: of them, without a return
 *	cause WHAT COUNT		why, for what libraries do for us
 */
#include <csetjmp>
#include <csignal>
#include <pthread.h>
#include <stdexcept>
#include <sys/wait.h>

#include "tests/victims/victim.h"

enum { DEEP = 6 };

static struct made {
	const char *name;
	uint64_t calls, left;
} made[32];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t throws, rethrows, leaps, threads, quits, handlers_left;
static jmp_buf out;
static sigjmp_buf out_of_handler;
static bool leave_handler;
static volatile int never;	/* compilers are not to see that it never returns */

/* Another call of `name`, which ends by a return or not. */
static void count(const char *name, bool left)
{
	struct made *m = made;

	pthread_mutex_lock(&lock);
	while (m->name && m->name != name)
		m++;
	m->name = name;
	m->calls++;
	m->left += left;
	pthread_mutex_unlock(&lock);
}

#define KEEP(x) asm volatile("" : "+r"(x))	/* no tail call, no loop */

extern "C" {

PROBED int bal_call(int x)
{
	count(__func__, false);
	return x + 1;
}

PROBED int bal_tail(int x)
{
	count(__func__, false);
	return bal_call(x);
}

PROBED int bal_throw(int n)
{
	int y;

	count(__func__, true);
	if (never)
		return n;
	if (n == 0) {
		throws++;
		throw std::runtime_error("far");
	}
	y = bal_throw(n - 1);
	KEEP(y);
	return y;
}

PROBED int bal_rethrow(int n)
{
	count(__func__, true);
	try {
		return bal_throw(n);
	} catch (const std::runtime_error &) {
		rethrows++;
		throw;
	}
}

PROBED int bal_catch(int n)
{
	count(__func__, false);
	try {
		return n % 2 ? bal_throw(n) : bal_rethrow(n);
	} catch (const std::exception &) {
		return bal_call(n);
	}
}

PROBED int bal_leap(int n)
{
	int y;

	count(__func__, true);
	if (never)
		return n;
	if (n == 0) {
		leaps++;
		longjmp(out, 1);
	}
	y = bal_leap(n - 1);
	KEEP(y);
	return y;
}

PROBED int bal_land(int n)
{
	count(__func__, false);
	if (setjmp(out))
		return bal_call(1);
	return bal_leap(n);
}

PROBED int bal_compare(const void *a, const void *b)
{
	count(__func__, false);
	return *(const int *)a - *(const int *)b;
}

PROBED int bal_sort(int n)
{
	int v[DEEP];

	count(__func__, false);
	for (int i = 0; i < DEEP; i++)
		v[i] = (n + i * 5) % DEEP;
	qsort(v, DEEP, sizeof(*v), bal_compare);
	return v[0];
}

PROBED void bal_handler(int)
{
	count(__func__, leave_handler);
	bal_call(1);
	if (leave_handler) {
		handlers_left++;
		siglongjmp(out_of_handler, 1);
	}
}

PROBED int bal_signal(bool leave)
{
	count(__func__, false);
	leave_handler = leave;
	if (!sigsetjmp(out_of_handler, 1))
		raise(SIGUSR1);
	return bal_call(2);
}

PROBED int bal_quit(int n)
{
	int y;

	count(__func__, true);
	if (never)
		return n;
	if (n == 0) {
		quits++;
		pthread_exit(NULL);
	}
	y = bal_quit(n - 1);
	KEEP(y);
	return y;
}

/* It is left when its thread quits. */
PROBED void *bal_thread(void *arg)
{
	bool quit = arg;

	count(__func__, quit);
	bal_call(3);
	if (quit)
		bal_quit(DEEP);
	return NULL;
}

PROBED int bal_join(bool quit)
{
	pthread_t t;

	count(__func__, false);
	threads++;
	if (pthread_create(&t, NULL, bal_thread, (void *)(uintptr_t)quit) || pthread_join(t, NULL))
		victim_wrong("thread");
	return bal_call(4);
}

/* What the child does is not counted, and not recorded. */
PROBED int bal_fork(void)
{
	int status = 0;

	count(__func__, false);
	pid_t pid = fork();
	if (pid == 0) {
		bal_call(5);
		_exit(7);
	}
	if (waitpid(pid, &status, 0) != pid || WEXITSTATUS(status) != 7)
		victim_wrong("fork");
	return bal_call(6);
}

}

static void tell(void)
{
	for (const struct made *m = made; m->name; m++)
		victim_say("made %s %llu %llu", m->name, (unsigned long long)m->calls,
			   (unsigned long long)m->left);
	victim_say("cause throws %llu", (unsigned long long)throws);
	victim_say("cause rethrows %llu", (unsigned long long)rethrows);
	victim_say("cause leaps %llu", (unsigned long long)leaps);
	victim_say("cause threads %llu", (unsigned long long)threads);
	victim_say("cause quits %llu", (unsigned long long)quits);
	victim_say("cause handlers_left %llu", (unsigned long long)handlers_left);
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 100;

	signal(SIGUSR1, bal_handler);
	for (int i = 0; i < rounds; i++) {
		bal_tail(i);
		bal_catch(i % DEEP);
		bal_land(i % DEEP);
		bal_sort(i);
		bal_signal(i % 3 == 0);
		if (i % 10 < 2)
			bal_join(i % 10);
		if (i % 10 == 2)
			bal_fork();
	}
	tell();
	return victim_errors != 0;
}
