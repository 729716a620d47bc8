/* SPDX-License-Identifier: MIT */
/*
 * switches: what does it take two threads of one processor to hand a byte to each other, and a
 * thread to be made and joined? Prints "NS_OF_A_SWITCH NS_OF_A_THREAD", of processor time, again
 * and again: of ten rounds the best. `never` is there to be probed, and never called.
 */
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

enum { ROUNDS = 10, BYTES = 50000, THREADS = 2000 };

static int there[2], back[2];

__attribute__((noinline, used)) uint64_t never(uint64_t x)
{
	return x * 31 + 7;
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void *echo(void *arg)
{
	char c;

	(void)arg;
	while (read(there[0], &c, 1) == 1 && write(back[1], &c, 1) == 1)
		;
	return NULL;
}

static void *nothing(void *arg)
{
	return arg;
}

static double of_switch(void)
{
	double began = now();
	char c = 0;

	for (int i = 0; i < BYTES; i++)
		if (write(there[1], &c, 1) != 1 || read(back[0], &c, 1) != 1)
			_exit(1);
	return (now() - began) / (2.0 * BYTES);
}

static double of_thread(void)
{
	double began = now();
	pthread_t t;

	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&t, NULL, nothing, NULL) || pthread_join(t, NULL))
			_exit(1);
	return (now() - began) / THREADS;
}

int main(void)
{
	cpu_set_t one;
	pthread_t t;

	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	sched_setaffinity(0, sizeof(one), &one);
	if (pipe(there) || pipe(back) || pthread_create(&t, NULL, echo, NULL))
		return 1;
	puts("ready");
	fflush(stdout);
	for (;;) {
		double each[2] = { 1e12, 1e12 };

		for (int i = 0; i < ROUNDS; i++) {
			double s = of_switch(), made = of_thread();

			each[0] = s < each[0] ? s : each[0];
			each[1] = made < each[1] ? made : each[1];
		}
		printf("%.0f %.0f\n", each[0], each[1]);
		fflush(stdout);
	}
}
