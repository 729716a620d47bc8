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
 * A tail call's target was loaded, a table of distances' was added up. And a jump to a place
 * inside must know that place: by a table that the code names, by a word of data, or by an
 * instruction that names one.
 */
#include <errno.h>
#include <string.h>

#include "plan/text/tables.h"

/* Labels as has_labels finds, at odd places or of four bytes: numbers look like that more
 * often. */
static bool has_numbers(const struct body *b, const struct tables *t, size_t wanted)
{
	const struct plan_impl *p = b->impl;
	struct range r = b->func->range;
	size_t found = 0;

	if (p->symbols->is_pie)
		return false;
	for (raddr_t a = words_next(p, r.start + 1); a < r.end; a = words_next(p, a + 1)) {
		size_t entry = vec_prefix(t->nentries, k, t->entries[k] < a);

		found += body_step(b, a) < b->nsteps &&
			!(entry < t->nentries && t->entries[entry] == a);
	}
	return found >= wanted;
}

/*
 * Words of the file that hold addresses within the function: labels, as computed
 * gotos have. They are targets already. In a program that is linked to one address
 * a number may look like one, so two are wanted, but of assembly; and where exceptions land in the
 * function the addresses may be those of landing pads.
 */
static bool has_labels(const struct body *b, const struct tables *t, int gone)
{
	const struct symbols *syms = b->impl->symbols;
	struct range r = b->func->range;
	size_t at = vec_prefix(syms->npointers, i, syms->pointers[i] <= r.start), found = 0;
	size_t wanted = syms->is_pie || gone < 0 ? 1 : 2;
	raddr_t last = r.start;

	if (b->func->flags & FUNC_LSDA)
		return false;
	for (; at < syms->npointers && syms->pointers[at] < r.end && found < wanted; at++) {
		raddr_t a = syms->pointers[at];
		size_t entry = vec_prefix(t->nentries, i, t->entries[i] < a);
		bool known = entry < t->nentries && t->entries[entry] == a;

		found += a != last && !known && body_step(b, a) < b->nsteps;
		last = a;
	}
	return found >= wanted || has_numbers(b, t, gone < 0 ? 1 : 2);
}

/* By the instructions right before it, which control comes through one after the other. */
static enum jump_by jump_by(const struct body *b, size_t step, raddr_t *base)
{
	enum { NEAR = 32 };
	const struct step *s = b->steps;
	size_t first = step, left;
	const uint8_t *p = symbols_text(b->impl->symbols, s[step].insn.pc, &left);

	if (!p || !b->impl->arch->jump_by)
		return JUMP_BY_WORD;
	while (first && step - first < NEAR && s[first - 1].piece == s[step].piece &&
	       !s[first - 1].ends && !ground_leads_to(b->impl, LAYER_TARGET, &s[first].insn))
		first--;
	return b->impl->arch->jump_by(p, s[step].insn.pc - s[first].insn.pc, &s[step].insn, base);
}

/* Does a switch add to this address? */
static bool is_base(const struct body *b, raddr_t a)
{
	raddr_t base;

	for (size_t i = 0; i < b->nsteps && b->impl->arch->jump_by; i++)
		if (b->steps[i].insn.kind == INSN_JUMP_INDIRECT &&
		    jump_by(b, i, &base) == JUMP_BY_TABLE && base == a)
			return true;
	return false;
}

/* Does the code itself name a place inside it, other than a table, by an operand? */
static bool names_itself(const struct body *b, const struct tables *t)
{
	struct range r = b->func->range;

	for (size_t i = 0, k = 0; i < b->nsteps; i++) {
		const struct insn *in = &b->steps[i].insn;

		while (k < t->n && t->v[k].step < i)
			k++;
		if (in->kind == INSN_CALL && body_has(b, in->dest) && in->dest != r.start)
			return true;
		if (in->flags & INSN_PCREL && body_has(b, in->ref) &&
		    (k == t->n || t->v[k].step != i) && !is_base(b, in->ref))
			return true;
	}
	return false;
}

/* In a program that is linked to one address any four bytes may name one. */
static bool has_own_number(const struct body *b)
{
	const struct symbols *syms = b->impl->symbols;
	struct range r = b->func->range;
	size_t left;
	const uint8_t *p = symbols_text(syms, r.start, &left);
	size_t n = p && !syms->is_pie ? MIN(range_size(r), left) : 0;

	for (size_t i = 0; i + 4 <= n; i++) {
		uint32_t word;

		memcpy(&word, p + i, sizeof(word));
		if (word > r.start && word < r.end)
			return true;
	}
	return false;
}

/*
 * Does a jump by a whole word leave the function? Not to labels; then the stack is as it was
 * at the entry, or nothing tells how that is (assembly) and the code knows no place inside
 * it.
 */
static bool is_tail(const struct body *b, const struct tables *t, int gone)
{
	return gone != 0 && !has_labels(b, t, gone) && !names_itself(b, t) &&
		(gone == 1 || !has_own_number(b));
}

/* By a thunk, and it is not known by which register: a way out only if nothing here may be
 * one in. */
static enum indirect judge_thunk(struct body *b, const struct tables *t, size_t step)
{
	raddr_t pc = b->steps[step].insn.pc, table;

	return arrivals_goes(b->impl, pc, &table) == GOES_WORD && goal_frame_is_gone(b, pc) == 1 &&
		!t->n && !has_labels(b, t, -ENOENT) && !names_itself(b, t) && !has_own_number(b) ?
		INDIRECT_TAIL : INDIRECT_UNSURE;
}

