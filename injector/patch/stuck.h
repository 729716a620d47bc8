/* SPDX-License-Identifier: MIT */
/*
 * stuck: some jumps cannot be taken out, for another tool has written over them
 * and may put them back. Which others have to stay with them? Those that share their bytes,
 * and, of their functions, those that they lead through, or that would lead into their middle.
 */
#ifndef INJECTOR_STUCK_H
#define INJECTOR_STUCK_H

#include "injector/ptrace/text.h"

enum fate {
	FATE_GOES,		/* stands, and is to be taken out */
	FATE_STAYS,		/* cannot be, or must not */
	FATE_NONE,		/* does not stand */
};

/*
 * From the changes that undo the probes, in the order in which they are made (the
 * highest rank first, of one rank the highest address), and the fate of each as
 * far as it depends on nothing else: which of those that could go have to stay?
 * 0 or -ENOMEM.
 */
int stuck_spread(const struct change *, size_t n, uint8_t *fate);

#endif
