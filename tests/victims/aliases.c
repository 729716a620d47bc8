/* SPDX-License-Identifier: MIT */
/* aliases: one function under three names, and one under one; and an indirect
 * one, of which the loader takes one of two. */
#include <pthread.h>

#include "tests/victims/victim.h"

PROBED uint64_t alias_first(uint64_t x)
{
	return x * 7 + 1;
}

uint64_t alias_second(uint64_t x) __attribute__((alias("alias_first")));
uint64_t alias_third(uint64_t x) __attribute__((alias("alias_first")));

PROBED uint64_t alias_none(uint64_t x)
{
	return x * 5 + 3;
}

PROBED uint64_t choice_taken(uint64_t x)
{
	return x + 11;
}

PROBED uint64_t choice_left(uint64_t x)
{
	return x + 12;
}

static volatile bool takes = true;

/* Called before anything is relocated. */
__attribute__((used)) static uint64_t (*choose(void))(uint64_t)
{
	return takes ? choice_taken : choice_left;
}

uint64_t choice(uint64_t x) __attribute__((ifunc("choose")));

static void *run(void *arg)
{
	for (uint64_t x = 1;; x++) {
		if (alias_first(x) != x * 7 + 1 || alias_second(x) != alias_third(x))
			victim_wrong("aliases");
		if (alias_none(x) != x * 5 + 3 || choice(x) != x + 11)
			victim_wrong("others");
		victim_count();
	}
	return arg;
}

int main(void)
{
	pthread_t t;

	if (pthread_create(&t, NULL, run, NULL))
		return 1;
	victim_say("ready");
	while (victim_poll(1000, NULL))
		;
	return victim_errors != 0;
}
