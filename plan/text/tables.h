/* SPDX-License-Identifier: MIT */
/*
 * tables: what goal.c, tables.c and indirect.c, which judge where a function's indirect jumps
 * lead, know of jump tables, and of what jumps go by.
 */
#ifndef PLAN_TABLES_H
#define PLAN_TABLES_H

#include "plan/impl.h"

/* The step that names a table. */
struct table {
	size_t step;
	raddr_t base;
};

struct tables {
	struct table *v;	/* of distances, in the order of the steps */
	size_t n, cap;
	struct table *words;	/* of addresses: see by_words */
	size_t nwords, words_cap;
	raddr_t *entries;	/* of these, sorted */
	size_t nentries, entries_cap;
	struct range judged;	/* words that lead inside, up to one that does not; */
	raddr_t out;		/* behind the last of them that may lead out, too */
};

/*
 * goal.c: what sets what the indirect jump `step` goes by, and the step that does: it may
 * be the jump itself.
 */
enum goal goal_find(const struct body *, size_t step, size_t *ret);
/* Does control come to the jump only past the step that sets what it goes by? */
bool goal_is_alone(const struct body *, size_t set, size_t jump);
/* The table of addresses that an indirect jump takes an entry of: its own operand says
 * which, or the instruction that has set its register, if control comes to the jump only past
 * that. 0: nothing says so. */
raddr_t goal_table(const struct body *, size_t step);

/* tables.c: find all tables of a body; their entries become targets. 0 or -ENOMEM. */
int tables_find(struct body *, struct tables *ret);
void tables_clear(struct tables *);
/* Where does the table of addresses there lead? Out, if its first entry does; unsure, if others
 * may call functions. */
enum indirect tables_judge(const struct body *, struct tables *, raddr_t table);
/* Does a table of addresses that the body names lead inside, and between such entries out? */
bool tables_lead_both_ways(const struct body *);
/* The same as tables_judge of a table of distances from there: to functions, too? */
enum indirect tables_judge_distances(const struct body *, raddr_t table);

#endif
