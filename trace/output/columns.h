/* SPDX-License-Identifier: MIT */
/* columns: what does a table show where there is no room for all of it? */
#ifndef TRACE_COLUMNS_H
#define TRACE_COLUMNS_H

#include "base/base.h"

/* Its columns but the last, which has names: each of so many characters, two blanks
 * before it. */
struct columns {
	size_t n;		/* at most 32 */
	const int *width;	/* n of them */
	const int *spare;	/* all n: what goes first, first */
	unsigned int hidden;	/* bits of those that are not shown however wide it is */
};

/* A bit for each column to be shown in lines of `wide` characters (0: as long as they
 * get), so that names have some of them, too. `key`, by which the table is sorted, stays. */
unsigned int columns_fit(const struct columns *, size_t wide, int key);

#endif
