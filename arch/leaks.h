/* SPDX-License-Identifier: MIT */
/*
 * leaks: which system calls end with EINTR where a tracer stops a thread in them, though no signal
 * came, and have done nothing by then, or nothing that a second run would do otherwise? They are
 * run again. Never others: close, ioctl and what changes directories may have acted already.
 *
 * Knows system calls by their names only. docs/attach.md has how this was measured.
 */
#ifndef ARCH_LEAKS_H
#define ARCH_LEAKS_H

#include <stdbool.h>
#include <stdint.h>

/* `arg`: as the call got them; of these the first need not be known. */
bool leaks_eintr(long nr, const uint64_t arg[6]);

#endif
