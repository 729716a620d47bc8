/* SPDX-License-Identifier: MIT */
/*
 * indirect: where can the indirect jumps of a function lead?
 *
 * Compilers make two kinds: a jump table, whose targets lie inside the
 * function, and a tail call through a pointer, which is an exit. To take the
 * one for the other would record an exit of a call that goes on, or miss one
 * that ended; so whatever is not plainly either is unsure, and the function
 * keeps its entry only.
 *
 * A tail call's target was loaded, a table of distances' was added up. And who is
 * to jump inside must know a place inside: by a table that the code names, by a
 * word of data, or by an instruction that names one.
 *
 * Tables have no length that could be trusted. They are read until an entry
 * leads out of the function; an entry too many is one more place that jumps
 * may not cover, never one too few.
 */
#include <errno.h>
#include <string.h>

#include "plan/impl.h"

enum {
	TABLE_MAX = 1 << 16,	/* entries */
	SET_NEAR = 16,		/* instructions before a jump in which the
				 * register that it goes by is set */
	NEAR = 32,		/* instructions between a table's address and
				 * its jump that leave no doubt */
};

/* The step that names a table. */
struct table {
	size_t step;
	raddr_t base;
};

struct tables {
	struct table *v;	/* of distances, in the order of the steps */
	size_t n, cap;
	struct table *words;	/* of addresses: see by_words */
	size_t nwords, words_cap;
	raddr_t *entries;	/* of these, sorted */
	size_t nentries, entries_cap;
};

static void tables_clear(struct tables *t)
{
	free(t->v);
	free(t->words);
	free(t->entries);
}

/* Steps are sorted by piece, and by address in each. */
static bool is_step(const struct body *b, raddr_t a)
{
	for (size_t n = 0; n < b->npieces; n++) {
		if (!range_has(b->pieces[n], a))
			continue;
		size_t at = vec_prefix(b->nsteps, i, b->steps[i].piece < n ||
				       (b->steps[i].piece == n && b->steps[i].insn.pc < a));

		return at < b->nsteps && b->steps[at].insn.pc == a;
	}
	return false;
}

/* An entry for what cannot happen may lead to the end of a piece, where there is
 * nothing. */
static bool is_inside(const struct body *b, raddr_t a)
{
	for (size_t i = 0; i < b->npieces; i++)
		if (a >= b->pieces[i].start && a <= b->pieces[i].end)
			return true;
	return false;
}

/* Is this a fragment that nobody else is known to own? What stands behind a table
 * is the next one as a rule, whose distances lead to anybody's. */
static bool may_own(const struct body *b, raddr_t a)
{
	const struct plan_impl *p = b->impl;
	const struct func *f = symbols_func_at(p->symbols, a);

	if (!f || f->parent >= 0 || !ground_may_be_piece(p, f))
		return false;
	for (size_t i = ground_edge(p, f->range.start);
	     i < p->nedges && p->edges[i].to < f->range.end; i++)
		if (!body_has(b, edge_from(&p->edges[i])) &&
		    !range_has(f->range, edge_from(&p->edges[i])))
			return false;
	return true;
}

int indirect_frame_is_gone(const struct body *b, raddr_t pc)
{
	const struct symbols *syms = b->impl->symbols;
	int64_t here, entry;
	int err = symbols_cfa_offset(syms, pc, &here);

	if (err == -ENOTSUP)	/* a frame pointer is in use */
		return 0;
	if (err || symbols_cfa_offset(syms, b->func->range.start, &entry))
		return -ENOENT;
	return here == entry;
}

static bool may_be_entry(const struct body *b, raddr_t a)
{
	return is_inside(b, a) || may_own(b, a);
}

/* The n-th entry of a table of 32-bit distances from its own start, or of 64-bit
 * addresses. */
