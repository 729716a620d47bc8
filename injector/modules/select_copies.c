/* SPDX-License-Identifier: MIT */
#include "injector/modules/select_copies.h"

#include <errno.h>

#include "arch/arch.h"

enum {
	ENDS_MAX = 32,
	PIECES_MAX = 16,
	INSNS_MAX = 1 << 18,	/* of one function */
	INSNS_ALL = 1 << 28,	/* looked at for all copies of a pattern in a file: seconds */
};

/* An instruction of the function that a copy is in, and what it is to the copy. */
struct step {
	struct insn in;
	bool led;		/* others than the one before it lead there */
	bool dead;		/* nothing does: padding */
	bool inside;		/* it is the copy's, or stands among its */
	bool core;		/* control comes there from the copy's begin, within it */
};

struct outline {
	const struct symbols *symbols;
	const struct inlined_copy *copy;
	struct range pieces[PIECES_MAX];	/* of the function */
	size_t npieces;
	struct step *v;		/* by address */
	size_t n, cap;
	struct copy_end ends[ENDS_MAX];
	size_t nends;
	bool mixed;		/* the copy has no certain ends */
	int err;
};

static bool is_in(const struct range *v, size_t n, raddr_t at)
{
	for (size_t i = 0; i < n; i++)
		if (range_has(v[i], at))
			return true;
	return false;
}

/* ---- the function ---------------------------------------------------------- */

static int by_parent(const void *a, const void *b)
{
	const struct func *x = *(const struct func *const *)a, *y = *(const struct func *const *)b;

	return (x->parent > y->parent) - (x->parent < y->parent);
}

int fragments_list(const struct symbols *s, struct fragments *ret)
{
	*ret = (struct fragments){ .budget = INSNS_ALL };
	for (size_t i = 0; i < s->nfuncs; i++) {
		const struct func *f = &s->funcs[i];
		const struct func **v = f->flags & FUNC_FRAGMENT && f->parent >= 0 ?
			vec_push(ret->v, ret->n, ret->cap) : NULL;

		if (v)
			*v = f;
		else if (f->flags & FUNC_FRAGMENT && f->parent >= 0)
			return -ENOMEM;
	}
	vec_sort(ret->v, ret->n, by_parent);
	return 0;
}

static void find_pieces(struct outline *o, const struct func *f, const struct fragments *all)
{
	int32_t parent = (int32_t)(f - o->symbols->funcs);
	size_t first = vec_prefix(all->n, i, all->v[i]->parent < parent);

	o->pieces[o->npieces++] = f->range;
	for (size_t i = first; i < all->n && all->v[i]->parent == parent && !o->mixed; i++) {
		o->mixed = o->npieces == PIECES_MAX;
		if (!o->mixed)
			o->pieces[o->npieces++] = all->v[i]->range;
	}
}

static void decode_piece(struct outline *o, const struct arch *arch, struct range piece)
{
	size_t left, passed;
	const uint8_t *p = symbols_text(o->symbols, piece.start, &left);

	o->mixed |= !p || left < range_size(piece);
	for (raddr_t at = piece.start; at < piece.end && !o->mixed && !o->err;) {
		struct step *s = o->n < INSNS_MAX ? vec_push(o->v, o->n, o->cap) : NULL;

		if (!s) {
			o->mixed = o->n == INSNS_MAX;
			o->err = o->mixed ? 0 : -ENOMEM;
			return;
		}
		*s = (struct step){ .inside = is_in(o->copy->ranges, o->copy->nranges, at) };
		passed = at - piece.start;
		o->mixed = arch->measure(p + passed, range_size(piece) - passed, at, &s->in) != 0;
		at += s->in.size;
	}
}

static int by_address(const void *a, const void *b)
{
	const struct step *x = a, *y = b;

	return (x->in.pc > y->in.pc) - (x->in.pc < y->in.pc);
}

