/* SPDX-License-Identifier: MIT */
/*
 * ground: which bytes of the text may control arrive at, which does it never
 * reach, and which are spoken for?
 *
 * A jump replaces several instructions, and a thread that arrives in its middle
 * executes the tail of an address. It is noted for all text, whatever was selected.
 */
#include <errno.h>

#include "plan/text/ground.h"

const struct ground *ground_at(const struct plan_impl *p, raddr_t a)
{
	for (size_t i = 0; i < p->ngrounds; i++)
		if (range_has(p->grounds[i].text->range, a))
			return &p->grounds[i];
	return NULL;
}

/* One word of a layer. */
static inline uint64_t layer_word(const struct ground *g, enum layer l, uint64_t w)
{
	uint64_t ret = 0;

	switch (l) {
	case LAYER_TARGET:
		ret |= bits_at(g->planes[PLANE_TARGET], w);
		/* fall through */
	case LAYER_FIXED:
		ret |= bits_at(g->planes[PLANE_FIXED], w);
		/* fall through */
	case LAYER_START:
		return ret | bits_at(g->planes[PLANE_START], w);
	case LAYER_DEAD:
		return bits_at(g->planes[PLANE_DEAD], w);
	case LAYER_CROSSED:
		return bits_at(g->planes[PLANE_CROSSED], w);
	case LAYER_TAKEN:
		break;
	}
	return bits_at(g->planes[PLANE_TAKEN], w);
}

/* Does any of the `n` bytes at `a` have the bit, or lack it? Those outside lack it. */
static bool ground_find(const struct plan_impl *p, enum layer l, raddr_t a, size_t n, bool set)
{
	const struct ground *g = ground_at(p, a);
	uint64_t at = g ? a - g->text->range.start : 0;
	uint64_t end = g ? at + MIN(n, g->text->range.end - a) : 0;

	for (uint64_t next; at < end; at = next) {
		uint64_t all = layer_word(g, l, at / 64);
		uint64_t word = (set ? all : ~all) >> at % 64;

		next = MIN(at - at % 64 + 64, end);
		if (word << (64 - (next - at)))
			return true;
	}
	return !set && n > (g ? g->text->range.end - a : 0);
}

bool ground_any(const struct plan_impl *p, enum layer l, raddr_t a, size_t n)
{
	const struct ground *g = n == 1 ? ground_at(p, a) : NULL;
	uint64_t at = g ? a - g->text->range.start : 0;

	return g ? layer_word(g, l, at / 64) >> at % 64 & 1 : ground_find(p, l, a, n, true);
}

/* `numbers`: or what its function names by a number. */
static uint64_t word_of(const struct ground *g, enum layer l, bool numbers, uint64_t w)
{
	return layer_word(g, l, w) | (numbers ? bits_at(g->planes[PLANE_NUMBER], w) : 0);
}

static bool has_bit(const struct ground *g, enum layer l, bool numbers, uint64_t at)
{
	return word_of(g, l, numbers, at / 64) >> at % 64 & 1;
}

/* Does a prefix begin an instruction, which is the same without? */
static bool is_behind_prefix(const struct plan_impl *p, const struct ground *g,
			     const struct insn *in)
{
	return in->size > 1 && p->arch->is_prefix &&
		p->arch->is_prefix(g->text->bytes[in->pc - g->text->range.start]);
}

static bool leads_to(const struct plan_impl *p, const struct ground *g, enum layer l,
		     bool numbers, const struct insn *in)
{
	uint64_t at = in->pc - g->text->range.start;

	return has_bit(g, l, numbers, at) ||
		(has_bit(g, l, numbers, at + 1) && is_behind_prefix(p, g, in));
}

bool ground_leads_to(const struct plan_impl *p, enum layer l, const struct insn *in)
{
	const struct ground *g = ground_at(p, in->pc);

	return g && leads_to(p, g, l, false, in);
}

