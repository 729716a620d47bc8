/* SPDX-License-Identifier: MIT */
/* shared_ids: probes that have one name, and so one function id, by that name. There are as many as
 * a file has names of places for tracers (USDT): few. */
#ifndef INJECTOR_SHARED_IDS_H
#define INJECTOR_SHARED_IDS_H

#include <errno.h>
#include <string.h>

#include "base/base.h"

struct shared_ids {
	struct { const char *name; uint32_t id; } *v;
	size_t n, cap;
};

/* 0: none has it yet. */
static inline uint32_t shared_id(const struct shared_ids *ids, const char *name)
{
	for (size_t i = 0; i < ids->n; i++)
		if (strcmp(ids->v[i].name, name) == 0)
			return ids->v[i].id;
	return 0;
}

/* 0 or -ENOMEM. The name has to stay. */
static inline int share_id(struct shared_ids *ids, const char *name, uint32_t id)
{
	if (shared_id(ids, name))
		return 0;
	typeof(ids->v) new = vec_push(ids->v, ids->n, ids->cap);

	if (!new)
		return -ENOMEM;
	new->name = name;
	new->id = id;
	return 0;
}

#endif
