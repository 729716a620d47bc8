/* SPDX-License-Identifier: MIT */
/* losses: of which threads were events lost, and when last? */
#ifndef TRACE_LOSSES_H
#define TRACE_LOSSES_H

#include "base/base.h"

struct losses {
	struct loss *buckets[256];
};

/* The event number `seen` says so. 0 or -ENOMEM. */
int losses_note(struct losses *, uint32_t thread, uint64_t seen);
/* The number of the last that has said so; 0: none has. */
uint64_t losses_last(const struct losses *, uint32_t thread);
void losses_clear(struct losses *);

#endif
