/* SPDX-License-Identifier: MIT */
/* whole_vector: which words of vector registers may be computed? Compilers put two words together,
 * of which one is computed, and the other is not. */
#include "plan/flow/whole.h"

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

/* So many bytes of the frame. Where room for words of it is scarce, vectors take none. */
static unsigned int words_loaded(struct whole *w, int64_t at, size_t size, const struct state *s)
{
	unsigned int ret = 0;

	if (w->nslots > SLOTS - SLOTS / 8)
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
	const struct plan_impl *p = w->body->impl;
	const struct insn *in = &w->body->steps[step].insn;
	struct vectors v;
	size_t left;
	int64_t at;

	if (in->kind != INSN_PLAIN || e->op != EFFECT_KEEP || !p->arch->vectors)
		return;
	const uint8_t *bytes = symbols_text(p->symbols, in->pc, &left);

	p->arch->vectors(bytes, left, in, &v);
	if (e->vector >= 0)
		v.to = (int8_t)(e->vector & (VECTORS - 1));
	if (v.to < 0)
		return;
	bool frame = v.loads && stack_reaches(e, &s->stack, &at);
	unsigned int words = words_set(&v, frame ? words_loaded(w, at, v.loads, s) : 0, s);

	/* The low half of a general register: linked to one address, that is one, too. */
	if (e->vector >= 0 && e->source < 0 && !e->memory)
		words = VECTOR_ALL;
	put_words(s, v.to, words);
	if (v.to >= VECTORS / 2)
		put_words(s, v.to - VECTORS / 2,
			  words | whole_vector_words(s, v.to - VECTORS / 2));
}
