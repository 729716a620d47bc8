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
 */
#include <errno.h>
#include <string.h>

#include "plan/tables.h"

enum { NEAR = 32 };		/* instructions between a table's address and its jump that
				 * leave no doubt */

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

	return goal_find(b, step, &set) == GOAL_SUM;
}

/* Is all of what it goes by loaded from memory? */
static bool is_loaded(const struct body *b, size_t step)
{
	size_t set;
	enum goal goal = goal_find(b, step, &set);

	return goal == GOAL_MEMORY || (goal == GOAL_LOADED && goal_is_alone(b, set, step));
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
		goal_frame_is_gone(b, before->insn.pc) == 0;
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

/* By a thunk, nobody knows which register's it is: a way out only if nothing here may be
 * one in. */
static enum indirect judge_thunk(struct body *b, const struct tables *t, size_t step)
{
	return goal_frame_is_gone(b, b->steps[step].insn.pc) == 1 && !t->n && !has_labels(b, t) &&
		!names_itself(b, t) ? INDIRECT_TAIL : INDIRECT_UNSURE;
}

/* Where does the indirect jump `step` lead? Takes from `spare`. */
static enum indirect judge_jump(struct body *b, const struct tables *tables,
				size_t step, size_t *spare)
{
	const struct insn *in = &b->steps[step].insn;
	if (b->steps[step].thunk)
		return judge_thunk(b, tables, step);
	raddr_t entries = goal_table(b, step);
	enum indirect leads = entries ? tables_judge(b, entries) : INDIRECT_TAIL;

	if (in->flags & INSN_SLOT)	/* through the linkage table */
		return INDIRECT_TAIL;
	if (leads != INDIRECT_TAIL)
		return leads;
	/* What was named may be an array of functions: to be judged as any jump, but
	 * where nobody tells labels from landing pads (has_labels). */
	if (entries && (in->ref || b->func->flags & FUNC_LSDA))
		return INDIRECT_UNSURE;

	int gone = in->flags & INSN_NOTRACK ? 0 : goal_frame_is_gone(b, in->pc);

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
	int err = b->may_switch ? tables_find(b, &tables) : 0;
	size_t spare = count_spare(b, &tables);

	for (size_t i = 0; i < b->nsteps && !err; i++)
		if (step_is_indirect(&b->steps[i]))
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
