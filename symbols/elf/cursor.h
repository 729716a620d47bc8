/* SPDX-License-Identifier: MIT */
/*
 * cursor: what is the next number in these bytes?
 *
 * Reads the variable-length numbers and encoded pointers of .eh_frame and
 * .gcc_except_table, for which no library has a function that one may call.
 * Running out of bytes sets `bad` and yields zeros from then on, so that a
 * parser checks once, at its end.
 */
#ifndef SYMBOLS_CURSOR_H
#define SYMBOLS_CURSOR_H

#include <dwarf.h>

#include "base/base.h"

struct cursor {
	const uint8_t *p, *end;
	raddr_t addr;		/* link-time address of *p */
	bool bad;
};

/* An integer of `size` <= 8 bytes, least significant first. */
uint64_t cursor_uint(struct cursor *, size_t size);
uint64_t cursor_uleb(struct cursor *);
int64_t cursor_sleb(struct cursor *);
void cursor_skip(struct cursor *, uint64_t n);
/* The next `n` bytes as a cursor of their own. */
struct cursor cursor_take(struct cursor *, uint64_t n);

/*
 * A pointer stored as `encoding` (DW_EH_PE_*) says: absolute, or relative to
 * where it stands. Nothing else occurs on the machines that we know, and is
 * bad. 0 stays 0: that is how a null pointer is stored.
 */
raddr_t cursor_pointer(struct cursor *, uint8_t encoding);

static inline size_t cursor_left(const struct cursor *c)
{
	return c->end - c->p;
}

#endif
