/* SPDX-License-Identifier: MIT */
/*
 * cursor: what is the next number in these bytes?
 *
 * Reads the variable-length numbers and encoded pointers of .eh_frame and
 * .gcc_except_table. Running out of bytes sets `bad` and yields zeros from
 * then on, so that a parser checks once, at its end.
 */
#ifndef SYMBOLS_CURSOR_H
#define SYMBOLS_CURSOR_H

#include "base/base.h"

struct cursor {
	const uint8_t *p, *end;
	raddr_t addr;		/* link-time address of *p */
	bool bad;
};

/* DW_EH_PE_*: how a pointer is stored, and what it is relative to. */
enum {
	PE_ABS = 0x00, PE_ULEB = 0x01, PE_U2 = 0x02, PE_U4 = 0x03,
	PE_U8 = 0x04, PE_SLEB = 0x09, PE_S2 = 0x0a, PE_S4 = 0x0b, PE_S8 = 0x0c,
	PE_PCREL = 0x10, PE_TEXTREL = 0x20, PE_DATAREL = 0x30,
	PE_FUNCREL = 0x40, PE_ALIGNED = 0x50,
	PE_INDIRECT = 0x80, PE_OMIT = 0xff,
};

/* What TEXTREL, DATAREL and FUNCREL pointers are relative to. */
struct pointer_bases {
	raddr_t text, data, func;
};

/* An integer of `size` <= 8 bytes, least significant first. */
uint64_t cursor_uint(struct cursor *, size_t size);
uint64_t cursor_uleb(struct cursor *);
int64_t cursor_sleb(struct cursor *);
void cursor_skip(struct cursor *, uint64_t n);
/* The next `n` bytes as a cursor of their own. */
struct cursor cursor_take(struct cursor *, uint64_t n);

/*
 * A pointer stored as `encoding` says. The value of an INDIRECT one is where
 * the pointer is to be found. 0 stays 0: that is how a null pointer is stored.
 */
raddr_t cursor_pointer(struct cursor *, uint8_t encoding,
		       const struct pointer_bases *);

static inline size_t cursor_left(const struct cursor *c)
{
	return c->end - c->p;
}

#endif
