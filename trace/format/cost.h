/* SPDX-License-Identifier: MIT */
/* cost: how much of a recorded time is the recording's own? */
#ifndef TRACE_COST_H
#define TRACE_COST_H

#include "base/base.h"

/* Of one call, in thousandths of a tick; all 0: not known. */
struct probe_cost {
	uint64_t pair;		/* what recording entry and exit takes */
	uint64_t inside;	/* the part of it between the two time stamps */
	uint64_t mark;		/* what recording an entry alone takes */
};

static inline bool cost_is_known(const struct probe_cost *c)
{
	return c->pair != 0;
}

#endif
