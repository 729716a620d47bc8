/* SPDX-License-Identifier: MIT */
/* sections: which of a file's bytes are data, as it says itself? */
#ifndef SYMBOLS_SECTIONS_H
#define SYMBOLS_SECTIONS_H

#include "symbols/elf/image.h"
#include "symbols/symbols.h"

/* Find `tabled` and `untabled`. 0 or -ENOMEM. */
int sections_find(const struct image *, struct symbols *ret);

#endif
