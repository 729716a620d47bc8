/* SPDX-License-Identifier: MIT */
/*
 * units: which entry of the debug information is the function at this address?
 *
 * Of each unit only the ranges are read, until a function of its is asked for: then its
 * functions are listed, once. (.debug_aranges is not asked: clang leaves it out, and linkers
 * lose parts of it.)
 */
#ifndef SYMBOLS_UNITS_H
#define SYMBOLS_UNITS_H

#include "base/base.h"
#include "symbols/elf/debuginfo.h"
#include "values/signature.h"

/* A function with code, and a type that is defined. */
struct unit_func {
	raddr_t at;
	Dwarf_Die die;
};

struct unit_type {
	const char *name;	/* libdw's */
	int tag;
	Dwarf_Die die;
};

struct unit {
	Dwarf_Die die;			/* in the file that has its lines */
	struct unit_func *funcs;	/* by address */
	size_t nfuncs, funcs_cap;
	struct unit_type *types;	/* by name */
	size_t ntypes, types_cap;
	bool listed;
	bool judged, optimised;
	uint8_t language;		/* enum signature_language */
	bool is_cxx;
	bool is_told_otherwise;		/* of gcc: whether to follow variables through functions */
	int clang;			/* its version, or LLVM's; 0: another compiler */
	int rustc;			/* the number behind "1."; 0: another compiler */
};

struct units;

/* Of a file's main debug information, which stays the caller's, and open. 0 or -ENOMEM. */
int units_open(struct debuginfo *, struct units **ret);
void units_close(struct units *);
/* The functions that start at `at`: the first in *ret, and how many; 0: none is known. */
size_t units_func(struct units *, raddr_t at, struct unit **unit, const struct unit_func **ret);
/* The only type of that name and tag that the unit defines; NULL if there are none, or several. */
Dwarf_Die *units_type(struct unit *, int tag, const char *name);
/* Does anything in a function, of the source or inlined, have a list of locations? */
bool units_has_lists(Dwarf_Die *function);
/* Is the unit, which the entry is of, optimised, as far as where its parameters are tells? */
bool units_optimised(struct unit *, Dwarf_Die *);

#endif
