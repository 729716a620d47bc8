/* SPDX-License-Identifier: MIT */
/* counts: how often was each function called, where the target itself counts? */
#ifndef INJECTOR_COUNTS_H
#define INJECTOR_COUNTS_H

#include "injector/reader.h"
#include "trace/output.h"

struct counts;

/* Of the functions of a session that is counting. The reader outlives it. */
int counts_new(const struct reader *, const struct reader_func *funcs, size_t nfuncs,
	       struct counts **ret);
void counts_free(struct counts *);	/* NULL is legal */
/* There are more functions now, and the old ones have their places. 0 or -ENOMEM. */
int counts_name(struct counts *, const struct reader_func *funcs, size_t nfuncs);
/* Take what all threads have counted up to now: calls of all functions together. */
uint64_t counts_take(struct counts *);
/* What was taken last, of the functions that were called, most calls first. */
void counts_print(struct counts *, struct output *, bool json);

/* Where counters of so many functions find room: bytes per thread. */
uint64_t counts_room(uint64_t nfuncs);

#endif
