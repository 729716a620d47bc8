/* SPDX-License-Identifier: MIT */
/*
 * pointers: calls functions with pointers that lead nowhere, or not any more. A thread maps and
 * unmaps the memory that others pass on; they pass on also pointers to the last bytes before an
 * end, to memory that may not be read, and numbers that are none. Text is always of one letter, by
 * which is what it may be: 'a' of what is always there, 'b' of what comes and goes.
 *
 *	count	-> calls N		that were made so far
 *
 * errno and the numbers in vector registers are checked around each call.
 */
#include <pthread.h>
#include <sys/mman.h>

#include "tests/victims/victim.h"

enum { PAGE_SIZE = 1 << 16, TEXT = 40 };

struct box { const char *text; long number; struct box *next; };

static char *steady;		/* 'a', and its second half cannot be read */
static char *coming;		/* where pages of 'b' come and go */
static uint64_t calls;

PROBED long take(const char *text, const struct box *box, double number)
{
	return (long)number + (text == NULL) + (box == NULL);
}

PROBED void fill(char *out, unsigned long n)
{
	errno = 0;
	(void)out;
	(void)n;
}

static const char *pointer(uint64_t r)
{
	switch (r % 12) {
	case 0: return NULL;
	case 1: return (const char *)16;
	case 2: return (const char *)(uintptr_t)-8;
	case 3: return (const char *)((uint64_t)1 << 63 | r);
	case 4: return (const char *)(0x00007fffffffffffull - r % 16);
	case 5: return steady + PAGE_SIZE - 1 - r % TEXT;
	case 6: return steady + PAGE_SIZE - 5;
	case 7: return steady + r % PAGE_SIZE;
	case 8: return coming + PAGE_SIZE - 3;
	default: return coming + r % PAGE_SIZE;
	}
}

static void *pointers_run(void *arg)
{
	uint64_t seed = (uint64_t)(uintptr_t)arg;

	for (;;) {
		struct box box = { .number = 7 };

		seed = seed * 6364136223846793005u + 1442695040888963407u;
		uint64_t r = seed >> 20;

		box.text = pointer(r / 12);
		box.next = (struct box *)(uintptr_t)pointer(r / 7);
		errno = (int)(r % 100);
		double number = (double)(r % 1000);
		volatile double other = number + 0.5;
		long got = take(pointer(r), r % 5 ? &box : (struct box *)(uintptr_t)pointer(r / 3),
				number);

		if (got - (long)number < 0 || got - (long)number > 2)
			victim_wrong("take gives %ld for %f", got, number);
		if (errno != (int)(r % 100) || other != number + 0.5)
			victim_wrong("errno %d", errno);
		fill((char *)(uintptr_t)pointer(r / 5), r % 3 ? r % 80 : r);
		__atomic_fetch_add(&calls, 2, __ATOMIC_RELAXED);
		victim_count();
	}
	return NULL;
}

static void *come_and_go(void *arg)
{
	for (;;) {
		char *at = mmap(coming, PAGE_SIZE, PROT_READ | PROT_WRITE,
				MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);

		if (at == MAP_FAILED)
			victim_wrong("mmap: %s", strerror(errno));
		memset(at, 'b', PAGE_SIZE);
		munmap(at, PAGE_SIZE);
	}
	return arg;
}

static void answer(const char *command)
{
	if (strcmp(command, "count") == 0)
		victim_say("calls %llu",
			   (unsigned long long)__atomic_load_n(&calls, __ATOMIC_RELAXED));
}

int main(void)
{
	pthread_t t;

	steady = mmap(NULL, 2 * PAGE_SIZE, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	coming = mmap(NULL, 3 * PAGE_SIZE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (steady == MAP_FAILED || coming == MAP_FAILED)
		return 1;
	coming += PAGE_SIZE;	/* between two that cannot be read */
	memset(steady, 'a', PAGE_SIZE);
	if (mprotect(steady + PAGE_SIZE, PAGE_SIZE, PROT_NONE))
		return 1;
	pthread_create(&t, NULL, come_and_go, NULL);
	for (uintptr_t i = 1; i <= 3; i++)
		pthread_create(&t, NULL, pointers_run, (void *)i);
	victim_say("ready");
	while (victim_poll(1000, answer))
		;
	return victim_errors != 0;
}
