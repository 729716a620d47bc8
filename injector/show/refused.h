/* SPDX-License-Identifier: MIT */
/* refused: which functions of a selection are not probed, and what is said of that? */
#ifndef INJECTOR_REFUSED_H
#define INJECTOR_REFUSED_H

#include "injector/modules/select.h"

size_t refused_count(const struct selection *);
/*
 * Name the first of them, with their reasons, and how many more there are. Pieces of other
 * functions, which no user asks for by name, are counted only. `all`: name each of both.
 * `pid` (0: a command's) is where list shows all.
 */
void refused_say(const struct selection *, pid_t pid, bool all);

#endif
