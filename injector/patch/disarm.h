/* SPDX-License-Identifier: MIT */
/*
 * disarm: take some functions' probes out while the others stay in.
 *
 * A function goes as a whole, and with it those whose punned jumps keep bytes
 * that its own jumps have written: these would lead anywhere without it. What a
 * thread has begun in a stub it ends there, as at any removal.
 */
#ifndef INJECTOR_DISARM_H
#define INJECTOR_DISARM_H

#include "injector/patch/probes.h"
#include "injector/patch/remove.h"

/* Of the functions in `in` (by id, live->nfuncs of them) and of all that have to go
 * with one of them: sets those in `in`, too. 0 or -ENOMEM. */
int disarm_spread(const struct live *, bool *in);
/* The changes that take these functions out, in the order in which they are to be
 * made. Owned by the caller. 0 or -ENOMEM. */
int disarm_list(const struct live *, const bool *in, struct change **ret, size_t *n);
/*
 * Make them, in short stops: `max_pause` is kept. 0, or -errno: -EBUSY or -EAGAIN
 * when some are left in the list, and another time may do; -EPERM when another
 * tool has written over one of them, and nothing was done. What stands no more is left
 * out.
 */
int disarm(struct target *, struct change *, size_t *n, uint64_t max_pause);

#endif
