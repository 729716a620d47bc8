/* SPDX-License-Identifier: MIT */
/* whole_vector: which words of vector registers may be computed? Compilers put two words together,
 * of which one is computed, and the other is not. */
#include "plan/flow/whole.h"

enum { LOADED_NEAR = 8 };	/* steps */

static bits word_bit(int vector, unsigned int word)
{
	return (bits)1 << (VECTORS * word + (unsigned int)vector);
}

unsigned int whole_vector_words(const struct state *s, int vector)
{
	unsigned int ret = 0;

	for (unsigned int i = 0; i < VECTOR_WORDS; i++)
		ret |= (s->vectors & word_bit(vector, i) ? 1u : 0) << i;
	/* Those of the oldest kind are told from others only where they are kept in. */
	return ret | (vector >= VECTORS / 2 ? whole_vector_words(s, vector - VECTORS / 2) : 0);
}

static void put_words(struct state *s, int vector, unsigned int words)
{
	for (unsigned int i = 0; i < VECTOR_WORDS; i++)
		if (words >> i & 1)
			s->vectors |= word_bit(vector, i);
		else
			s->vectors &= ~word_bit(vector, i);
}

static bool is_scarce(const struct whole *w)
{
	return w->nslots > SLOTS / 2;
}

/* So many bytes of the frame. Where room for words of it is scarce, vectors take none. */
static unsigned int words_loaded(struct whole *w, int64_t at, size_t size, const struct state *s)
{
	unsigned int ret = 0;

	if (is_scarce(w))
		return whole_frame(w) ? VECTOR_ALL : 0;
	for (size_t i = 0; i < size; i += WORD)
		ret |= (whole_slot_computed(w, at + (int64_t)i, s) ? 1u : 0) <<
			MIN(i / WORD, VECTOR_WORDS - 1);
	return ret;
}

/* What is made of all words of these. */
static unsigned int words_of(const struct state *s, uint32_t vectors)
{
	for (unsigned int i = 0; i < VECTOR_WORDS; i++)
		if ((uint32_t)(s->vectors >> VECTORS * i) & vectors)
			return VECTOR_ALL;
	return 0;
}

/* The words of what is set. `loaded`: those of memory. */
static unsigned int words_set(const struct vectors *v, unsigned int loaded, const struct state *s)
{
	bool from = v->from >= 0 && s->computed >> v->from & 1;

	switch (v->words) {
	case VECTOR_SAME:
		return loaded | (v->low >= 0 ? whole_vector_words(s, v->low) : 0) | (from ? 1u : 0);
	case VECTOR_LOW:
		return (whole_vector_words(s, v->low) & 1) |
			((v->high >= 0 ? whole_vector_words(s, v->high) : loaded) & 1) << 1;
	}
	return v->computes || from || loaded ? VECTOR_ALL : words_of(s, v->of);
}

void whole_pass_vectors(struct whole *w, size_t step, const struct effect *e, struct state *s)
{
	struct vectors v;
	int64_t at;

	if (w->body->steps[step].insn.kind != INSN_PLAIN || e->op != EFFECT_KEEP)
		return;
	flow_vectors(w->flow, step, &v);
	if (e->vector >= 0)
		v.to = (int8_t)(e->vector & (VECTORS - 1));
	if (v.to < 0)
		return;
	unsigned int loaded = 0;

	if (v.loads && stack_reaches(e, &s->stack, &at))
		loaded = words_loaded(w, at, v.loads, s);
	else if (v.loads && whole_is_somewhere(e, s))	/* an index says which word */
		loaded = whole_frame(w) ? VECTOR_ALL : 0;
	unsigned int words = words_set(&v, loaded, s);

	/* The low half of a general register: linked to one address, that is one, too. */
	if (e->vector >= 0 && e->source < 0 && !e->memory)
		words = VECTOR_ALL;
	put_words(s, v.to, words);
	if (v.to >= VECTORS / 2)
		put_words(s, v.to - VECTORS / 2,
			  words | whole_vector_words(s, v.to - VECTORS / 2));
}

/* Back from where a vector is stored to where it was loaded. */
struct copied {
	int vector;
	int64_t at;		/* where it is stored: */
	size_t size;
	uint8_t word;		/* the first of it that is */
	uint32_t set;		/* registers that were set since it was loaded, */
	size_t nstores;		/* and what was written */
	struct {
		int64_t at;
		size_t size;
	} stores[LOADED_NEAR];
	unsigned int steps, ways;	/* that may still be gone back, or meet */
};

