/* SPDX-License-Identifier: MIT */
/* gaps: where in a process is memory free, and not in anybody's way? */
#ifndef INJECTOR_GAPS_H
#define INJECTOR_GAPS_H

#include <sys/types.h>

#include "base/base.h"

struct gaps {
	struct range *v;	/* ascending, whole pages; owned */
	size_t n, cap;
	size_t mappings;	/* between them */
};

/* All gaps of a process but what its heap or its main stack may grow into, and
 * with a little distance from every mapping. */
int gaps_find(pid_t pid, struct gaps *ret);
void gaps_clear(struct gaps *);

#endif
