/* SPDX-License-Identifier: MIT */
#include "payload/kept.h"

#include "payload/payload.h"

static uint32_t place_used(const struct kept_calls *k)
{
	uint32_t used = observe(&k->used);

	return used < KEPT ? used : KEPT;
}

/* The newest first, which is the innermost call's; KEPT: none. */
static uint32_t find_place(const struct kept_calls *k, uint64_t sp)
{
	uint32_t newest = observe(&k->next) - 1, used = place_used(k), i;

	for (i = 0; i < used; i++)
		if (k->sp[(newest - i) % KEPT] == sp)
			return (newest - i) % KEPT;
	return KEPT;
}

/* (A slow path that is left for good behind either of these leaves a free place.) */
static uint32_t take_place(struct kept_calls *k)
{
	uint32_t place = observe(&k->next) % KEPT, used = place_used(k);

	publish(&k->sp[place], 0);
	publish(&k->used, used < KEPT ? used + 1 : KEPT);
	publish(&k->next, place + 1);
	return place;
}

void kept_put(struct kept_calls *k, const struct capture_plan *p, const struct plan_ref *by,
	      const struct reads_state *state, uint64_t func, uint64_t sp)
{
	uint32_t found = find_place(k, sp), place = found < KEPT ? found : take_place(k), i, j;
	struct kept *to = &k->v[place];

	publish(&k->sp[place], 0);
	to->func = (uint32_t)func;
	to->by = *by;
	to->n = 0;
	for (i = 0; i < p->plan.nentry && i < READS_MAX; i++) {
		uint32_t at = state->v[i].at - sizeof(struct read_result);
		uint32_t n = (state->v[i].n + sizeof(struct read_result) + 3u) & ~3u;

		if (!(p->kept >> i & 1) || !state->v[i].done || to->n + n > sizeof(to->bytes) ||
		    at > READS_CAPTURE_MAX - n)
			continue;
		for (j = 0; j < n; j++)
			to->bytes[to->n + j] = state->capture[at + j];
		to->n += n;
	}
	publish(&k->sp[place], sp);
}

struct kept *kept_find(struct kept_calls *k, uint64_t func, uint64_t sp)
{
	uint32_t place = find_place(k, sp);
	struct kept *ret = place < KEPT ? &k->v[place] : NULL;

	return ret && ret->func == func && observe(&ret->n) <= sizeof(ret->bytes) ? ret : NULL;
}

void kept_forget(struct kept_calls *k, uint64_t sp)
{
	uint32_t place = find_place(k, sp), used, next;

	if (place == KEPT)
		return;
	publish(&k->sp[place], 0);
	next = observe(&k->next);
	for (used = place_used(k); used && !k->sp[(next - 1) % KEPT]; used--)
		next--;
	publish(&k->next, next);
	publish(&k->used, used);
}
