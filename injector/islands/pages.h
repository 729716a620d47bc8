/* SPDX-License-Identifier: MIT */
/*
 * pages: which bytes of a process are free for islands? Those left over in the
 * pages of earlier visits, and any that can be mapped.
 */
#ifndef INJECTOR_PAGES_H
#define INJECTOR_PAGES_H

#include "injector/proc/gaps.h"
#include "injector/ptrace/target.h"
#include "payload/abi.h"
#include "plan/plan.h"

struct page {
	raddr_t at;
	bool full;		/* there is no room in it, wherever an island may be */
	uint64_t before[PAGE / 64], used[PAGE / 64];	/* a bit for each byte */
};

/* An island that there is, the place whose jump led there, and the stub that it leads to. */
struct earlier {
	raddr_t site, stub, at;
};

struct pages {
	const struct session *session;	/* of earlier visits, while it is looked at */
	struct page *v;		/* those of earlier visits first */
	size_t n, cap, nold;
	uint32_t *order;	/* indices in v, by address */
	size_t norder, order_cap;
	struct earlier *earlier;	/* by site */
	size_t nearlier, earlier_cap;
	size_t most;		/* pages, so that the target can map more */
	size_t size;		/* bytes of one island */
	struct gaps gaps;	/* where nothing else will want to be */
	struct gaps last;	/* these, and what the heap may come to want late */
};

struct mapping;

/* Is that memory as islands lie in? */
bool pages_like_ours(const struct mapping *);
/* Reads the process and its journal; touches nothing. `heap` is as of gaps_find. */
int pages_find(const struct target *, size_t island_size, uint64_t heap, struct pages *ret);
void pages_clear(struct pages *);
/* Forget what was taken. */
void pages_reset(struct pages *);
/* Is there an island of this place in the set, which leads to that stub (0: to any)? */
bool pages_earlier(const struct pages *, raddr_t site, raddr_t stub, const struct jump_set *,
		   raddr_t *ret);
/* Is there a place in the set and within `reach` that may be free? */
bool pages_may(const struct pages *, const struct jump_set *, struct range reach);
/* Take one, in a page that there is already if that can be. */
bool pages_take(struct pages *, const struct jump_set *, struct range reach, raddr_t *ret);

#endif