bool ground_comes_to(const struct plan_impl *p, const struct insn *in)
{
	const struct ground *g = ground_at(p, in->pc);

	return g && leads_to(p, g, LAYER_FIXED, true, in);
}

void ground_mark_led(const struct plan_impl *p, const struct step *s, size_t n,
		     uint32_t *ret)
{
	const struct ground *g = NULL;
	uint64_t word = 0, bits = 0;

	for (size_t i = 0; i < n; i++) {
		const struct insn *in = &s[i].insn;

		if (!g || !range_has(g->text->range, in->pc)) {
			g = ground_at(p, in->pc);
			word = UINT64_MAX;
		}
		uint64_t at = g ? in->pc - g->text->range.start : 0;

		if (g && at / 64 != word) {
			word = at / 64;
			bits = word_of(g, LAYER_TARGET, true, word);
		}
		/* Of most all bytes lie in one word. */
		ret[i] = g && (at % 64 + in->size > 64 ? leads_to(p, g, LAYER_TARGET, true, in) :
			       (bits >> at % 64 & 1) ||
			       ((bits >> at % 64 & 2) && is_behind_prefix(p, g, in)));
	}
}

bool ground_all(const struct plan_impl *p, enum layer l, raddr_t a, size_t n)
{
	return !ground_find(p, l, a, n, false);
}

raddr_t ground_next(const struct plan_impl *p, enum layer l, raddr_t a, raddr_t end)
{
	while (a < end) {
		const struct ground *g = ground_at(p, a);

		/* Between texts there is nothing, byte by byte. */
		if (!g) {
			a++;
			continue;
		}
		uint64_t at = a - g->text->range.start;
		uint64_t word = layer_word(g, l, at / 64) >> at % 64;

		if (word)
			return MIN(a + (raddr_t)__builtin_ctzll(word), end);
		a = MIN(a + 64 - at % 64, g->text->range.end);
	}
	return end;
}

void ground_take(struct plan_impl *p, raddr_t a, size_t n)
{
	const struct ground *g = ground_at(p, a);
	uint64_t at = g ? a - g->text->range.start : 0;
	uint64_t end = g ? at + MIN(n, g->text->range.end - a) : 0;

	for (uint64_t next; at < end; at = next) {
		next = MIN(at - at % 64 + 64, end);
		bits_set(g->planes[PLANE_TAKEN], at / 64,
			 UINT64_MAX >> (64 - (next - at)) << at % 64);
	}
}

void ground_release(struct plan_impl *p, raddr_t a, size_t n)
{
	const struct ground *g = ground_at(p, a);
	uint64_t at = g ? a - g->text->range.start : 0;

	for (size_t i = 0; g && i < n && range_has(g->text->range, a + i); i++)
		bit_clear(g->planes[PLANE_TAKEN], at + i);
}

void ground_revive(const struct ground *g, uint64_t at)
{
	uint64_t end = range_size(g->text->range);

	for (; at < end && bit_get(g->planes[PLANE_DEAD], at); at++)
		bit_clear(g->planes[PLANE_DEAD], at);
}

/* Pages that are read before they are written cost two faults each, and the second one stops all
 * other threads. */
void ground_warm(const struct ground *g, raddr_t first, raddr_t end)
{
	uint64_t from = (first - g->text->range.start) / 64, to = (end - g->text->range.start) / 64;

	for (uint64_t word = from; word < to; word += PAGE / sizeof(uint64_t)) {
		bits_set(g->planes[PLANE_TARGET], word, 0);
		bits_set(g->planes[PLANE_DEAD], word, 0);
	}
}

static const struct ground *make_target(struct plan_impl *p, raddr_t a)
{
	const struct ground *g = ground_at(p, a);

	/* Where instructions are aligned nothing runs that is not. */
	if (!g || a % p->arch->align)
		return NULL;
	bit_set(g->planes[PLANE_FIXED], a - g->text->range.start);
	ground_revive(g, a - g->text->range.start);
	return g;
}

