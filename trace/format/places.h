/* SPDX-License-Identifier: MIT */
/* places: which places of a table of functions have one name, and so are one function to users? */
#ifndef TRACE_PLACES_H
#define TRACE_PLACES_H

#include "trace/format/event.h"

/* Of each the first place of its name, which may be itself: *ret is the caller's to free. Functions
 * that share a name stay apart; so do places without values: reader_func.as has joined those. 0 or
 * -ENOMEM. */
int places_first(const struct reader_func *, size_t nfuncs, uint32_t **ret);

#endif
