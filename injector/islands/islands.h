/* SPDX-License-Identifier: MIT */
/*
 * islands: where do punned jumps land?
 *
 * A pun (plan/choose/pun.c) leads where the bytes say that it keeps. Memory is found
 * there: a page with a jump to the stub, shared with other islands if it can
 * be. If what it keeps are bytes of another site's jump, that one may have to
 * land on an island, too.
 */
#ifndef INJECTOR_ISLANDS_H
#define INJECTOR_ISLANDS_H

#include "injector/islands/pages.h"
#include "injector/modules/select.h"
#include "injector/ptrace/target.h"

struct island_page {
	raddr_t at;
	bool mapped;		/* set by infect() */
};

struct islands {
	struct island_page *pages;	/* to be mapped, ascending; owned */
	size_t n, cap;
};

/*
 * Choose an island for each site of the selection that needs one, in pages of
 * earlier visits or new ones: sets the sites' island, prefix, jump.len and
 * kept. Exits without one are given up, functions whose entry is, refused.
 * Touches nothing.
 */
int islands_choose(const struct target *, struct selection *, struct islands *ret);
/* Give up what was to land on a page that could not be mapped after all. */
void islands_check(const struct islands *, struct selection *);
void islands_clear(struct islands *);

/* How far the heap may come to reach, as of gaps_find. */
uint64_t islands_heap(pid_t, const struct selection *);
/* Leave the room that stubs will need out of the gaps between these. rooms: where that is, for each
 * module of the selection; empty: it needs none, or there is none. */
int islands_leave(pid_t, const struct selection *, struct pages *, struct range *rooms);

/* Run-time address of a site's island, 0 if it has none. */
static inline raddr_t island_of(const struct placed_site *s, const struct module *m)
{
	return s->island ? s->island + m->bias : 0;
}

/* The jump that stands on it, to the stub; its size, or -ERANGE. */
static inline int island_code(const struct placed_site *s, uint8_t *out)
{
	return plan_island(arch_host(), s, out);
}

#endif