static bool read_entry(const struct body *b, raddr_t table, bool relative, size_t n,
		       raddr_t *ret)
{
	const struct symbols *syms = b->impl->symbols;
	int32_t d;

	if (!relative)
		return !symbols_read(syms, table + n * sizeof(*ret), ret, sizeof(*ret));
	if (symbols_read(syms, table + n * sizeof(d), &d, sizeof(d)))
		return false;
	*ret = table + (raddr_t)(int64_t)d;
	return true;
}

/* What sets what the indirect jump `step` goes by, and the step that does: it may be
 * the jump itself. */
static enum goal find_goal(const struct body *b, size_t step, size_t *ret)
{
	const struct plan_impl *p = b->impl;
	const struct insn *jump = &b->steps[step].insn;
	size_t left;
	const uint8_t *to = symbols_text(p->symbols, jump->pc, &left);

	for (size_t i = step + 1; p->arch->goal && to && i-- > 0 && step - i <= SET_NEAR; ) {
		const struct step *s = &b->steps[i];
		const uint8_t *at = symbols_text(p->symbols, s->insn.pc, &left);
		bool passes = i == step || (s->piece == b->steps[step].piece && !s->ends);
		enum goal goal = at && passes ? p->arch->goal(at, &s->insn, to, jump) : GOAL_OTHER;

		*ret = i;
		if (goal)
			return goal;
	}
	return GOAL_NONE;
}

/* Does nobody come to the jump but past the step that sets what it goes by? */
static bool is_alone(const struct body *b, size_t set, size_t jump)
{
	raddr_t from = b->steps[set].insn.pc + 1;

	return !ground_any(b->impl, LAYER_TARGET, from, b->steps[jump].insn.pc + 1 - from);
}

/* The table of addresses that this jump takes an entry of: its own operand says
 * which, or the instruction that has set its register, if nobody else comes to the
 * jump. 0: nothing says so. */
static raddr_t entries_of(const struct body *b, size_t step)
{
	const struct insn *in = &b->steps[step].insn;
	size_t set;

	if (in->kind != INSN_JUMP_INDIRECT || !(in->flags & INSN_INDEXED))
		return 0;
	if (in->ref || find_goal(b, step, &set) != GOAL_TABLE)
		return in->ref;
	return is_alone(b, set, step) ? b->steps[set].insn.ref : 0;
}

/* Does this instruction name what may be a table of distances? */
static bool names_distances(const struct insn *in)
{
	return in->flags & INSN_PCREL && in->kind == INSN_PLAIN;
}

static size_t count_distances(const struct body *b, raddr_t table)
{
	size_t n = 0;
	raddr_t a;

	while (n < TABLE_MAX && read_entry(b, table, true, n, &a) && may_be_entry(b, a))
		n++;
	return n;
}

/* By address, but those that share no words apart. */
static int by_words(const void *a, const void *b)
{
	const struct table *x = a, *y = b;
	raddr_t i = x->base % sizeof(raddr_t), k = y->base % sizeof(raddr_t);

	if (i != k)
		return i < k ? -1 : 1;
	return x->base < y->base ? -1 : x->base > y->base;
}

static int list_words(const struct body *b, size_t first, struct tables *ret)
{
	for (size_t i = first; i < b->nsteps; i++) {
		raddr_t base = entries_of(b, i);

		if (!base)
			continue;
		struct table *t = vec_push(ret->words, ret->nwords, ret->words_cap);

		if (!t)
			return -ENOMEM;
		*t = (struct table){ .step = i, .base = base };
	}
	vec_sort(ret->words, ret->nwords, by_words);
	return 0;
}

/*
 * Tables of addresses lie one behind the other, and each is read as far as the last of
 * them: in one go, then. How many words are entries of the i-th, or of one that it goes
 * on with? *next is the first that it does not.
 */
static size_t count_words(const struct body *b, const struct tables *t, size_t i, size_t *next)
{
	raddr_t base = t->words[i].base, a;
	size_t n = 0, most = TABLE_MAX;

	for (*next = i; ; n++) {
		for (; *next < t->nwords && t->words[*next].base == base + n * sizeof(a); ++*next)
			most = n + TABLE_MAX;
		if (n == most || !read_entry(b, base, false, n, &a) || !may_be_entry(b, a))
			return n;
	}
}

