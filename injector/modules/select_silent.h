/* SPDX-License-Identifier: MIT */
/* select_silent: which functions are probed though they were not asked for, and not recorded? */
#ifndef INJECTOR_SELECT_SILENT_H
#define INJECTOR_SELECT_SILENT_H

#include "injector/modules/select.h"

/* May a module have one though nothing of it is wanted? */
bool silent_may_have(const struct select_options *, const struct module *);
bool silent_is_one(const struct select_options *, const struct symbols *, const struct func *);
/* Do unwinders ask it about frames? */
bool silent_finds(const struct func *);
/* Does a process put itself under a seccomp filter by it, unless it has an instruction of its own
 * for that? */
bool silent_guards(const struct symbols *, const struct func *);

#endif
