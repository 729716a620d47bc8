/* SPDX-License-Identifier: MIT */
/* shared_ids: probes that have one name, and so one function id, by that name, and by what is read
 * there: a plan is a function's. There are as many as a file has names of places for tracers
 * (USDT): few. */
#ifndef INJECTOR_SHARED_IDS_H
#define INJECTOR_SHARED_IDS_H

#include <errno.h>
#include <string.h>

#include "injector/modules/valued.h"

struct shared_ids {
	struct { const char *name; const struct valued *valued; uint32_t id; } *v;
	size_t n, cap;
};

static inline bool shared_reads_same(const struct valued *a, const struct valued *b)
{
	return a == b || (a && b && a->packed.n == b->packed.n &&
			  memcmp(a->packed.v, b->packed.v, a->packed.n) == 0);
}

/* 0: none has it yet. */
static inline uint32_t shared_id(const struct shared_ids *ids, const struct placed_probe *p,
				 const char *name)
{
	for (size_t i = 0; i < ids->n; i++)
		if (strcmp(ids->v[i].name, name) == 0 &&
		    shared_reads_same(ids->v[i].valued, p->valued))
			return ids->v[i].id;
	return 0;
}

/* 0 or -ENOMEM. The name has to stay, and what is read. */
static inline int share_id(struct shared_ids *ids, const struct placed_probe *p, const char *name)
{
	if (shared_id(ids, p, name))
		return 0;
	typeof(ids->v) new = vec_push(ids->v, ids->n, ids->cap);

	if (!new)
		return -ENOMEM;
	new->name = name;
	new->valued = p->valued;
	new->id = p->id;
	return 0;
}

#endif