static struct step *step_at(const struct outline *o, raddr_t at)
{
	size_t i = vec_prefix(o->n, k, o->v[k].in.pc < at);

	return i < o->n && o->v[i].in.pc == at ? &o->v[i] : NULL;
}

static bool jumps(const struct step *s)
{
	return s->in.kind == INSN_JUMP || s->in.kind == INSN_BRANCH;
}

static bool calls(const struct step *s)
{
	return s->in.kind == INSN_CALL || s->in.kind == INSN_CALL_INDIRECT;
}

/* Does nothing but that, and goes on. */
static bool is_plain(const struct step *s)
{
	return s->in.kind == INSN_PLAIN;
}

static bool goes_on(const struct step *s)
{
	return s->in.kind != INSN_JUMP && s->in.kind != INSN_JUMP_INDIRECT &&
		s->in.kind != INSN_RETURN && s->in.kind != INSN_STOP;
}

static void find_led(struct outline *o)
{
	const struct symbols *s = o->symbols;

	for (size_t i = 0; i < o->n; i++) {
		struct step *to = jumps(&o->v[i]) ? step_at(o, o->v[i].in.dest) : NULL;

		if (to)
			to->led = true;
		o->mixed |= o->v[i].in.kind == INSN_JUMP_INDIRECT &&
			!(o->v[i].in.flags & INSN_SLOT);			/* 1 */
	}
	for (size_t i = 0; i < o->npieces; i++) {
		size_t k = vec_prefix(s->npointers, n, s->pointers[n] < o->pieces[i].start);

		for (; k < s->npointers && s->pointers[k] < o->pieces[i].end; k++) {
			struct step *to = step_at(o, s->pointers[k]);

			if (to)
				to->led = true;
		}
		if (step_at(o, o->pieces[i].start))
			step_at(o, o->pieces[i].start)->led = true;
	}
	for (size_t i = 0; i < o->n; i++)
		o->v[i].dead = !o->v[i].led && (!i || o->v[i - 1].dead || !goes_on(&o->v[i - 1]));
}

/* ---- the copy -------------------------------------------------------------- */

/* 2. */
static void fill_gaps(struct outline *o)
{
	for (size_t i = 0, end; i < o->n; i = end) {
		bool gap = i && o->v[i - 1].inside && goes_on(&o->v[i - 1]);

		for (end = i; end < o->n && !o->v[end].inside; end++) {
			const struct insn *before = end ? &o->v[end - 1].in : NULL;

			gap &= is_plain(&o->v[end]) && !o->v[end].led && before &&
				before->pc + before->size == o->v[end].in.pc;
		}
		gap &= end < o->n;
		for (size_t k = i; k < end && gap; k++)
			o->v[k].inside = true;
		end += end == i;
	}
}

/* 2. Before the first instruction of its own, too. False: control does not run on into that. */
static bool fill_begin(const struct outline *o, struct step *begin)
{
	struct step *s = begin, *end = o->v + o->n;
	raddr_t at = begin->in.pc;

	for (; s < end && !s->inside && s->in.pc == at; at += s++->in.size)
		if (!is_plain(s) || (s > begin && s->led))
			return false;
	if (s == end || s->in.pc != at)
		return false;
	while (s-- > begin)
		s->inside = true;
	return true;
}

/* From i control may go to `to`, at most two of them; NULL: out of the function, or nowhere. How
 * many there are. */
static int next_steps(const struct outline *o, const struct step *s, struct step *to[2])
{
	int n = 0;

	if (jumps(s))
		to[n++] = step_at(o, s->in.dest);
	/* A call may be known not to return, and be the last one. */
	if (goes_on(s)) {
		to[n] = step_at(o, s->in.pc + s->in.size);
		n += to[n] || !calls(s);
	}
	return n;
}

