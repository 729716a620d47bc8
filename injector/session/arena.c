/* SPDX-License-Identifier: MIT */
#include "injector/session/arena.h"

#include <errno.h>

#include "injector/proc/kernel.h"

enum { MARGIN = 1 << 16 };	/* of a jump's reach, kept in reserve */

struct gap_search {
	struct range text;	/* that must be reached */
	uint64_t size;
	struct range window;	/* where the arena may lie */
	raddr_t after;		/* a place that was refused */
	raddr_t best;		/* 0: none yet */
};

static uint64_t distance(const struct gap_search *s, raddr_t at)
{
	return at < s->text.start ? s->text.start - at : at - s->text.start;
}

static void consider(struct gap_search *s, raddr_t at)
{
	at = ALIGN_DOWN(at, kernel_page());
	if (at == s->after || (s->after && distance(s, at) <= distance(s, s->after)))
		return;
	if (!s->best || distance(s, at) < distance(s, s->best))
		s->best = at;
}

static void try_gap(struct gap_search *s, struct range gap)
{
	gap.start = ALIGN_UP(MAX(gap.start, s->window.start), kernel_page());
	gap.end = MIN(gap.end, s->window.end);
	if (gap.end < gap.start + s->size)
		return;
	consider(s, gap.end - s->size);
	consider(s, gap.start);
	/* Where both ends were refused, further inside. */
	for (int i = 1; i < 64; i++)
		consider(s, gap.start + (range_size(gap) - s->size) / 64 * i);
}

int arena_find(const struct gaps *gaps, struct range text, uint64_t size, int64_t reach,
	       raddr_t after, raddr_t *ret)
{
	uint64_t most = (uint64_t)reach - MARGIN;
	struct gap_search s = {
		.text = text, .size = size, .after = after,
		.window = { text.end > most ? text.end - most : 0, text.start + most },
	};

	for (size_t i = 0; i < gaps->n; i++)
		try_gap(&s, gaps->v[i]);
	*ret = s.best;
	return s.best ? 0 : fail(ENOSPC, "no free memory within reach of %lx-%lx",
				 (unsigned long)text.start, (unsigned long)text.end);
}
