/* SPDX-License-Identifier: MIT */
/*
 * archive_clock: which moments of the counter are which of the wall clock?
 *
 * Each packet tells one of them. Few are kept, however many packets there are: real
 * time changes its pace over minutes, and a day has 1440 of them.
 */
#include "trace/read/archive_impl.h"

#include <errno.h>
#include <string.h>

enum { PAIRS_MOST = 4096 };

/* Where a pair of that time belongs. */
static size_t place_of(const struct archive *a, uint64_t ticks)
{
	size_t low = 0, high = a->npairs;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (a->pairs[middle].ticks < ticks)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Keep one in two, or fewer. */
static void thin_out(struct archive *a)
{
	size_t n = 1;

	a->spacing = (a->pairs[a->npairs - 1].ticks - a->pairs[0].ticks) / (PAIRS_MOST / 2);
	for (size_t i = 1; i < a->npairs; i++)
		if (a->pairs[i].ticks - a->pairs[n - 1].ticks > a->spacing)
			a->pairs[n++] = a->pairs[i];
	a->npairs = n;
}

static bool is_before(const struct clock_pair *a, const struct clock_pair *b)
{
	return a->ticks < b->ticks && a->ns < b->ns;
}

/* The begin is that of the metadata, and so is the end if there is one: what is not
 * between them is damaged. */
static bool is_between(const struct archive *a, const struct clock_pair *p)
{
	const struct clock *c = &a->metadata.about.clock;
	struct clock_pair first = { c->ticks, c->realtime }, last = clock_last(c);

	return is_before(&first, p) && (!a->metadata.about.end || is_before(p, &last));
}

int archive_take_pair(struct archive *a, const struct packet *p)
{
	const struct clock_pair pair = { p->clock_ticks, p->clock_ns };
	struct clock_pair *at;
	size_t i;

	if (!is_between(a, &pair))
		return 0;
	if (!a->pairs)
		a->pairs = calloc(PAIRS_MOST, sizeof(*a->pairs));
	if (!a->pairs)
		return -ENOMEM;
	i = place_of(a, pair.ticks);
	at = &a->pairs[i];
	if ((i && pair.ticks - at[-1].ticks <= a->spacing) ||
	    (i < a->npairs && at->ticks - pair.ticks <= a->spacing))
		return 0;
	memmove(at + 1, at, (a->npairs - i) * sizeof(*at));
	*at = pair;
	if (++a->npairs == PAIRS_MOST)
		thin_out(a);
	return 0;
}

int archive_set_clock(struct archive *a)
{
	struct clock *c = &a->metadata.about.clock;
	struct clock_pair first = { c->ticks, c->realtime }, last = clock_last(c);
	struct clock_pair *v = calloc(a->npairs + 2, sizeof(*v));
	size_t n = 0;

	if (!v)
		return fail(ENOMEM, "read %s", a->path);
	v[n++] = first;
	for (size_t i = 0; i < a->npairs; i++)
		if (is_before(&v[n - 1], &a->pairs[i]))
			v[n++] = a->pairs[i];
	if (is_before(&v[n - 1], &last))
		v[n++] = last;
	free(a->pairs);
	c->pairs = a->pairs = v;
	c->npairs = a->npairs = n;
	return 0;
}
