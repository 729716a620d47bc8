/* SPDX-License-Identifier: MIT */
/*
 * haste: who goes first, inject or what else wants the processors?
 *
 * What inject does before probes are in, and to take them out, is a fraction of
 * a second of work; but where hundreds of threads compete, an equal share of a
 * processor makes minutes of it, through which the target pays for its probes.
 * So it takes a larger share then, and an equal one while it reads and waits,
 * which goes on as long as the target makes calls.
 */
#ifndef INJECTOR_HASTE_H
#define INJECTOR_HASTE_H

#include "base/base.h"

/* For this thread and those that it starts from now on. A niceness that we were
 * given stays; where more is not permitted nothing happens. */
void haste(bool on);

#endif
