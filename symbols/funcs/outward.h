/* SPDX-License-Identifier: MIT */
/*
 * outward: which places of other files do the relocations of a file name?
 */
#ifndef SYMBOLS_OUTWARD_H
#define SYMBOLS_OUTWARD_H

#include "symbols/symbols.h"

/* The next distance from the symbol of this name, whatever file defines it; *at: SIZE_MAX for
 * the first, and then as it was left. False: there is no other. */
bool outwards_next(const struct outwards *, const char *name, size_t *at, int64_t *distance);

#endif
