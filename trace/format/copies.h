/* SPDX-License-Identifier: MIT */
/*
 * copies: what marks tell of copies of inlined functions, as text of the metadata.
 *
 *	copy_12 = "begins as 7";	a copy begins there, and is told as function 7
 *	copy_14 = "with 13 14 17";	where its mark is these copies begin, the outermost first
 *	copy_20 = "hidden ends 12 !15";	those of 12 and 15 have ended where this one is, 15 by an
 *					exception; it was not asked for itself
 */
#ifndef TRACE_COPIES_H
#define TRACE_COPIES_H

#include <stdio.h>

#include "trace/format/metadata.h"

/* Nothing, if there is nothing to say. */
void copies_put(FILE *, size_t id, const struct reader_func *);
/* Read the value of one; what it says of ends is owned by the metadata. 0 or -ENOMEM. */
int copies_take(struct metadata *, struct reader_func *, const char *value);

#endif
