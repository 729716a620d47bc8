/* SPDX-License-Identifier: MIT */
/*
 * detained: the thread that is borrowed to start another one does not come out of the C
 * library for seconds, and nobody can fetch it: in the middle of pthread_create it waits
 * for a child of vfork. Another one like it sleeps beside it. Does each come home to what
 * is its own?
 *
 *	wake	-> ok wake	both have gone on
 */
#include <pthread.h>
#include <semaphore.h>
#include <sys/syscall.h>

#include "tests/victims/victim.h"

enum {
	AWAY_US = 4000 * 1000,
	SLEEPERS = 2,
};

static sem_t wake, awake, sleep_again;
static volatile bool armed;

PROBED int detained_work(int x)
{
	return 3 * x + 1;
}

void *__libc_calloc(size_t n, size_t size);

/* Ours is called wherever the C library and its loader want memory. */
void *calloc(size_t n, size_t size)
{
	if (__atomic_exchange_n(&armed, false, __ATOMIC_ACQ_REL) && vfork() == 0) {
		struct timespec t = { AWAY_US / 1000000, AWAY_US % 1000000 * 1000 };

		syscall(SYS_nanosleep, &t, NULL);
		_exit(0);
	}
	return __libc_calloc(n, size);
}

static void *sleep_on(void *unused)
{
	volatile pid_t me = gettid();

	for (;;) {
		while (sem_wait(&wake) < 0)
			;
		if (me != gettid())
			victim_wrong("thread %d is on the stack of %d", gettid(), me);
		sem_post(&awake);
		sem_wait(&sleep_again);
	}
	return unused;
}

static void on_command(const char *command)
{
	if (strcmp(command, "wake") != 0)
		return;
	for (int i = 0; i < SLEEPERS; i++)
		sem_post(&wake);
	for (int i = 0; i < SLEEPERS; i++)
		sem_wait(&awake);
	for (int i = 0; i < SLEEPERS; i++)
		sem_post(&sleep_again);
	victim_say("ok wake");
}

int main(void)
{
	pthread_t t[SLEEPERS];

	sem_init(&wake, 0, 0);
	sem_init(&awake, 0, 0);
	sem_init(&sleep_again, 0, 0);
	for (int i = 0; i < SLEEPERS; i++)
		if (pthread_create(&t[i], NULL, sleep_on, NULL))
			return 1;
	victim_sleep_us(100 * 1000);
	armed = true;
	victim_say("ready");
	for (int x = 1; victim_poll(1, on_command); x++) {
		if (detained_work(x) != 3 * x + 1)
			victim_wrong("detained_work(%d)", x);
		victim_count();
	}
	return victim_errors != 0;
}
