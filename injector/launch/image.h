/* SPDX-License-Identifier: MIT */
/* image: a process has executed another program: is that complete already? */
#ifndef INJECTOR_IMAGE_H
#define INJECTOR_IMAGE_H

#include "base/base.h"

#include <sys/types.h>

/*
 * Wait until its loader's list of libraries is complete, so that the first look at
 * it finds them; for as long as that may take, and no longer than `cancelled` or a
 * second. What cannot be found out is left to the next look: no thread that
 * stands in a loader is ever borrowed.
 */
void image_wait(pid_t pid, bool (*cancelled)(void));

#endif
