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

#endif
