/* SPDX-License-Identifier: MIT */
#include "injector/arena.h"

#include <errno.h>
#include <string.h>

#include "injector/procfs.h"

enum {
	GUARD = 1 << 16,	/* left free beside everything */
	LOWEST = 1 << 16,	/* vm.mmap_min_addr's usual value */
};
#define HIGHEST 0x7ffffffff000ull

struct gap_search {
	struct range text;	/* that must be reached */
	uint64_t size;
	struct range window;	/* where the arena may lie */
	raddr_t after;		/* a place that was refused */
	raddr_t end;		/* of the mapping below the gap */
	bool grows;		/* that mapping grows upwards (the heap) */
	raddr_t best;		/* 0: none yet */
};

static uint64_t distance(const struct gap_search *s, raddr_t at)
{
	return at < s->text.start ? s->text.start - at : at - s->text.start;
}

static void consider(struct gap_search *s, raddr_t at, struct range gap)
{
	at = ALIGN_DOWN(at, 4096);
	if (at < gap.start || at + s->size > gap.end || at < s->window.start ||
	    at + s->size > s->window.end || at == s->after)
		return;
	if (s->after && distance(s, at) <= distance(s, s->after))
		return;
	if (!s->best || distance(s, at) < distance(s, s->best))
		s->best = at;
}

/* The gap between the mapping that ended at s->end and `start`. */
static void try_gap(struct gap_search *s, raddr_t start, bool stack_above)
{
	struct range gap = { s->end + GUARD, start - GUARD };

	/* A heap grows up, a stack down: leave them most of the gap. */
	if (s->grows)
		gap.start += (1ull << 30);
	if (stack_above)
		gap.end -= MIN(gap.end, 1ull << 30);
	if (start < s->end + 2 * GUARD || gap.end < gap.start + s->size)
		return;
	gap.start = MAX(gap.start, s->window.start);
	gap.end = MIN(gap.end, s->window.end);
	if (gap.end < gap.start + s->size)
		return;
	consider(s, gap.end - s->size, gap);
	consider(s, ALIGN_UP(gap.start, 4096), gap);
	/* Where both ends were refused, further inside. */
	for (int i = 1; i < 64; i++)
		consider(s, gap.start + (range_size(gap) - s->size) / 64 * i, gap);
}

static int next_mapping(void *ctx, const struct mapping *m)
{
	struct gap_search *s = ctx;

	if (m->range.start >= HIGHEST)
		return 0;
	try_gap(s, m->range.start, strcmp(m->path, "[stack]") == 0);
	s->end = m->range.end;
	/* The break begins somewhere above the executable, which therefore
	 * counts as growing too: is the heap's mapping there yet or not. */
	s->grows = strcmp(m->path, "[heap]") == 0 ||
		(s->text.end <= m->range.end && range_overlaps(s->text, m->range));
	return 0;
}

int arena_find(pid_t pid, struct range text, uint64_t size, int64_t reach, raddr_t after,
	       raddr_t *ret)
{
	uint64_t most = (uint64_t)reach - GUARD;
	struct gap_search s = {
		.text = text, .size = size, .after = after, .end = LOWEST,
		.window = { text.end > most ? text.end - most : LOWEST,
			    MIN(text.start + most, HIGHEST) },
	};
	int err = procfs_maps(pid, next_mapping, &s);

	if (err)
		return err;
	try_gap(&s, HIGHEST, false);
	*ret = s.best;
	return s.best ? 0 : fail(ENOSPC, "no free memory within reach of %lx-%lx of %d",
				 (unsigned long)text.start, (unsigned long)text.end, pid);
}
