/* SPDX-License-Identifier: MIT */
/*
 * addressed: threads that wait in epoll_wait, and signals that the process ignores, a thousand a
 * second. None wakes a thread, with a tracer or without.
 *
 * addressed KIND, where KIND tells which signals:
 *	main	SIGCHLD, of children that the main thread makes
 *	thread	SIGCHLD, of children that another thread makes
 *	some	SIGCHLD, of children that four threads make now and then
 *	sent	SIGWINCH, which a child sends to the process
 * A command "ended" -> ended CALLS signals N: so many calls have ended, with EINTR or
 * otherwise, and so many signals have come.
 */
#include <pthread.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "tests/victims/victim.h"

enum { WAITING = 40, SLEEPING = 6, MAKERS = 4 };

static uint64_t ended, signals;

static void *wait_for_ever(void *arg)
{
	int e = epoll_create1(0);
	struct epoll_event event;

	(void)arg;
	for (;;) {
		epoll_wait(e, &event, 1, -1);
		__atomic_fetch_add(&ended, 1, __ATOMIC_RELAXED);
	}
	return NULL;
}

static void *sleep_for_ever(void *arg)
{
	static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
	static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;

	(void)arg;
	pthread_mutex_lock(&mutex);
	for (;;)
		pthread_cond_wait(&cond, &mutex);
	return NULL;
}

PROBED void addressed_round(uint64_t x)
{
	asm volatile("" : : "r"(x) : "memory");
}

static void make_child(void)
{
	pid_t pid = fork();

	addressed_round(signals);
	if (!pid)
		_exit(0);
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	__atomic_fetch_add(&signals, 1, __ATOMIC_RELAXED);
}

static void *make_children(void *arg)
{
	(void)arg;
	for (;;)
		make_child();
	return NULL;
}

static void *make_some(void *arg)
{
	unsigned int seed = (unsigned int)(uintptr_t)arg;

	for (;;) {
		make_child();
		victim_sleep_us(rand_r(&seed) % 3000);
	}
	return NULL;
}

static void *send_signals(void *arg)
{
	int counts[2];
	char one;

	(void)arg;
	if (pipe(counts) < 0)
		_exit(3);
	if (fork() == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		while (kill(getppid(), SIGWINCH) == 0 && write(counts[1], "w", 1) == 1)
			victim_sleep_us(20);
		_exit(0);
	}
	close(counts[1]);
	while (read(counts[0], &one, 1) == 1) {
		addressed_round(signals);
		__atomic_fetch_add(&signals, 1, __ATOMIC_RELAXED);
	}
	return NULL;
}

static void command(const char *word)
{
	if (strcmp(word, "ended") == 0)
		victim_say("ended %llu signals %llu", (unsigned long long)ended,
			   (unsigned long long)signals);
	else
		victim_say("what is %s?", word);
}

int main(int argc, char **argv)
{
	const char *kind = argc > 1 ? argv[1] : "main";
	pthread_t t;

	for (int i = 0; i < WAITING; i++)
		pthread_create(&t, NULL, wait_for_ever, NULL);
	for (int i = 0; i < SLEEPING; i++)
		pthread_create(&t, NULL, sleep_for_ever, NULL);
	for (uintptr_t i = 0; strcmp(kind, "some") == 0 && i < MAKERS; i++)
		pthread_create(&t, NULL, make_some, (void *)i);
	if (strcmp(kind, "thread") == 0 || strcmp(kind, "sent") == 0)
		pthread_create(&t, NULL, strcmp(kind, "sent") == 0 ? send_signals : make_children,
			       NULL);
	victim_say("ready");
	while (victim_poll(strcmp(kind, "main") == 0 ? 0 : 1000, command)) {
		if (strcmp(kind, "main") == 0)
			make_child();
		victim_count();
	}
	return victim_errors != 0;
}
