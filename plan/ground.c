/* SPDX-License-Identifier: MIT */
/*
 * ground: which bytes of the text may control arrive at, which does it never
 * reach, and which are spoken for?
 *
 * A jump replaces several instructions, and whoever arrives in its middle
 * executes the tail of an address. So the WHOLE text is swept for branches:
 * the one that kills a target need not be in a function that was selected.
 * The sweep is linear and starts again at every known function, so that data
 * between functions can lead it astray for a few instructions only; what it
 * then believes to be a target is one too many, never one too few.
 */
#include <errno.h>
#include <string.h>

#include "plan/impl.h"

enum { PIECE_ALIGN = 16 };

static const struct ground *ground_at(const struct plan_impl *p, raddr_t a)
{
	for (size_t i = 0; i < p->ngrounds; i++)
		if (range_has(p->grounds[i].text->range, a))
			return &p->grounds[i];
	return NULL;
}

static inline bool bit_get(const uint64_t *bits, uint64_t i)
{
	return bits[i / 64] >> (i % 64) & 1;
}

static inline void bit_set(uint64_t *bits, uint64_t i)
{
	bits[i / 64] |= 1ull << (i % 64);
}

static inline void bit_clear(uint64_t *bits, uint64_t i)
{
	bits[i / 64] &= ~(1ull << (i % 64));
}

static void set_fixed(const struct ground *g, uint64_t at)
{
	bit_set(g->bits[LAYER_TARGET], at);
	bit_set(g->bits[LAYER_FIXED], at);
}

static void set_called(const struct ground *g, uint64_t at)
{
	set_fixed(g, at);
	bit_set(g->bits[LAYER_CALLED], at);
}

/* Does any of the `n` bytes at `a` have the bit, or lack it? Those outside lack it. */
static bool find(const struct plan_impl *p, enum layer l, raddr_t a, size_t n, bool set)
{
	const struct ground *g = ground_at(p, a);
	uint64_t at = g ? a - g->text->range.start : 0;
	uint64_t end = g ? at + MIN(n, g->text->range.end - a) : 0;

	for (uint64_t next; at < end; at = next) {
		uint64_t word = (set ? g->bits[l][at / 64] : ~g->bits[l][at / 64]) >> at % 64;

		next = MIN(at - at % 64 + 64, end);
		if (word << (64 - (next - at)))
			return true;
	}
	return !set && n > (g ? g->text->range.end - a : 0);
}

bool ground_any(const struct plan_impl *p, enum layer l, raddr_t a, size_t n)
{
	return find(p, l, a, n, true);
}

bool ground_all(const struct plan_impl *p, enum layer l, raddr_t a, size_t n)
{
	return !find(p, l, a, n, false);
}

void ground_set(struct plan_impl *p, enum layer l, raddr_t a, size_t n)
{
	const struct ground *g = ground_at(p, a);

	for (size_t i = 0; g && i < n && range_has(g->text->range, a + i); i++)
		bit_set(g->bits[l], a + i - g->text->range.start);
}

void ground_clear(struct plan_impl *p, enum layer l, raddr_t a, size_t n)
{
	const struct ground *g = ground_at(p, a);

	for (size_t i = 0; g && i < n && range_has(g->text->range, a + i); i++)
		bit_clear(g->bits[l], a + i - g->text->range.start);
}

/* Control that arrives at a padding byte runs on to the end of the padding. */
static void revive(const struct ground *g, uint64_t at)
{
	uint64_t end = range_size(g->text->range);

	for (; at < end && bit_get(g->bits[LAYER_DEAD], at); at++)
		bit_clear(g->bits[LAYER_DEAD], at);
}

void ground_add_target(struct plan_impl *p, raddr_t a)
{
	const struct ground *g = ground_at(p, a);

	if (!g)
		return;
	set_fixed(g, a - g->text->range.start);
	revive(g, a - g->text->range.start);
}

size_t ground_edge(const struct plan_impl *p, raddr_t to)
{
	return vec_prefix(p->nedges, i, p->edges[i].to < to);
}

