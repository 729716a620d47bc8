/* SPDX-License-Identifier: MIT */
/* golang: which code of this file did Go's compiler make? */
#ifndef SYMBOLS_GOLANG_H
#define SYMBOLS_GOLANG_H

#include "symbols/image.h"

/*
 * The range from the first of its functions to the end of the last, runtime and
 * assembly included, as the table says that every Go program has, stripped or
 * not. Empty: none. All addresses, if there is a table that says nothing clear.
 */
struct range golang_find(const struct image *);

#endif
