/* SPDX-License-Identifier: MIT */
/* cost: what does it cost to record a call, on this machine and now? */
#ifndef INJECTOR_COST_H
#define INJECTOR_COST_H

#include "trace/format/cost.h"

/* Where threads have a word by which they find their ring, and where they are sought. */
struct cost {
	struct probe_cost local, sought;
};

/* Measured with the payload and stubs, in a child of ours; a millisecond or two. Zeros
 * where that cannot be. The caller has no other children that end meanwhile. */
void cost_measure(struct cost *ret);

#endif
