/* SPDX-License-Identifier: MIT */
/* sharers: which processes map the memory of a session, as its forked children do? */
#ifndef INJECTOR_SHARERS_H
#define INJECTOR_SHARERS_H

#include <sys/types.h>

#include "base/base.h"

/* Does this one, by the inode of the session's memory? Asked again if it cannot be told: a process
 * that is not known to share it keeps its probes. */
bool sharers_has(pid_t, ino_t session);

#endif