/* The function under the sweep, and where it is. */
struct sweep {
	struct plan_impl *impl;
	const struct ground *ground;
	const struct func *func;	/* last that has begun; NULL: none yet */
	raddr_t limit;			/* where the next one begins */
	bool dead;			/* control did not come to here */
};

/* A jump or branch within what the sweep reads of one function in one go: who
 * reads the function from its start finds it too. */
static bool is_link(const struct sweep *s, const struct insn *in)
{
	struct range r = s->func->range;

	r.end = MIN(r.end, s->limit);
	return in->kind != INSN_CALL && range_has(r, in->pc) && range_has(r, in->dest);
}

/* Remember where a branch leads and, if it enters another function elsewhere
 * than at its start, from where: see body.c. */
static int note_branch(struct sweep *s, const struct insn *in)
{
	struct plan_impl *p = s->impl;
	const struct ground *g = range_has(s->ground->text->range, in->dest) ?
		s->ground : ground_at(p, in->dest);

	if (!g)
		return 0;
	uint64_t at = in->dest - g->text->range.start;

	bit_set(g->bits[LAYER_TARGET], at);
	if (in->kind == INSN_CALL)
		bit_set(g->bits[LAYER_CALLED], at);
	if (s->func && is_link(s, in))
		return 0;
	/* Code that belongs to no function we know may enter where it likes:
	 * nobody expects its calls to be recorded. */
	if (!s->func || !range_has(s->func->range, in->pc) ||
	    range_has(s->func->range, in->dest) || bit_get(g->bits[LAYER_START], at) ||
	    !symbols_func_at(p->symbols, in->dest)) {
		bit_set(g->bits[LAYER_FIXED], at);
		return 0;
	}
	struct edge *e = vec_push(p->edges, p->nedges, p->edges_cap);

	if (!e)
		return -ENOMEM;
	*e = (struct edge){ .to = in->dest, .back = (int64_t)(in->pc - in->dest),
			    .branch = in->kind == INSN_BRANCH };
	return 0;
}

/* A landing pad waits for an indirect branch, and who takes the address of
 * code may go there. */
static void note_addresses(struct sweep *s, const struct insn *in)
{
	struct range t = s->ground->text->range;

	if (in->flags & INSN_LANDING)
		set_called(s->ground, in->pc - t.start);
	if (in->flags & INSN_PCREL && range_has(t, in->ref))
		set_called(s->ground, in->ref - t.start);
}

/*
 * Is this what compilers and linkers pad with? Zero bytes are not taken for it:
 * hand-written code keeps constants between its functions, and those may be
 * zero, but are never nops.
 */
static bool pads(const struct arch *arch, const uint8_t *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (p[i])
			return arch->is_padding(p, n);
	return false;
}

static int note_insn(struct sweep *s, const struct insn *in)
{
	note_addresses(s, in);
	if (in->kind == INSN_JUMP || in->kind == INSN_BRANCH || in->kind == INSN_CALL)
		return note_branch(s, in);
	return 0;
}

static int sweep_insn(struct sweep *s, const uint8_t *p, const struct insn *in,
		      raddr_t limit)
{
	raddr_t start = s->ground->text->range.start;

	if (s->dead && in->pc + in->size <= limit && pads(s->impl->arch, p, in->size)) {
		for (size_t i = 0; i < in->size; i++)
			bit_set(s->ground->bits[LAYER_DEAD], in->pc + i - start);
		return 0;
	}
	/* Only the end of a function's code makes padding: what looks like a
	 * return between functions may be data. A breakpoint is no end. */
	s->dead = insn_ends(in) && s->func && range_has(s->func->range, in->pc) &&
		!insn_may_resume(s->impl->arch, p, in);
	return note_insn(s, in);
}

static int measure_at(const struct sweep *s, raddr_t pc, struct insn *ret)
{
	const struct text *t = s->ground->text;

	return pc >= t->range.end ? -EILSEQ :
		s->impl->arch->measure(t->bytes + (pc - t->range.start),
				       t->range.end - pc, pc, ret);
}

