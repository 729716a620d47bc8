/* SPDX-License-Identifier: MIT */
/* select_around: the functions that places for tracers (USDT) lie in. A program whose symbols were
 * stripped still says where these are, and its unwind entries say where functions begin. */
#ifndef INJECTOR_SELECT_AROUND_H
#define INJECTOR_SELECT_AROUND_H

#include "injector/modules/select_place.h"

/* Set names[i] of each function of the module, by its index in the symbols, that has a place which
 * one of the patterns means, and no name yet: to its own name, or to that of the place if it has
 * none. *n grows by how many these are; `matched` is set of patterns. A module whose symbols were
 * not read has none. */
void around_add(struct pattern *, size_t npatterns, struct module *, const char **names, size_t *n);

#endif
