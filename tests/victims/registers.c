/* SPDX-License-Identifier: MIT */
/*
 * registers [alone]: does a probe, an attach or a removal change any register?
 *
 * Two kinds of thread. A caller fills every general register but the stack pointer,
 * all vector registers (as wide as this CPU has them) and what says how these compute, calls a
 * probed function that touches none of them, and compares. A holder keeps the same in a loop
 * without any call, for the thread that an attach borrows; alone, which does both by turns,
 * there is no other to borrow.
 */
#include <pthread.h>
#include <stddef.h>

#include "tests/victims/victim.h"

#if defined(__x86_64__)
#include "tests/victims/registers_x86_64.h"
#elif defined(__aarch64__)
#include "tests/victims/registers_arm64.h"
#endif

static void regs_round(uint64_t seed, int hold)
{
	static __thread struct regs in, out;

	fill(&in, seed, hold ? 20000 : 0);
	memset(&out, 0, sizeof(out));
	pass[have()][hold](&in, &out);
	compare(&in, &out);
	victim_count();
}

static void *regs_run(void *arg)
{
	for (uint64_t seed = 1;; seed += 1000003)
		regs_round(seed, (int)(uintptr_t)arg);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t t[4];
	bool alone = argc > 1 && strcmp(argv[1], "alone") == 0;

	for (int i = 0; i < 4 && !alone; i++)
		if (pthread_create(&t[i], NULL, regs_run,
				   (void *)(uintptr_t)(i % 2)))
			return 1;
	victim_say("ready");
	for (uint64_t seed = 1; victim_poll(alone ? 0 : 1000, NULL); seed += 1000003)
		for (int i = 0; i < 50 && alone; i++)
			regs_round(seed + (uint64_t)i, i != 0);
	return victim_errors != 0;
}