/*
 * The next function begins inside the last instruction of this one, so its
 * code can be read in two ways. The sweep goes on with the new one; follow the
 * old one here until both are the same.
 */
static int sweep_overlap(struct sweep *s, raddr_t old, raddr_t new)
{
	while (old != new && range_has(s->func->range, old)) {
		struct insn in;
		bool behind = new < old;

		if (measure_at(s, behind ? new : old, &in)) {
			if (!behind)
				break;
			in.size = s->impl->arch->align;
		}
		int err = behind ? 0 : note_insn(s, &in);

		if (err)
			return err;
		if (s->impl->budget < in.size)
			return fail(EBADMSG, "plan %s: its functions overlap everywhere",
				    s->impl->symbols->base);
		s->impl->budget -= in.size;
		*(behind ? &new : &old) += in.size;
	}
	return 0;
}

/* From one function's start to the next one's. */
static int sweep_span(struct sweep *s, raddr_t pc, raddr_t limit)
{
	const struct text *t = s->ground->text;

	s->limit = limit;
	for (s->dead = false; pc < limit; ) {
		struct insn in;

		if (measure_at(s, pc, &in)) {
			pc += s->impl->arch->align;
			s->dead = false;
			continue;
		}
		int err = sweep_insn(s, t->bytes + (pc - t->range.start), &in, limit);

		if (err)
			return err;
		pc += in.size;
	}
	return pc > limit && s->func ? sweep_overlap(s, pc, limit) : 0;
}

static int sweep_text(struct plan_impl *p, const struct ground *g)
{
	const struct symbols *syms = p->symbols;
	struct range t = g->text->range;
	struct sweep s = { .impl = p, .ground = g };
	raddr_t pc = t.start;
	int err = 0;

	for (size_t i = 0; i < syms->nfuncs && !err; i++) {
		const struct func *f = &syms->funcs[i];

		if (!range_has(t, f->range.start))
			continue;
		err = sweep_span(&s, pc, f->range.start);
		s.func = f;
		pc = f->range.start;
	}
	return err ? err : sweep_span(&s, pc, t.end);
}

/* The sweep meets padding before it meets the branches into it. */
static void revive_all(const struct ground *g)
{
	uint64_t words = range_size(g->text->range) / 64 + 1;

	for (uint64_t w = 0; w < words; w++) {
		uint64_t both = g->bits[LAYER_TARGET][w] & g->bits[LAYER_DEAD][w];

		for (; both; both &= both - 1)
			revive(g, w * 64 + (unsigned int)__builtin_ctzll(both));
	}
}

static int by_to(const void *a, const void *b)
{
	const struct edge *x = a, *y = b;

	return x->to < y->to ? -1 : x->to > y->to;
}

static int lay_out(struct plan_impl *p)
{
	const struct symbols *syms = p->symbols;

	p->grounds = calloc(syms->ntexts + 1, sizeof(*p->grounds));
	if (!p->grounds)
		return fail(ENOMEM, "plan %s", syms->base);
	for (; p->ngrounds < syms->ntexts; p->ngrounds++) {
		struct ground *g = &p->grounds[p->ngrounds];

		g->text = &syms->texts[p->ngrounds];
		for (int l = 0; l < LAYERS; l++) {
			g->bits[l] = calloc(range_size(g->text->range) / 64 + 1,
					    sizeof(uint64_t));
			if (!g->bits[l]) {
				p->ngrounds++;
				return fail(ENOMEM, "plan %s", syms->base);
			}
		}
	}
	return 0;
}

/*
 * The unlikely half of a function, where only an unwind entry tells of it, looks
 * like a function if it begins outside of any frame. But such halves are packed,
 * while functions are aligned, all but unlikely ones.
 */
static bool may_be_piece(const struct func *f)
{
	return f->source == FUNC_EH_FRAME && !(f->flags & FUNC_FRAGMENT) &&
	       f->range.start % PIECE_ALIGN;
}

bool ground_is_fragment(const struct plan_impl *p, const struct func *f)
{
	return f->flags & FUNC_FRAGMENT || !ground_any(p, LAYER_START, f->range.start, 1);
}

