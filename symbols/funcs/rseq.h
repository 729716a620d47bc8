/* SPDX-License-Identifier: MIT */
/*
 * rseq: which code does the kernel watch by its address?
 *
 * While a thread's PC is inside a restartable sequence, preemption and signals
 * send it to the sequence's abort address. The kernel knows a sequence by its
 * addresses alone: a copy elsewhere would run unprotected, and two threads on
 * one CPU could then change the same list at once.
 */
#ifndef SYMBOLS_RSEQ_H
#define SYMBOLS_RSEQ_H

#include "symbols/elf/dynamic.h"
#include "symbols/elf/symtab.h"

/*
 * The bytes that must stay as they are, sorted and disjoint, each range within
 * one load; owned by the caller. Descriptors that make no sense are left out.
 * 0 or -ENOMEM.
 */
int rseq_find(const struct image *, const struct dynamic *,
	      const struct symtab *dynsym, struct range **ret, size_t *n);

#endif