/* The pieces that a table leads to, if it leads into the body, too. */
static int adopt_from(struct body *b, raddr_t table, bool relative, size_t n)
{
	size_t inside = 0, outside = 0;
	int err = 0;
	raddr_t a;

	for (size_t i = 0; i < n && read_entry(b, table, relative, i, &a); i++) {
		inside += body_has(b, a);
		outside += !is_inside(b, a);
	}
	for (size_t i = 0; i < n && inside && outside && !err; i++)
		if (read_entry(b, table, relative, i, &a) && !is_inside(b, a))
			err = body_adopt(b, a);
	return err;
}

static int adopt_by_words(struct body *b, size_t first)
{
	struct tables t = { 0 };
	int err = list_words(b, first, &t);

	for (size_t i = 0, next; i < t.nwords && !err; i = next) {
		size_t n = count_words(b, &t, i, &next);

		err = adopt_from(b, t.words[i].base, false, n);
	}
	tables_clear(&t);
	return err;
}

int indirect_adopt(struct body *b, size_t first)
{
	if (!b->may_switch)
		return 0;
	int err = adopt_by_words(b, first);

	for (size_t i = first, n = b->nsteps; i < n && !err; i++) {
		const struct insn *in = &b->steps[i].insn;

		if (names_distances(in))
			err = adopt_from(b, in->ref, true, count_distances(b, in->ref));
	}
	return err;
}

/*
 * Take the n-th entry of a table. One that leads to a fragment nobody is known to own
 * makes the body incomplete. *back counts the entries up to the last that leads to
 * the function's entry.
 */
static raddr_t take_entry(struct body *b, raddr_t table, bool relative, size_t n, size_t *back)
{
	raddr_t a = 0;

	read_entry(b, table, relative, n, &a);
	if (!is_inside(b, a))
		body_doubt(b, REFUSED_JUMP_TABLE);
	if (body_is_entry(b, a))
		*back = n + 1;
	ground_add_target(b->impl, a);
	return a;
}

/* To begin anew would need the stack that the entry finds: with a frame on it, where
 * the table is named, this is an entry too many. */
static void judge_way_back(struct body *b, size_t step)
{
	if (indirect_frame_is_gone(b, b->steps[step].insn.pc) != 0)
		b->refusal = REFUSED_LOOP_ENTRY;
}

static int take_distances(struct body *b, size_t step, struct tables *ret)
{
	raddr_t base = b->steps[step].insn.ref;
	size_t n = count_distances(b, base), back = 0;

	if (!n)
		return 0;
	for (size_t i = 0; i < n; i++)
		take_entry(b, base, true, i, &back);
	if (back)
		judge_way_back(b, step);
	struct table *t = vec_push(ret->v, ret->n, ret->cap);

	if (!t)
		return -ENOMEM;
	*t = (struct table){ .step = step, .base = base };
	return 0;
}

/* Takes the i-th table of words, and those that it goes on with; *next as of
 * count_words. */
static int take_words(struct body *b, struct tables *t, size_t i, size_t *next)
{
	raddr_t base = t->words[i].base;
	size_t n = count_words(b, t, i, next), back = 0;

	for (size_t k = 0; k < n; k++) {
		raddr_t *new = vec_push(t->entries, t->nentries, t->entries_cap);

		if (!new)
			return -ENOMEM;
		*new = take_entry(b, base, false, k, &back);
	}
	for (; i < *next && t->words[i].base < base + back * sizeof(base); i++)
		judge_way_back(b, t->words[i].step);
	return 0;
}

static int by_address(const void *a, const void *b)
{
	raddr_t x = *(const raddr_t *)a, y = *(const raddr_t *)b;

	return x < y ? -1 : x > y;
}

