/* SPDX-License-Identifier: MIT */
/* clock: the time stamp counter, as hot.S reads it. */
#include "arch/clock.h"

#include <x86intrin.h>

uint64_t arch_ticks(void)
{
	return __rdtsc();
}