/* 3. Depth first. */
static void find_core(struct outline *o, struct step *begin)
{
	auto_free struct step **todo = calloc(o->n + 1, sizeof(*todo));
	size_t n = 0;

	o->err = todo ? 0 : -ENOMEM;
	if (!todo)
		return;
	begin->core = true;
	for (todo[n++] = begin; n && !o->mixed;) {
		struct step *s = todo[--n], *to[2];
		int some = next_steps(o, s, to);

		o->mixed |= s->in.kind == INSN_RETURN || s->in.kind == INSN_JUMP_INDIRECT;
		for (int i = 0; i < some && !o->mixed; i++) {
			o->mixed = !to[i] || to[i] == begin;			/* 5, 4 */
			if (o->mixed || to[i]->core || !to[i]->inside)
				continue;
			to[i]->core = true;
			todo[n++] = to[i];
		}
	}
}

/* 6. */
static bool has_frame_of_begin(const struct outline *o, raddr_t at)
{
	int64_t begin = 0, there = 0;
	int err = symbols_cfa_offset(o->symbols, o->copy->pc, &begin);

	return err != -ENOENT && symbols_cfa_offset(o->symbols, at, &there) == err &&
		begin == there;
}

static void add_end(struct outline *o, raddr_t at, bool optional)
{
	for (size_t i = 0; i < o->nends; i++)
		if (o->ends[i].at == at)
			return;
	o->mixed |= !optional && (o->nends == ENDS_MAX || !has_frame_of_begin(o, at));
	if (!o->mixed && o->nends < ENDS_MAX)
		o->ends[o->nends++] = (struct copy_end){ .begin = o->copy->pc, .die = o->copy->die,
							 .at = at, .optional = optional };
}

static void find_ends(struct outline *o, const struct step *begin)
{
	for (size_t i = 0; i < o->n && !o->mixed; i++) {
		const struct step *s = &o->v[i];
		struct step *to[2];
		int n = s->dead ? 0 : next_steps(o, s, to);

		o->mixed |= s->inside && !s->core && !s->dead &&		/* 7 */
			(!goes_on(s) || calls(s) || s->in.kind == INSN_SYSCALL ||
			 (jumps(s) && s->in.dest <= s->in.pc));
		for (int k = 0; k < n && !o->mixed; k++) {
			if (!to[k])
				continue;
			o->mixed |= !s->core && to[k]->core && to[k] != begin;	/* 4 */
			if (s->core && !to[k]->core)
				add_end(o, to[k]->in.pc, false);		/* 5 */
		}
	}
}

/* Landing pads are among the places that are led to from elsewhere. */
static void add_pads(struct outline *o)
{
	bool any = false;

	for (size_t i = 0; i < o->n; i++)
		any |= o->v[i].core && calls(&o->v[i]);
	for (size_t i = 0; i < o->npieces && any; i++) {
		const struct symbols *s = o->symbols;
		size_t k = vec_prefix(s->npointers, n, s->pointers[n] <= o->pieces[i].start);

		for (; k < s->npointers && s->pointers[k] < o->pieces[i].end; k++) {
			const struct step *to = step_at(o, s->pointers[k]);

			if (to && !to->core)
				add_end(o, s->pointers[k], true);
		}
	}
}

static void find_copy(struct outline *o, const struct arch *arch, const struct func *f,
		      struct fragments *all)
{
	struct step *begin;

	find_pieces(o, f, all);
	for (size_t i = 0; i < o->npieces && !o->mixed && !o->err; i++)
		decode_piece(o, arch, o->pieces[i]);
	all->budget -= MIN(o->n, all->budget);
	o->mixed |= !all->budget;
	vec_sort(o->v, o->n, by_address);
	begin = step_at(o, o->copy->pc);
	o->mixed |= !begin;
	if (o->mixed || o->err)
		return;
	find_led(o);
	o->mixed |= !fill_begin(o, begin);
	fill_gaps(o);
	if (!o->mixed)
		find_core(o, begin);
	if (!o->mixed && !o->err)
		find_ends(o, begin);
	if (!o->mixed && f->flags & FUNC_LSDA)
		add_pads(o);
}