static int find_tables(struct body *b, struct tables *ret)
{
	int err = list_words(b, 0, ret);

	for (size_t i = 0, next; i < ret->nwords && !err; i = next)
		err = take_words(b, ret, i, &next);
	vec_sort(ret->entries, ret->nentries, by_address);
	for (size_t i = 0; i < b->nsteps && !err; i++)
		if (names_distances(&b->steps[i].insn))
			err = take_distances(b, i, ret);
	return err;
}

/* Does a table's address stand shortly before this step? */
static bool has_near(const struct tables *t, size_t step)
{
	size_t before = vec_prefix(t->n, i, t->v[i].step < step);

	return before && step - t->v[before - 1].step <= NEAR;
}

/*
 * Words of the file that hold addresses within the function: labels, as computed
 * gotos have. They are targets already. In a program that is linked to one address
 * a number may look like one, so two are wanted; and where exceptions land in the
 * function the addresses may be those of landing pads.
 */
static bool has_labels(const struct body *b, const struct tables *t)
{
	const struct symbols *syms = b->impl->symbols;
	struct range r = b->func->range;
	size_t at = vec_prefix(syms->npointers, i, syms->pointers[i] <= r.start), found = 0;
	size_t wanted = syms->is_pie ? 1 : 2;
	raddr_t last = r.start;

	if (b->func->flags & FUNC_LSDA)
		return false;
	for (; at < syms->npointers && syms->pointers[at] < r.end && found < wanted; at++) {
		raddr_t a = syms->pointers[at];
		size_t entry = vec_prefix(t->nentries, i, t->entries[i] < a);
		bool known = entry < t->nentries && t->entries[entry] == a;

		found += a != last && !known && is_step(b, a);
		last = a;
	}
	return found >= wanted;
}

/* Is the register that a jump goes by the sum of two, as code that reads a table
 * of distances makes it? */
static bool is_sum(const struct body *b, size_t step)
{
	size_t set;

	return find_goal(b, step, &set) == GOAL_SUM;
}

/* Is all of what it goes by loaded from memory? */
static bool is_loaded(const struct body *b, size_t step)
{
	size_t set;
	enum goal goal = find_goal(b, step, &set);

	return goal == GOAL_MEMORY || (goal == GOAL_LOADED && is_alone(b, set, step));
}

/* Does the code itself name a place inside it, other than a table? In a program
 * that is linked to one address any four bytes may. */
static bool names_itself(const struct body *b, const struct tables *t)
{
	const struct symbols *syms = b->impl->symbols;
	struct range r = b->func->range;
	size_t left;
	const uint8_t *p = symbols_text(syms, r.start, &left);
	size_t n = p && !syms->is_pie ? MIN(range_size(r), left) : 0;

	for (size_t i = 0, k = 0; i < b->nsteps; i++) {
		const struct insn *in = &b->steps[i].insn;

		while (k < t->n && t->v[k].step < i)
			k++;
		if (in->kind == INSN_CALL && body_has(b, in->dest) && in->dest != r.start)
			return true;
		if (in->flags & INSN_PCREL && body_has(b, in->ref) &&
		    (k == t->n || t->v[k].step != i))
			return true;
	}
	for (size_t i = 0; i + 4 <= n; i++) {
		uint32_t word;

		memcpy(&word, p + i, sizeof(word));
		if (word > r.start && word < r.end)
			return true;
	}
	return false;
}

/* Is the frame taken down just before this step, as it is before a tail call? */
static bool takes_down(const struct body *b, size_t step)
{
	const struct step *before = step ? &b->steps[step - 1] : NULL;

	return before && before->piece == b->steps[step].piece && !before->ends &&
		indirect_frame_is_gone(b, before->insn.pc) == 0;
}

/* May this jump go by the table of distances that stands before it? A switch's table
 * stands before what its cases end with, too. */
static bool may_use_near(const struct body *b, const struct tables *t, size_t step)
{
	return has_near(t, step) && !is_loaded(b, step) && !takes_down(b, step);
}

/*
 * Does it leave the function? By no sum, so by no table of distances, and not to
 * labels; then the stack is as it was at the entry, or nobody knows how that is
 * (assembly) and the code knows no place inside it.
 */
