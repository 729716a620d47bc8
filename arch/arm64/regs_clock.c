/* SPDX-License-Identifier: MIT */
/* clock: the virtual counter, read as the payload reads it. */
#include "arch/clock.h"
#include "arch/arm64/cpu.h"

uint64_t arch_ticks(void)
{
	return cpu_clock();
}

uint64_t arch_thread_pointer(void)
{
	return cpu_thread_pointer();
}
