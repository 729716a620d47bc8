/* SPDX-License-Identifier: MIT */
/* regs_clock, arm64: the virtual counter, read as the payload reads it. */
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
