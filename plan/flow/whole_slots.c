/* SPDX-License-Identifier: MIT */
/* whole_slots: words of the frame, and what is written there. */
#include "plan/flow/whole.h"

bits whole_slot(struct whole *w, int64_t at)
{
	for (size_t i = 0; i < w->nslots; i++)
		if (w->slots[i] == at)
			return whole_bit(i);
	if (w->nslots == SLOTS)
		return 0;
	w->slots[w->nslots] = at;
	return whole_bit(w->nslots++);
}

bool whole_is_somewhere(const struct effect *e, const struct state *s)
{
	const int32_t *at = s->stack.at;

	return e->memory && !e->thread && ((e->base >= 0 && at[e->base] != STACK_NOT) ||
					   (e->index >= 0 && at[e->index] != STACK_NOT));
}

bool whole_has_slot(const struct whole *w, int64_t at)
{
	for (size_t i = 0; i < w->nslots; i++)
		if (w->slots[i] > at - WORD && w->slots[i] < at + WORD)
			return true;
	return false;
}

bool whole_is_buried(int64_t at, const struct state *s)
{
	return s->buried && at >= STACK_ANEW;
}

bool whole_slot_computed(struct whole *w, int64_t at, const struct state *s)
{
	bits bit = whole_slot(w, at);

	return !bit || s->computed & bit || (whole_is_buried(at, s) && !(s->put & bit));
}

/* Of the words that are written from `at` on, is one computed that has something of this one? */
static bool has_computed(int64_t at, int64_t slot, unsigned int words)
{
	int64_t first = slot - at, last = first + WORD - 1;

	for (int64_t i = MAX(first, 0) / WORD; i <= last / WORD; i++)
		if (words >> MIN(i, VECTOR_WORDS - 1) & 1)
			return true;
	return false;
}

bits whole_put_slots(struct whole *w, int64_t at, size_t size, unsigned int words, bool some,
		     struct state *s)
{
	bits put = 0;

	for (size_t i = 0; i < w->nslots; i++) {
		int64_t slot = w->slots[i];

		if ((uint64_t)(slot - at + WORD - 1) >= size + WORD - 1)
			continue;
		bool all = slot >= at && slot + WORD <= at + (int64_t)size;
		bool computed = words && (words == VECTOR_ALL || has_computed(at, slot, words));

		if (computed || (!some && (all || size < WORD || slot == 0)))
			whole_put(s, whole_bit(i), computed || (slot == 0 && !all));
		put |= whole_bit(i);
	}
	s->put |= put;
	return put;
}
