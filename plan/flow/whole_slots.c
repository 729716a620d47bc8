/* SPDX-License-Identifier: MIT */
/* whole_slots: words of the frame, and what is written there and loaded. */
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

bool whole_is_lost(const struct whole *w, const struct effect *e, const struct state *s)
{
	return e->memory && !e->thread && e->index < 0 && e->base == w->sp &&
		!stack_is_known(&s->stack, w->sp);
}

/* What jumps have left in the frame of code of no function is above where the stack is taken to be
 * at a label; or a register reaches it. */
static bool is_left(const struct whole *w, int64_t at, const struct state *s)
{
	return w->moved && s->guessed && at >= 0 && at < STACK_ANEW / 2;
}

static bool is_left_by(const struct whole *w, const struct effect *e, const struct state *s)
{
	return w->moved && s->guessed && e->base >= 0 && e->base != w->sp &&
		s->stack.at[e->base] == STACK_LOST;
}

/* An index says which of several words it is: the first of them, or the next, say what they are. */
static bool is_indexed_computed(struct whole *w, const struct effect *e, const struct state *s)
{
	struct effect first = *e;
	int64_t at;

	first.index = -1;
	return stack_reaches(&first, &s->stack, &at) &&
		(whole_slot_computed(w, at, s) ||
		 (e->scale == WORD && whole_slot_computed(w, at + WORD, s)));
}

bool whole_loads_computed(struct whole *w, const struct effect *e, const struct state *s)
{
	int64_t at;

	if (stack_reaches(e, &s->stack, &at))
		return e->width != WORD || whole_slot_computed(w, at, s) || is_left(w, at, s);
	return e->width != WORD || whole_is_lost(w, e, s) || is_left_by(w, e, s) ||
		is_indexed_computed(w, e, s);
}
