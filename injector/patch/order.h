/* SPDX-License-Identifier: MIT */
/*
 * order: in which order do the jumps of a process come and go? Everything that adds
 * probes or takes them out asks here.
 *
 * Every beginning of the list in this order is harmless, and so is every beginning of
 * the same list backwards, which takes the jumps out: so a kill at any moment leaves a
 * text that works. The order:
 *
 *  1. What unwinders are led by. Its jumps are whole and stand alone, and the others'
 *     stubs are where unwinders need it.
 *  2. Holes (rank 0), upwards: a short jump must not lead to padding, and a hole behind
 *     the jump of a host is written after the host, which lies below it.
 *  3. Jumps by level (rank 1 and up): a jump whose window others jump into comes after
 *     these have been led elsewhere.
 *  4. Upwards, so that each page is written once; a pun and the jump whose bytes it
 *     keeps have one rank and one page, and so are written at once.
 *
 * That an entry may stand before its exits does no harm: every thread is stopped, and
 * if we are killed here, calls without exits are ended by the calls around them.
 */
#ifndef INJECTOR_ORDER_H
#define INJECTOR_ORDER_H

#include "injector/ptrace/text.h"
#include "injector/session/session.h"

/* 2 and 3: of a slot of the journal. */
uint8_t order_rank(const struct slot *);
/* For qsort of struct change: the order in which they are written, and the same backwards,
 * in which they are taken out. */
int order_written(const void *a, const void *b);
int order_restored(const void *a, const void *b);
/* How many of `n` changes, in the order of restoring, come before what unwinders are
 * led by. */
size_t order_plain(const struct change *, size_t n);

#endif
