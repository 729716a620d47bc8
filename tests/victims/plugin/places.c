/* SPDX-License-Identifier: MIT */
/* places: another plugin, with a place for tracers and its semaphore. RAISED: as often the
 * semaphore is raised as soon as the library is there, as other tracers do it. */
#include "tests/victims/usdt.h"

__extension__ unsigned short us_answer_semaphore
	__attribute__((section(".probes"), visibility("hidden"))) = RAISED;

int plugin_answer(int x);
int plugin_asked(void);

int plugin_answer(int x)
{
	if (__builtin_expect(__atomic_load_n(&us_answer_semaphore, __ATOMIC_RELAXED), 0))
		PLACE("answer", "us_answer_semaphore", NOP5, x);
	return 3 * x + 7;
}

int plugin_asked(void)
{
	return __atomic_load_n(&us_answer_semaphore, __ATOMIC_RELAXED);
}
