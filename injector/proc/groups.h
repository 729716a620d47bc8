/* SPDX-License-Identifier: MIT */
/*
 * groups: what do the control groups of a process, and those above them, allow?
 * Reads only, in both versions' files, where they are usually mounted; a group that
 * cannot be looked at sets no limit.
 */
#ifndef INJECTOR_GROUPS_H
#define INJECTOR_GROUPS_H

#include <sys/types.h>

#include "base/base.h"

/* Bytes that are left; UINT64_MAX: no limit. */
uint64_t groups_memory(pid_t pid);
/* Nothing of it runs, or can be stopped, before its group is thawed. */
bool groups_frozen(pid_t pid);

#endif
