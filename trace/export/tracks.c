/* SPDX-License-Identifier: MIT */
#include "trace/export/tracks.h"

#include <errno.h>
#include <stdio.h>

static bool is_track(const struct track *t, const struct call *c)
{
	return t->thread == c->thread && t->stack == c->stack && t->pid == c->pid;
}

static size_t hash(uint32_t thread, uint32_t stack)
{
	return (((uint64_t)thread << 32 ^ stack) * 0x9e3779b97f4a7c15u) >> 32;
}

/* Twice as many as there are tracks, and more. */
static int tracks_grow(struct tracks *t)
{
	size_t cap = MAX(t->index_cap * 2, (size_t)256);
	uint32_t *index = calloc(cap, sizeof(*index));

	if (!index)
		return fail(ENOMEM, "tell stacks from each other");
	for (size_t i = 0; i < t->n; i++) {
		size_t at = hash(t->v[i].thread, t->v[i].stack) & (cap - 1);

		while (index[at])
			at = (at + 1) & (cap - 1);
		index[at] = (uint32_t)(i + 1);
	}
	free(t->index);
	t->index = index;
	t->index_cap = cap;
	return 0;
}

ssize_t tracks_of(struct tracks *t, const struct call *c)
{
	size_t at;

	if (c->thread != NO_THREAD && !c->stack)
		return 0;
	if (t->n * 2 >= t->index_cap && tracks_grow(t))
		return -ENOMEM;
	at = hash(c->thread, c->stack) & (t->index_cap - 1);
	while (t->index[at] && !is_track(&t->v[t->index[at] - 1], c))
		at = (at + 1) & (t->index_cap - 1);
	if (t->index[at])
		return t->index[at];
	struct track *track = vec_push(t->v, t->n, t->cap);

	if (!track)
		return fail(ENOMEM, "tell stacks from each other");
	*track = (struct track){ c->pid, c->tid, c->thread, c->stack };
	return t->index[at] = (uint32_t)t->n;
}

void tracks_name(const struct track *t, char *ret, size_t size)
{
	if (t->thread == NO_THREAD)
		snprintf(ret, size, "stack %u", t->stack);
	else
		snprintf(ret, size, "%d, stack %u", t->tid, t->stack);
}

void tracks_clear(struct tracks *t)
{
	free(t->v);
	free(t->index);
	*t = (struct tracks){ 0 };
}
