/* SPDX-License-Identifier: MIT */
/*
 * unmap: step 11: the addresses of the rings are given back.
 *
 * A gigabyte of addresses is more than a process may have that limits itself, or a child that it
 * forks. The journal stays, with what a later visit can do with: the next one grows again where
 * there is room behind it.
 *
 * Why no thread comes to a ring afterwards: no jump of ours stands, and all gates are closed, so a
 * thread that is in no code of ours stays out of it, or leaves it at the gate. In one stop all
 * threads are looked at, and what signal handlers have interrupted on their stacks. What a handler
 * has left on a stack that no thread is on, to go on later, is sought in all memory. A process that
 * has too much of that keeps the addresses, and so does one whose probed calls were seen to change
 * stacks.
 */
#ifndef INJECTOR_UNMAP_H
#define INJECTOR_UNMAP_H

#include "injector/patch/remove.h"

/*
 * In the process `pid`, which the caller has claimed, and in each forked child: by `session`,
 * `since` and `max_pause`. The removal has succeeded, the session is closed, and all that is
 * wanted of its rings was read. Where it cannot be, or a thread does not leave our code, all stays
 * as it was: that is no error, and what has failed before is still to be told. longest_pause,
 * repaired and shortened go on.
 */
void unmap_rings(pid_t pid, struct removal *);

#endif
