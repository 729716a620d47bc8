/* SPDX-License-Identifier: MIT */
/* list: how would each selected function be probed, or why not? */
#ifndef INJECTOR_LIST_H
#define INJECTOR_LIST_H

#include "injector/modules/select.h"
#include "trace/output/output.h"

/*
 * One line for each function, columns separated by tabs: address (hex, as in
 * the file), size, module, function, tactic of the entry, exits, and where the
 * address has more names their symbols, separated by spaces. Exits are
 * "3 jump, 1 short", "never returns", or "entry-only: REASON"; of a refused
 * function these two columns are "refused" and the reason, of the resolver of
 * an indirect function "ifunc" and "resolver". Names of reasons are
 * those of inject(1). Of a place within a function the address is its own, the size "-", and in
 * place of exits stands "mark"; of one for tracers (USDT) "semaphore 0xADDRESS" or "no semaphore"
 * and its arguments follow. Writes as it goes, and waits for the reader; 0 or -errno,
 * -EPIPE when no more is wanted.
 */
struct list_more {		/* behind each line, lines that begin with two spaces: */
	/* which values it takes and returns: show/list_values.h; NULL: not that */
	const struct compile_options *values;
	bool stubs;		/* what would be written: show/stubs.h */
};

int list_print(const struct selection *, struct list_more, struct output *);
#define X(id, word, text) + 1
enum { LIST_REASONS = 0 REFUSALS(X), LIST_TACTICS = TACTICS };
#undef X

/* Functions per tactic and per reason; of one file, or of several. */
struct list_totals {
	size_t functions, refused, entry_only, resolvers, fragments;
	size_t entries[LIST_TACTICS], exits[LIST_TACTICS];
	size_t refusals[LIST_REASONS], entry_onlys[LIST_REASONS];
	/* Places within functions are none of them. */
	size_t places, marks[LIST_TACTICS], unmarked[LIST_REASONS];
};

void list_count(const struct selection *, struct list_totals *);
/* On standard error, behind `of` (the name of a file; NULL: nothing). */
void list_say(const char *of, const struct list_totals *);

/* Say of each module whether it has instructions of which it is not known where they lead,
 * and which if `each` is wanted: see struct plan. */
void list_say_doubts(const struct selection *, bool each);

#endif