static bool is_tail(const struct body *b, const struct tables *t, size_t step, int gone)
{
	const struct insn *in = &b->steps[step].insn;
	bool may_be_table = in->flags & INSN_NOTRACK ||
		!(b->steps[0].insn.flags & INSN_LANDING);

	if (gone == 0 || has_labels(b, t))
		return false;
	/* Where landing pads are in use a jump table's jump is marked. */
	if (may_be_table && (is_sum(b, step) || may_use_near(b, t, step)))
		return false;
	return gone == 1 || !names_itself(b, t);
}

/* Where does the indirect jump `step` lead? Takes from `spare`. */
static enum indirect judge_jump(struct body *b, const struct tables *tables,
				size_t step, size_t *spare)
{
	const struct insn *in = &b->steps[step].insn;
	raddr_t entries = entries_of(b, step), a;

	if (in->flags & INSN_SLOT)	/* through the linkage table */
		return INDIRECT_TAIL;
	if (entries && read_entry(b, entries, false, 0, &a) && may_be_entry(b, a))
		return INDIRECT_INSIDE;
	/* What was named may be an array of functions: to be judged as any jump, but
	 * where nobody tells labels from landing pads (has_labels). */
	if (entries && (in->ref || b->func->flags & FUNC_LSDA))
		return INDIRECT_UNSURE;

	int gone = in->flags & INSN_NOTRACK ? 0 : indirect_frame_is_gone(b, in->pc);

	if (is_tail(b, tables, step, gone))
		return INDIRECT_TAIL;
	/* A compiler that has loaded a table's address before a loop uses it at
	 * the end of it, too. */
	if (has_near(tables, step) || (tables->n && is_sum(b, step)))
		return INDIRECT_INSIDE;
	if (gone != 0)
		return INDIRECT_UNSURE;
	if (has_labels(b, tables))
		return INDIRECT_INSIDE;
	if (*spare == 0)
		return INDIRECT_UNSURE;
	--*spare;
	return INDIRECT_INSIDE;
}

static int by_base(const void *a, const void *b)
{
	const struct table *x = a, *y = b;

	return x->base < y->base ? -1 : x->base > y->base;
}

static int by_step(const void *a, const void *b)
{
	const struct table *x = a, *y = b;

	return x->step < y->step ? -1 : x->step > y->step;
}

/*
 * Tables that no jump stands near to. A compiler loads an address that a loop
 * needs before the loop, so these may be the tables of jumps that have none
 * near.
 */
static size_t count_spare(const struct body *b, struct tables *t)
{
	size_t distinct = 0, near = 0;

	if (!t->n)
		return 0;
	vec_sort(t->v, t->n, by_base);
	for (size_t i = 0; i < t->n; i++)
		distinct += i == 0 || t->v[i].base != t->v[i - 1].base;
	vec_sort(t->v, t->n, by_step);
	for (size_t i = 0; i < b->nsteps; i++)
		near += b->steps[i].insn.kind == INSN_JUMP_INDIRECT && has_near(t, i);
	return distinct > near ? distinct - near : 0;
}

static int judge_jumps(struct body *b, enum indirect *ret)
{
	struct tables tables = { 0 };
	size_t n = 0;
	int err = b->may_switch ? find_tables(b, &tables) : 0;
	size_t spare = count_spare(b, &tables);

	for (size_t i = 0; i < b->nsteps && !err; i++)
		if (b->steps[i].insn.kind == INSN_JUMP_INDIRECT)
			ret[n++] = judge_jump(b, &tables, i, &spare);
	tables_clear(&tables);
	return err;
}

int indirect_resolve(struct body *b, enum indirect **ret)
{
	*ret = calloc(b->njumps + 1, sizeof(**ret));
	if (!*ret)
		return fail(ENOMEM, "plan %s", b->func->name);
	return b->njumps ? judge_jumps(b, *ret) : 0;
}