/* Is some place inside led to otherwise than by branches, and by no landing pad? */
static bool is_arrived_at(const struct body *b)
{
	if (b->func->flags & FUNC_LSDA)
		return false;
	for (size_t i = 1; i < b->nsteps; i++)
		if (b->steps[i].piece == b->steps[i - 1].piece &&
		    (ground_leads_to(b->impl, LAYER_FIXED, &b->steps[i].insn) ||
		     body_has_word_to(b, i, b->steps[i - 1].ends)))
			return true;
	return false;
}

/* Has it a jump that goes by a table of its own, which says what leads inside? */
static bool has_switch(const struct body *b)
{
	for (size_t i = 0; i < b->nsteps; i++) {
		const struct insn *in = &b->steps[i].insn;
		raddr_t table;

		if (in->kind != INSN_JUMP_INDIRECT)
			continue;
		if (jump_by(b, i, &table) == JUMP_BY_TABLE)
			return true;
		if (in->flags & INSN_BY_REGISTER ?
		    arrivals_goes(b->impl, in->pc, &table) == GOES_SWITCH : goal_table(b, i) != 0)
			return true;
	}
	return false;
}

/*
 * By what stands right before it, if that tells; false: it does not. A switch adds a distance to a
 * place of its own, or to the table that it takes it from. A tail call has given up its frame: a
 * sum, or what a function that has a switch has kept for longer, stays inside where that is
 * still there.
 */
static bool judge_near(const struct body *b, size_t step, bool switches, enum indirect *ret)
{
	raddr_t base;
	enum jump_by by = jump_by(b, step, &base);
	bool stays = (by == JUMP_BY_SUM || (by == JUMP_BY_EARLIER && switches)) &&
		goal_frame_is_gone(b, b->steps[step].insn.pc) == 0;

	*ret = stays ? INDIRECT_INSIDE : INDIRECT_UNSURE;
	if (by == JUMP_BY_NAME)
		*ret = body_has(b, base) ? INDIRECT_INSIDE : INDIRECT_TAIL;
	if (by == JUMP_BY_TABLE && !stays)
		*ret = body_has(b, base) ? INDIRECT_INSIDE : tables_judge_distances(b, base);
	return stays || (by != JUMP_BY_WORD && by != JUMP_BY_EARLIER);
}

/* Asked once, for one function may have many such jumps. */
static bool leads_both_ways(struct body *b)
{
	if (!b->both_ways)
		b->both_ways = 1 + tables_lead_both_ways(b);
	return b->both_ways > 1;
}

/* Where does the indirect jump `step` lead? */
static enum indirect judge_jump(struct body *b, struct tables *tables, size_t step,
				bool switches)
{
	const struct insn *in = &b->steps[step].insn;

	if (b->steps[step].thunk)
		return judge_thunk(b, tables, step);
	raddr_t entries = goal_table(b, step);
	enum indirect leads = entries ? tables_judge(b, tables, entries) : INDIRECT_TAIL;

	/* Through the linkage table; other memory any code may have filled. */
	if (in->flags & INSN_SLOT && symbols_slot(b->impl->symbols, in->ref))
		return INDIRECT_TAIL;
	if (leads != INDIRECT_TAIL)
		return leads;
	/* What was named may be an array of functions: to be judged as any jump, but where
	 * labels cannot be told from landing pads (has_labels). */
	if (entries && (in->ref || b->func->flags & FUNC_LSDA))
		return INDIRECT_UNSURE;
	if (judge_near(b, step, switches, &leads))
		return leads;
	/* Its own code may have put into memory what it goes by. */
	if (arrivals_doubts(b->impl, in->pc))
		return INDIRECT_UNSURE;
	if (in->flags & INSN_BY_REGISTER) {
		raddr_t table;

		switch (arrivals_goes(b->impl, in->pc, &table)) {
		case GOES_WORD:
			break;
		case GOES_SWITCH:
			return tables_judge_distances(b, table);
		case GOES_INSIDE:
			return INDIRECT_INSIDE;
		case GOES_UNPROVED:
			return INDIRECT_UNSURE;
		}
	}
	/* By a table that is not known it may go where another jump's leads. */
	struct tables none = { 0 };

	if (in->flags & INSN_INDEXED && !entries)
		tables = &none;
	bool switched = in->flags & INSN_NOTRACK;
	int gone = goal_frame_is_gone(b, in->pc);

	if (!switched && gone == 1 && !switches && is_arrived_at(b))
		return INDIRECT_UNSURE;
	if (!switched && is_tail(b, tables, gone))
		return INDIRECT_TAIL;
	/* Where its table is not known, that of a switch may lead out, unless a frame is up. */
	return gone == 0 && has_labels(b, tables, gone) && !leads_both_ways(b) ?
		INDIRECT_INSIDE : INDIRECT_UNSURE;
}

static int judge_jumps(struct body *b, enum indirect *ret)
{
	struct tables tables = { 0 };
	size_t n = 0;
	int err = b->may_switch ? tables_find(b, &tables) : 0;
	bool switches = has_switch(b);

	for (size_t i = 0; i < b->nsteps && !err; i++)
		if (step_is_indirect(&b->steps[i]))
			ret[n++] = judge_jump(b, &tables, i, switches);
	tables_clear(&tables);
	return err;
}

int indirect_resolve(struct body *b, enum indirect **ret)
{
	*ret = b->njumps ? calloc(b->njumps, sizeof(**ret)) : NULL;
	if (b->njumps && !*ret)
		return fail(ENOMEM, "plan %s", b->func->name);
	return b->njumps ? judge_jumps(b, *ret) : 0;
}