static struct marked_place *begin_of(struct marked_places *places, const struct inlined_copy *c)
{
	for (size_t i = 0; i < places->n; i++)
		if (places->v[i].pc == c->pc && places->v[i].inlined && places->v[i].die == c->die)
			return &places->v[i];
	return NULL;
}

int places_add_ends(struct marked_places *places, struct module *m, const struct func *f,
		    struct fragments *all, const struct inlined_copy *c)
{
	const struct arch *arch = arch_by_machine(m->symbols->machine);
	struct outline o = { .symbols = m->symbols, .copy = c };
	struct marked_place *begin = begin_of(places, c);

	if (!begin || !arch)
		return 0;
	find_copy(&o, arch, f, all);
	if (!o.mixed && !o.err)
		begin->begins = o.nends > 0;
	for (size_t i = 0; i < o.nends && !o.mixed && !o.err; i++) {
		struct copy_end *end = vec_push(places->ends, places->nends, places->ends_cap);

		o.err = end ? places_add(places, (struct marked_place){
			.func = f, .pc = o.ends[i].at, .ends = true, .hidden = true }) : -ENOMEM;
		if (end)
			*end = o.ends[i];
	}
	free(o.v);
	return o.err;
}

/* ---- what has come of them ------------------------------------------------- */

/* A place, and its probe's number. */
struct located {
	raddr_t pc;
	size_t probe;
};

static int by_pc(const void *a, const void *b)
{
	const struct located *x = a, *y = b;

	return (x->pc > y->pc) - (x->pc < y->pc);
}

static bool is_marked(const struct placed_probe *p)
{
	return p->timed && !p->refusal;
}

/* The place where a copy begins; SIZE_MAX: it is not marked. */
static size_t begin_at(const struct selected *s, const struct located *v, const struct copy_end *e)
{
	size_t i = vec_prefix(s->nplaces, k, v[k].pc < e->begin);

	for (; i < s->nplaces && v[i].pc == e->begin; i++) {
		const struct marked_place *place = selected_place(s, v[i].probe);

		if (place->inlined && place->die == e->die && is_marked(&s->probes[v[i].probe]))
			return v[i].probe;
	}
	return SIZE_MAX;
}

/* Likewise where it ends. */
static size_t end_at(const struct selected *s, const struct located *v, raddr_t pc)
{
	size_t i = vec_prefix(s->nplaces, k, v[k].pc < pc);

	for (; i < s->nplaces && v[i].pc == pc; i++)
		if (is_marked(&s->probes[v[i].probe]) && !s->probes[v[i].probe].with)
			return v[i].probe;
	return SIZE_MAX;
}

static void count_ends(const struct selected *s, const struct copy_link *links, size_t *counts)
{
	for (size_t i = 0; i < s->nends; i++)
		if (links[i].begin != SIZE_MAX)
			counts[links[i].begin]++;
	for (size_t i = 0; i < s->nends; i++)
		if (links[i].begin != SIZE_MAX && links[i].needed && links[i].end == SIZE_MAX)
			counts[links[i].begin] = 0;
}

int copies_link(const struct selected *s, struct copy_link **links, size_t **counts)
{
	auto_free struct located *v = calloc(s->nplaces + 1, sizeof(*v));

	*links = calloc(s->nends + 1, sizeof(**links));
	*counts = calloc(s->n + 1, sizeof(**counts));
	if (!v || !*links || !*counts)
		return -ENOMEM;
	for (size_t i = 0; i < s->nplaces; i++)
		v[i] = (struct located){ s->places[i].pc, s->n - s->nplaces + i };
	vec_sort(v, s->nplaces, by_pc);
	for (size_t i = 0; i < s->nends; i++)
		(*links)[i] = (struct copy_link){ begin_at(s, v, &s->ends[i]),
						  end_at(s, v, s->ends[i].at),
						  !s->ends[i].optional };
	count_ends(s, *links, *counts);
	return 0;
}
