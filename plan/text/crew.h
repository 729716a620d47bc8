/* SPDX-License-Identifier: MIT */
/*
 * crew: the same work on many parts of a module, by as many threads as there are
 * processors.
 *
 * Each part has a plan_impl of its own: a copy, but for the lists that its work adds to. What
 * it has found is joined in the order of the parts, so that it does not matter how many
 * threads there are, or which of them is faster.
 */
#ifndef PLAN_CREW_H
#define PLAN_CREW_H

#include "plan/impl.h"

struct crew_work {
	/* Let the lists of the copy be empty that the work adds to. May be NULL. */
	void (*begin)(struct plan_impl *own);
	/* By any thread. 0 or -errno. */
	int (*work)(struct plan_impl *own, size_t part, void *ctx);
	/* By the caller's thread, in order. May be NULL. 0 or -errno. */
	int (*join)(struct plan_impl *, struct plan_impl *own, size_t part, void *ctx);
	/* Free what was not joined: of every part that was begun, in the end. May be NULL. */
	void (*drop)(struct plan_impl *own, size_t part, void *ctx);
	void *ctx;
	size_t ahead;		/* how many parts there may be that are not joined yet */
};

/* Work on all parts, and join each as soon as it and those before it are done. 0, or what the
 * first part that failed has returned: then neither it nor what follows is joined. */
int crew_run(struct plan_impl *, const struct crew_work *, size_t nparts);

/* Append a list of a part to that of all, and let it be none. 0, or -ENOMEM: it stays. */
#define crew_append(to, from, list) \
	crew_append_bytes((void **)&(to)->list, &(to)->n##list, &(to)->list##_cap, \
			  (void **)&(from)->list, (from)->n##list, sizeof(*(from)->list))
int crew_append_bytes(void **to, size_t *n, size_t *cap, void **from, size_t more, size_t size);
#define crew_empty(own, list) \
	((own)->list = NULL, (own)->n##list = 0, (own)->list##_cap = 0)

#endif
