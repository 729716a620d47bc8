/* SPDX-License-Identifier: MIT */
/* select_place: which places within functions does the user mean? By a distance from where a
 * function begins, or by the name that the file's makers gave them (USDT). */
#ifndef INJECTOR_SELECT_PLACE_H
#define INJECTOR_SELECT_PLACE_H

#include "injector/modules/modules.h"
#include "symbols/funcs/usdt.h"
#include "symbols/names/demangle.h"

struct marked_place {
	const struct func *func;	/* whose code it is in */
	raddr_t pc;			/* link-time */
	const char *name;		/* under which the function matched; NULL: see the others */
	const struct usdt_site *site;	/* of the module; NULL: it is none */
	const char *line;		/* FILE:LINE as it was typed; NULL: it was not */
	const char *inlined;		/* the name of a function of which a copy begins here; NULL:
					 * that is not why */
	uint64_t die;			/* of that: see symbols/lines/inlined.h; 0 */
	bool begins;			/* it is known where that copy ends: see select_copies.h */
	bool ends;			/* copies have ended where control comes here; */
	bool hidden;			/* and that is why it is marked: it was not asked for */
	bool with;			/* a copy that begins where another place is, whose mark
					 * tells of it, too; it comes behind that one */
};

/* Where a copy has ended. */
struct copy_end {
	raddr_t begin;			/* the copy's place, */
	uint64_t die;			/* where there may be others */
	raddr_t at;			/* a place, too */
	bool optional;			/* others tell it, as a rule */
};

struct marked_places {
	struct marked_place *v;
	size_t n, cap;
	struct copy_end *ends;
	size_t nends, ends_cap;
};

/* One more, unless there is one; which one that was not asked for is not. 0 or -ENOMEM. */
int places_add(struct marked_places *, struct marked_place);
/* One more copy, which begins where a place is that was asked for. 0 or -ENOMEM. */
int places_add_with(struct marked_places *, struct marked_place);
/* Have those that are so in order behind what they begin with. 0 or -ENOMEM. */
int places_order(struct marked_places *);
/* Those in a range. */
void places_drop(struct marked_places *, struct range);
/* Under which it is printed; NULL: no memory. */
const char *place_name(const struct marked_place *, struct strings *made);

/* Does an instruction begin so many bytes behind the function's start? Where its code is read as
 * one instruction behind the other. */
bool place_begins(const struct symbols *, const struct func *, uint64_t offset);
/* The offsets of the last that begins before it and of the first that begins behind it, in
 * the function; SIZE_MAX where there is none. */
void place_nearest(const struct symbols *, const struct func *, uint64_t offset, uint64_t *before,
		   uint64_t *behind);

/* Has this module a site that one of the patterns, of PROVIDER:NAME, means? */
bool places_want(const struct pattern *usdt, size_t n, struct module *);
bool place_is_meant(const struct pattern *usdt, struct module *, const struct usdt_site *);
/* Add them. A site that is in no function is none: see place_owner. `matched` is set of patterns.
 * The symbols have been read if places_want. */
int places_add_usdt(struct marked_places *, struct pattern *usdt, size_t n, struct module *);
/* Whose code a site is in, NULL if that is not known. */
const struct func *place_owner(const struct symbols *, raddr_t pc);

#endif
