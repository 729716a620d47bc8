/* SPDX-License-Identifier: MIT */
/*
 * clock: what time do the records carry?
 *
 * The counter that arch/<name>/hot.S reads at each event, for the host only
 * (arch/<name>/regs_clock.c). Its rate is constant and unknown: for nanoseconds it is
 * calibrated against a clock of the kernel.
 */
#ifndef ARCH_CLOCK_H
#define ARCH_CLOCK_H

#include <stdint.h>

uint64_t arch_ticks(void);
/* Of this thread: what the payload takes for its thread pointer. */
uint64_t arch_thread_pointer(void);

#endif