bool ground_may_be_piece(const struct plan_impl *p, const struct func *f)
{
	return ground_is_fragment(p, f) ||
		(may_be_piece(f) && !ground_any(p, LAYER_CALLED, f->range.start, 1));
}

/* By index of functions: it jumps into the middle of another. */
static void note_leading_back(const struct plan_impl *p, bool *leads)
{
	const struct symbols *syms = p->symbols;

	for (size_t i = 0; i < p->nedges; i++) {
		const struct func *f = symbols_func_at(syms, edge_from(&p->edges[i]));
		const struct func *to = symbols_func_at(syms, p->edges[i].to);

		if (f && to && to->range.start != p->edges[i].to)
			leads[f - syms->funcs] = true;
	}
}

static bool is_branched_to(const struct plan_impl *p, raddr_t a)
{
	for (size_t i = ground_edge(p, a); i < p->nedges && p->edges[i].to == a; i++)
		if (p->edges[i].branch)
			return true;
	return false;
}

/* Most of what was noted are calls. */
static void trim_edges(struct plan_impl *p)
{
	struct edge *fewer = reallocarray(p->edges, p->nedges + 1, sizeof(*fewer));

	if (!fewer)
		return;
	p->edges = fewer;
	p->edges_cap = p->nedges + 1;
}

/* Nobody calls a piece or takes its address; a conditional branch leads there,
 * or it leads back into the middle of a function. The others are functions. */
static int settle_pieces(struct plan_impl *p)
{
	const struct symbols *syms = p->symbols;
	auto_free bool *leads = calloc(syms->nfuncs + 1, sizeof(*leads));
	size_t kept = 0;

	if (!leads)
		return fail(ENOMEM, "plan %s", syms->base);
	note_leading_back(p, leads);
	for (size_t i = 0; i < syms->nfuncs; i++) {
		raddr_t start = syms->funcs[i].range.start;

		if (may_be_piece(&syms->funcs[i]) &&
		    (ground_any(p, LAYER_CALLED, start, 1) ||
		     (!leads[i] && !is_branched_to(p, start))))
			ground_set(p, LAYER_START, start, 1);
	}
	/* A jump to a function's start is a call. */
	for (size_t i = 0; i < p->nedges; i++)
		if (!ground_any(p, LAYER_START, p->edges[i].to, 1))
			p->edges[kept++] = p->edges[i];
	p->nedges = kept;
	trim_edges(p);
	return 0;
}

static void ground_fix(struct plan_impl *p, raddr_t a)
{
	const struct ground *g = ground_at(p, a);

	if (g)
		set_fixed(g, a - g->text->range.start);
}

int ground_make(struct plan_impl *p)
{
	const struct symbols *syms = p->symbols;
	int err = lay_out(p);

	if (err)
		return err;
	for (size_t i = 0; i < syms->nfuncs; i++) {
		const struct func *f = &syms->funcs[i];

		ground_fix(p, f->range.start);
		if (!(f->flags & FUNC_FRAGMENT) && !may_be_piece(f))
			ground_set(p, LAYER_START, f->range.start, 1);
	}
	for (size_t i = 0; i < syms->npointers; i++)
		ground_set(p, LAYER_CALLED, syms->pointers[i], 1);
	for (size_t i = 0; i < syms->npointers; i++)
		ground_fix(p, syms->pointers[i]);
	for (size_t i = 0; i < p->ngrounds; i++) {
		err = sweep_text(p, &p->grounds[i]);
		if (err)
			return err;
	}
	for (size_t i = 0; i < p->ngrounds; i++)
		revive_all(&p->grounds[i]);
	if (p->nedges)
		qsort(p->edges, p->nedges, sizeof(*p->edges), by_to);
	return settle_pieces(p);
}

void ground_free(struct plan_impl *p)
{
	for (size_t i = 0; i < p->ngrounds; i++)
		for (int l = 0; l < LAYERS; l++)
			free(p->grounds[i].bits[l]);
	free(p->grounds);
	free(p->edges);
}
