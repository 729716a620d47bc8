/* SPDX-License-Identifier: MIT */
/*
 * many: how long is a process stopped for a thousand functions? 1,000
 * functions, of the kinds that the macro makes, called by THREADS threads that
 * sleep nearly always, as a server's do.
 *
 *	many THREADS
 */
#include <pthread.h>

#include "tests/victims/victim.h"

/* A frame, two exits, a loop: what most functions have. */
#define ONE(n) \
	PROBED uint64_t many_##n(uint64_t x) \
	{ \
		uint64_t sum = n; \
		asm volatile("" : "+r"(sum) : : "rbx", "memory"); \
		if (x == sum) \
			return 0; \
		for (uint64_t i = 0; i < (x & 3); i++) \
			asm volatile("" : "+r"(sum)); \
		return sum + x; \
	}

#define TEN(M, n) M(n##0) M(n##1) M(n##2) M(n##3) M(n##4) \
	M(n##5) M(n##6) M(n##7) M(n##8) M(n##9)
#define HUNDRED(M, n) TEN(M, n##0) TEN(M, n##1) TEN(M, n##2) TEN(M, n##3) \
	TEN(M, n##4) TEN(M, n##5) TEN(M, n##6) TEN(M, n##7) TEN(M, n##8) TEN(M, n##9)
#define THOUSAND(M) HUNDRED(M, 1) HUNDRED(M, 2) HUNDRED(M, 3) HUNDRED(M, 4) \
	HUNDRED(M, 5) HUNDRED(M, 6) HUNDRED(M, 7) HUNDRED(M, 8) \
	HUNDRED(M, 9) HUNDRED(M, 10)

THOUSAND(ONE)

#define POINTER(n) many_##n,
static uint64_t (*const all[])(uint64_t) = { THOUSAND(POINTER) };

static void *sleepy(void *arg)
{
	uint64_t x = (uintptr_t)arg;

	for (;;) {
		for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
			x = all[i](x);
		victim_count();
		victim_sleep_us(10000);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 64;
	pthread_t t;

	for (int i = 1; i < n; i++)
		if (pthread_create(&t, NULL, sleepy, (void *)(uintptr_t)i))
			return 1;
	victim_say("ready");
	while (victim_poll(1000, NULL))
		;
	return 0;
}
