/* SPDX-License-Identifier: MIT */
/*
 * select: which functions of which modules does the user mean, and how would
 * each be probed? One plan per module that has a match. Touches nothing.
 */
#ifndef INJECTOR_SELECT_H
#define INJECTOR_SELECT_H

#include "injector/modules/select_place.h"
#include "plan/placement.h"
#include "symbols/names/demangle.h"

/* The matches of one module: functions, and behind them places within functions, which may be the
 * same. */
struct selected {
	struct module *module;
	struct marked_place *places;	/* the last of these n; owned */
	size_t nplaces;
	struct copy_end *ends;	/* of copies that begin and end at some of them; owned */
	size_t nends;
	const struct func **funcs;	/* n of them, and `nsilent` more, of which nothing is
					 * recorded */
	const char **names;	/* under which each is printed: the name that
				 * matched first, with @module where two
				 * modules share it. Owned by the symbols, or by
				 * the selection */
	size_t n, nsilent;
	const struct plan *plan;	/* probes[i] is funcs[i]'s, of all */
	struct placed_probe *probes;	/* its placement in this process */
	size_t nprobes;
};

struct selection {
	struct selected *v;
	size_t n, cap;
	size_t nfuncs;		/* over all modules */
	size_t nhidden;		/* places that were not asked for: see marked_place */
	bool unpaired;		/* of some the language has a runtime: the reader pairs
				 * their calls */
	struct strings made;	/* names that are no symbol's */
	struct valued **valued;	/* of its probes: see valued.h */
	size_t nvalued, valued_cap;
	char unread[256];	/* why the first module that was wanted, and
				 * not read, could not be; "" if none */
};

struct select_options {
	/* `matched` of each is set by select_functions. */
	struct pattern *include;	/* none, nor one of the others: all that is allowed */
	size_t ninclude;
	struct pattern *exclude;
	size_t nexclude;
	struct pattern *usdt;	/* of PROVIDER:NAME; `matched` is set, too */
	size_t nusdt;
	struct pattern *around;	/* of PROVIDER:NAME: functions that have such a place; the same */
	size_t naround;
	struct pattern *at;	/* of FILE:LINE, whose number is `offset`; the same */
	size_t nat;
	bool inlined;		/* copies that were inlined, too, of what `include` matches; */
	bool ends;		/* and where they end */
	bool entry_only;
	bool timed;		/* calls are paired in the target, where all can be: see
				 * `unpaired`. Where some come later they are counted only */
	bool later;		/* some were selected before */
	bool traps;
	uint64_t caught;	/* signals, as plan_options has it */
	bool short_names;	/* print them without arguments of templates: shorten.h */
	/* Probe these, too: see struct placed_probe. */
	bool finders;		/* what unwinders ask */
	bool guards;		/* by what a process puts itself under a seccomp filter */
	void (*progress)(void *ctx, const char *what, size_t done, size_t total);
	void *ctx;
};

/* The place that is meant by number i; NULL: a function is. */
static inline const struct marked_place *selected_place(const struct selected *s, size_t i)
{
	size_t nfuncs = s->n - s->nplaces;

	return i >= nfuncs && i < s->n ? &s->places[i - nfuncs] : NULL;
}

/* Was it not asked for? */
static inline bool selected_is_hidden(const struct selected *s, size_t i)
{
	const struct marked_place *place = selected_place(s, i);

	return place && place->hidden;
}

/*
 * Functions that match, planned. A module whose symbols cannot be read is left
 * out; select_hint names it. Fragments are never selected; functions that
 * the payload, the loader or the unwinder needs are selected and refused as
 * RESERVED. An indirect function is the one that the process uses; where none is
 * known to be, its resolver is selected and refused as IFUNC. 0 also when nothing
 * matched (ret->n == 0): select_hint then says what was meant, perhaps.
 */
int select_functions(struct modules *, struct select_options *,
		     struct selection *ret);
void select_clear(struct selection *);
/* Lines of advice for patterns that matched nothing: nearest names, where was
 * searched, regular-expression habits. Without "inject: ", separated by
 * newlines: say_lines() says them. Owned by the caller; NULL if none. To be
 * called after select_functions. */
char *select_hint(struct modules *, const struct select_options *);

/* The base name of the executable, if neither symbols nor unwind entries tell of
 * most of its code; else NULL. */
const char *select_unnamed(const struct modules *);

/* Must this function be left alone, also if it is asked for? REFUSED_NONE if not;
 * LEFT_OTHERWISE: its exits must. select_functions asks this itself. */
enum refusal select_reserved(const struct module *, const struct func *);
/* Does it hold the C library, or the loader? */
bool select_is_system(const struct module *);

#endif
