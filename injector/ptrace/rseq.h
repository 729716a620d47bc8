/* SPDX-License-Identifier: MIT */
/*
 * rseq: is this thread inside a restartable sequence, and where does it have what belongs to them?
 *
 * A PC that is changed there makes the kernel forget the sequence, which would
 * then go on unprotected.
 */
#ifndef INJECTOR_RSEQ_H
#define INJECTOR_RSEQ_H

#include "injector/modules/modules.h"
#include "injector/ptrace/target.h"

/*
 * Of a stopped thread whose registers were read, so by the PC that it has now.
 * True also when the sequence that it names cannot be read. False where the
 * kernel cannot tell (before 5.13).
 */
bool rseq_is_inside(const struct target *, const struct thread_hold *);

/* How far from its thread pointer has each thread the area in which the kernel keeps the number of
 * its processor? By what the C library tells. 0: it does not. */
int64_t rseq_place(const struct target *, const struct modules *);

#endif