void ground_add_target(struct plan_impl *p, raddr_t a)
{
	const struct ground *g = make_target(p, a);

	if (!g)
		return;
	bit_clear(g->planes[PLANE_STRAY], a - g->text->range.start);
	bit_clear(g->planes[PLANE_LISTED], a - g->text->range.start);
}

static bool has_plane(const struct plan_impl *p, raddr_t a, enum plane plane)
{
	const struct ground *g = ground_at(p, a);

	return g && bit_get(g->planes[plane], a - g->text->range.start);
}

void ground_add_entry(struct plan_impl *p, raddr_t a, bool strays)
{
	bool only = !ground_any(p, LAYER_TARGET, a, 1) || has_plane(p, a, PLANE_STRAY) ||
		has_plane(p, a, PLANE_LISTED);
	const struct ground *g = make_target(p, a);

	if (g && only)
		bit_set(g->planes[strays ? PLANE_STRAY : PLANE_LISTED], a - g->text->range.start);
}

bool ground_is_stray(const struct plan_impl *p, raddr_t a)
{
	return has_plane(p, a, PLANE_STRAY) && !has_plane(p, a, PLANE_LISTED) &&
		!has_plane(p, a, PLANE_TARGET);
}

bool ground_is_listed(const struct plan_impl *p, raddr_t a)
{
	return has_plane(p, a, PLANE_LISTED) && !has_plane(p, a, PLANE_TARGET);
}

bool ground_is_read(const struct plan_impl *p, raddr_t a)
{
	const struct ground *g = ground_at(p, a);

	return g && bit_get(g->planes[PLANE_READ], a - g->text->range.start);
}

bool ground_is_named(const struct plan_impl *p, raddr_t a)
{
	const struct ground *g = ground_at(p, a);

	return g && (bit_get(g->planes[PLANE_NAMED], a - g->text->range.start) ||
		     bit_get(g->planes[PLANE_NUMBER], a - g->text->range.start));
}


void ground_note_number(struct plan_impl *p, raddr_t a)
{
	const struct ground *g = ground_at(p, a);

	if (g)
		bit_set(g->planes[PLANE_NUMBER], a - g->text->range.start);
}

bool ground_is_live(const struct plan_impl *p, raddr_t a)
{
	const struct ground *g = ground_at(p, a);

	return g && bit_get(g->planes[PLANE_LIVE], a - g->text->range.start);
}

bool ground_set_live(struct plan_impl *p, raddr_t a)
{
	const struct ground *g = ground_at(p, a);

	if (!g || ground_is_live(p, a))
		return false;
	bit_set(g->planes[PLANE_LIVE], a - g->text->range.start);
	return true;
}

size_t ground_edge(const struct plan_impl *p, raddr_t to, size_t n)
{
	/* Most that is asked of has none. */
	return ground_any(p, LAYER_CROSSED, to, n) ?
		vec_prefix(p->nedges, i, p->edges[i].to < to) : p->nedges;
}

void ground_revive_all(const struct ground *g)
{
	uint64_t words = range_size(g->text->range) / 64 + 1;

	for (uint64_t w = 0; w < words; w++) {
		uint64_t dead = bits_at(g->planes[PLANE_DEAD], w);
		uint64_t both = dead ? dead & (layer_word(g, LAYER_TARGET, w) |
					       bits_at(g->planes[PLANE_WORD], w)) : 0;

		for (; both; both &= both - 1)
			ground_revive(g, w * 64 + (unsigned int)__builtin_ctzll(both));
	}
}

void ground_free(struct plan_impl *p)
{
	for (size_t i = 0; i < p->ngrounds; i++)
		for (int k = 0; k < PLANES; k++)
			free(p->grounds[i].planes[k]);
	free(p->grounds);
	free(p->called);
	free(p->edges);
}
