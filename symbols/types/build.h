/* SPDX-License-Identifier: MIT */
/* build: from entries of the debug information, the types of a signature. */
#ifndef SYMBOLS_BUILD_H
#define SYMBOLS_BUILD_H

#include "symbols/types/units.h"
#include "values/signature.h"

enum {
	BUILD_POINTERS = 3,	/* pointers behind pointers: what is further on is a name */
};

/* An entry and the type that it has become. */
struct built {
	const void *at;		/* libdw's */
	uint32_t type;
	unsigned int left;	/* how far from it other types were followed */
};

struct building {
	struct signature *s;
	struct unit *unit;
	struct built *built;
	size_t nbuilt, built_cap;
	size_t left;		/* entries that may still be looked at */
	/* The type of an entry: types are made of types, in other files. */
	uint32_t (*build)(struct building *, Dwarf_Die *, unsigned int pointers,
			  unsigned int nested);
};

void build_begin(struct building *, struct signature *, struct unit *);
void build_end(struct building *);
/* The type of an entry that has DW_AT_type, also by what it refers to; void if it has none. */
uint32_t build_type_of(struct building *, Dwarf_Die *die);

/* ---- struct_build.c ------------------------------------------------------ */

/* Fill in members, and whether it is passed by a pointer. */
void build_struct(struct building *, Dwarf_Die *die, uint32_t type, unsigned int pointers,
		  unsigned int nested);
void build_enum(struct building *, Dwarf_Die *die, struct type *);
/* ---- member.c ------------------------------------------------------------ */

/* As wide as the type, and with its sign. */
int64_t enumerator_as(const struct type *, int64_t value);

/* What is in a structure: the members' own types are built meanwhile, so that theirs come between.
 * They are collected, and listed when all are known. */
enum { BUILD_LISTED = 512 };	/* members or enumerators of one type */

struct members {
	struct member v[BUILD_LISTED];
	size_t n;
};

/* Of an entry that is a member, in a structure of that size; false: something is not known of
 * where it is. */
bool build_member(struct building *, Dwarf_Die *die, const struct type *, struct member *);

/* ---- variant_build.c ----------------------------------------------------- */

/* Of the DW_TAG_variant_part of a structure: its variants. False if not all is known of them; then
 * nothing is changed. */
bool build_variants(struct building *, Dwarf_Die *part, struct type *, unsigned int pointers,
		    unsigned int nested);
/* The type argument of that name; 0: it has none. */
uint32_t build_argument(struct building *, Dwarf_Die *die, const char *name,
			unsigned int pointers, unsigned int nested);

/* ---- passing.c ----------------------------------------------------------- */

/* By a pointer to a copy? `told`: the debug information says it, of what it is made of, too. */
bool class_is_indirect(struct unit *, Dwarf_Die *class, bool *told);

/* ---- results.c ----------------------------------------------------------- */

enum { RESULTS_MAX = 8 };

struct results {
	struct member v[RESULTS_MAX];
	size_t n;
	uint64_t size;
};

bool is_go_result(struct building *, Dwarf_Die *param);
/* A result without a name is called by its number, and told twice where Go has optimised. */
bool results_has(const struct results *, const char *name);
/* False: there are too many, or too large ones. */
bool results_add(struct building *, Dwarf_Die *param, struct results *);
/* Void, the only one, or a structure that has no name but "(". */
uint32_t results_type(struct building *, const struct results *);

/* ---- die.c --------------------------------------------------------------- */

/* The type of what has DW_AT_type; `pointers` and `nested` say how far others are followed. */
uint32_t build_die_type(struct building *, Dwarf_Die *die, unsigned int pointers,
			unsigned int nested);
bool die_number(Dwarf_Die *die, unsigned int attribute, uint64_t *ret);
bool die_signed(Dwarf_Die *die, unsigned int attribute, int64_t *ret);
bool die_type(Dwarf_Die *die, Dwarf_Die *ret);
bool die_flag(Dwarf_Die *die, unsigned int attribute);

#endif