static void note_lacked(struct whole *w, int64_t word)
{
	size_t i = 0;

	while (i < w->nlacked && w->lacked[i] != word)
		i++;
	if (i == w->nlacked && i < WANTED_MOST)
		w->lacked[w->nlacked++] = word;
}

/* Was it loaded from there? Then of each word that is asked for where it is stored: is it
 * computed? */
static bool ask_loaded(struct whole *w, const struct copied *c, int64_t from, const struct state *s,
		       unsigned int *ret)
{
	from += c->word * WORD;
	for (size_t i = 0; i < c->nstores; i++)
		if (c->stores[i].at < from + (int64_t)c->size &&
		    c->stores[i].at + (int64_t)c->stores[i].size > from)
			return false;
	for (size_t i = 0; i < c->size; i += WORD) {
		int64_t word = from + (int64_t)i;

		if (!whole_has_slot(w, c->at + (int64_t)i) || !whole_slot_computed(w, word, s))
			continue;
		if (!whole_slot(w, word))
			note_lacked(w, word);
		*ret |= 1u << MIN(i / WORD, VECTOR_WORDS - 1);
	}
	return true;
}

/* One step back. 1: it was loaded there, or is nothing; 0: not there; -1: that is not known. */
static int ask_step(struct whole *w, struct copied *c, size_t step, const struct state *s,
		    unsigned int *ret)
{
	const struct effect *e = effect_at(w->flow, step);
	struct vectors v = { .to = -1 };
	int64_t at;

	if (w->body->steps[step].insn.kind != INSN_PLAIN)
		return -1;
	if (e->op == EFFECT_KEEP)
		flow_vectors(w->flow, step, &v);
	/* A general register is put in; those of the oldest kind may be meant. */
	if (e->op == EFFECT_KEEP && e->vector >= 0 && !((e->vector ^ c->vector) % (VECTORS / 2)))
		return -1;
	if (v.to == c->vector && v.loads)
		return v.words == VECTOR_SAME && e->base >= 0 && !(c->set >> e->base & 1) &&
			stack_reaches(e, &s->stack, &at) && ask_loaded(w, c, at, s, ret) ? 1 : -1;
	if (v.to == c->vector)
		return v.words != VECTOR_MIXED || v.computes || v.from >= 0 || v.of ? -1 : 1;
	/* What it is written by may have been set since, so that `s` says nothing of it. */
	if (e->pushes || (e->stores && (e->base < 0 ? !e->named : c->set >> e->base & 1)))
		return -1;
	if (e->stores && e->base >= 0 && s->stack.at[e->base] != STACK_NOT) {
		if (e->count >= 0 || !e->width || !stack_reaches(e, &s->stack, &at))
			return -1;
		c->stores[c->nstores].at = at;
		c->stores[c->nstores++].size = e->width;
	}
	c->set |= e->others | (e->reg >= 0 ? 1u << e->reg : 0) |
		(e->op == EFFECT_SWAP && e->base >= 0 ? 1u << e->base : 0) |
		(e->pops || e->op == EFFECT_POP ? 1u << w->sp : 0);
	/* Strings set what they write by. */
	if (e->stores && e->base >= 0 && c->set >> e->base & 1)
		return -1;
	return 0;
}

/* By all ways that lead there? */
static bool ask_back(struct whole *w, struct copied c, size_t step, const struct state *s,
		     unsigned int *ret)
{
	const struct flow *f = w->flow;
	const struct step *steps = w->body->steps;

	for (; c.steps && step; c.steps--) {
		if (w->at[step]) {
			if (bit_get(w->fixed, w->at[step]) || !c.ways--)
				return false;
			for (size_t i = flow_first_link(f, step);
			     i < f->nlinks && f->links[i].to == steps[step].insn.pc; i++)
				if (!steps[f->links[i].step].insn.dest ||
				    steps[f->links[i].step].insn.kind == INSN_CALL ||
				    !ask_back(w, c, f->links[i].step, s, ret))
					return false;
			if (steps[step - 1].piece != steps[step].piece || steps[step - 1].ends)
				return true;
		}
		int found = ask_step(w, &c, --step, s, ret);

		if (found)
			return found > 0;
	}
	return false;
}

unsigned int whole_words_copied(struct whole *w, size_t step, int64_t at, size_t size,
				const struct state *s, unsigned int words)
{
	const struct effect *e = effect_at(w->flow, step);
	const struct copied c = { .vector = e->stored & (VECTORS - 1), .at = at, .size = size,
				  .word = e->word, .steps = LOADED_NEAR, .ways = 2 };
	unsigned int ret = 0;

	return words && is_scarce(w) && ask_back(w, c, step, s, &ret) ? ret : words;
}
