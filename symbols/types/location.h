/* SPDX-License-Identifier: MIT */
/* location: where is a parameter at the function's entry, as the debug information has it? */
#ifndef SYMBOLS_LOCATION_H
#define SYMBOLS_LOCATION_H

#include <elfutils/libdw.h>

#include "values/signature.h"

/*
 * A register, the value that a register has at the entry, or pieces of those, at `entry`, are
 * what is told. A place in memory is not true before the prologue has made the frame: that is
 * PLACE_BY_TYPE. Nothing at the entry is PLACE_GONE. `size` is the value's.
 */
void location_at(Dwarf_Die *param, raddr_t entry, uint16_t machine, uint64_t size,
		 struct place *ret);

/* A place within a function. */
struct frame_now {
	Dwarf_Die *function;		/* with code: it has the frame base */
	raddr_t pc;
	raddr_t bias;			/* of the module: where its variables are */
	bool early;			/* the frame is not made yet */
	bool begins;			/* an inlined function begins there: what is said to be true
					 * for no instruction, but there, is true */
	bool has_cfa;
	uint64_t cfa_register;		/* the CFA is where this points to, and so much further */
	int64_t cfa_offset;
};

/* Where a variable or parameter is there: in registers, memory, or nowhere (PLACE_GONE). */
void location_now(Dwarf_Die *variable, const struct frame_now *, uint16_t machine, uint64_t size,
		  struct place *ret);

#endif
