/* SPDX-License-Identifier: MIT */
/* refused: which functions of a selection are not probed, and what is said of that? */
#ifndef INJECTOR_REFUSED_H
#define INJECTOR_REFUSED_H

#include "injector/select.h"

size_t refused_count(const struct selection *);
/*
 * Name the first of them, with their reasons; pieces of other functions, which
 * nobody asks for by name, only where there is room left. `pid` (0: a command's)
 * is where list shows all.
 */
void refused_say(const struct selection *, pid_t pid);

#endif
