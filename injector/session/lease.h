/* SPDX-License-Identifier: MIT */
/*
 * lease: how does the payload learn that no inject reads any more?
 *
 * A program that was killed says nothing. But the kernel does, for a thread that
 * holds a robust futex: when our main thread has ended, however that was, it sets a bit in
 * a word of the session. The payload looks at it where it has time to: with each
 * sub-buffer that it begins, and at each call while the ring is full. So recording
 * goes on for the rest of one sub-buffer per thread, and then is off.
 *
 * An inject that is stopped (Ctrl-Z) has not ended, and nothing is switched off.
 */
#ifndef INJECTOR_LEASE_H
#define INJECTOR_LEASE_H

#include "base/base.h"

/* On the main thread, which is the last one to end. */
int lease_begin(void);
/* From now on the word `reader` of a session in shared memory says whether we
 * live; NULL: none does. From any thread. */
void lease_give(uint32_t *reader);

#endif
