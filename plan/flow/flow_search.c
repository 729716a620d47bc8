/* SPDX-License-Identifier: MIT */
/*
 * flow_search: backwards, from where a register is used to all that sets it.
 *
 * Where ways meet all of them are gone back; a place that is arrived at otherwise is
 * come to from the body's own indirect jumps, or from a call that an exception leaves.
 * What would take too long is VALUE_ANY, as is what no rule knows. What an instruction sets
 * a register to, or a word of the frame, takes searches of its own: for what it adds, or
 * loads by.
 */
#include "plan/arrivals.h"
#include "plan/flow/flow.h"

/* What register `reg` may be before `step`, in a search that goes on. */
static void flow_search(struct flow *, size_t step, int reg, struct values *ret);

/* ---- what an instruction sets a register, or a word of the frame, to ------- */

enum {
	WORD = 8,
	WIDEST = 64,		/* bytes of the longest vector */
	VECTORS = 16,		/* vector registers that are told apart */
	VECTOR_NEAR = 24,	/* steps in which a vector register was set that keeps a word */
};

/* Is some of a word of the frame written? */
static bool is_slot(const struct effect *e, int64_t number, int base)
{
	int64_t size = e->width ? e->width : WIDEST;

	return e->memory && !e->thread && e->base == base && e->index < 0 &&
		e->number < number + WORD && e->number > number - size;
}

/* What is known of what no search finds: a whole word, if the word of the frame is surely one, or
 * anything. What is not named does not matter where sums are judged; where tables are sought, which
 * of the two it is. */
static struct value given_up(struct flow *f, size_t step, const struct slot *slot)
{
	bool asks = slot && !f->near_only && !f->follows;

	return f->near_only || (asks && flow_slot_is_whole(f, step, slot)) ? value_word : value_any;
}

/* A number that is stored, or pushed: if it is no address, it is nothing that is gone by. Many
 * numbers look like one: sums are judged of those where an instruction begins. */
static struct value written(const struct flow *f, const struct effect *e)
{
	const struct plan_impl *p = f->body->impl;
	raddr_t a = (raddr_t)e->written;
	bool place = !p->symbols->is_pie && arrivals_may_be_place(p, a);
	bool other = !arrivals_is_address(p, a) ||
		(f->near_only && !place && !body_has(f->body, a));

	return p->symbols->is_pie || other ? value_word : value_number(f, a, place);
}

/* Shifted to the left: all of it, or what stays of its low half. */
static struct value shifted(const struct flow *f, struct value v, const struct effect *e)
{
	v = value_times(f, v, 1u << e->number);
	return e->cut ? value_cut(f, v) : v;
}

static struct value indexed(struct flow *f, struct value base, struct value index,
			    const struct effect *e)
{
	return value_added(f, base, value_times(f, index, MAX(e->scale, 1)));
}

/* Memory of one place. */
static bool is_fixed(const struct effect *e)
{
	return e->memory && !e->thread && e->base < 0 && e->index < 0;
}

/* False: there is no memory. */
static bool find_stores(struct flow *f)
{
	for (size_t i = 0; i < f->body->nsteps && !f->stores_known; i++) {
		const struct effect *e = effect_at(f, i);

		if (!e->stores || !is_fixed(e))
			continue;
		uint32_t *new = vec_push(f->stores, f->nstores, f->stores_cap);

		if (!new)
			return false;
		*new = (uint32_t)i;
	}
	f->stores_known = true;
	return true;
}

/* Does a step put something else than a whole word there, or a place of the body itself? */
static bool stores_other(struct flow *f, size_t step, const struct effect *e)
{
	struct values v;

	if (e->computes || e->width != 8)
		return true;
	if (e->source < 0)
		return false;
	flow_ask(f, step, e->source, &v);
	for (size_t i = 0; i < v.n; i++)
		if (v.v[i].kept || (v.v[i].kind != VALUE_WORD && v.v[i].kind != VALUE_NUMBER) ||
		    (v.v[i].kind == VALUE_NUMBER && body_has(f->body, v.v[i].number)))
			return true;
	return false;
}

/* A word of fixed memory: it is not known what another function may have put there, but that
 * is judged where it was computed. What the body itself puts there it may go by. */
static struct value word_of(struct flow *f, const struct effect *load)
{
	struct value ret = value_loaded(f, value_any, load);

	if (!is_fixed(load) || f->near_only)
		return ret;
	ret.kept = !find_stores(f);
	for (size_t i = 0; i < f->nstores && !ret.kept; i++) {
		ret.kept = effect_at(f, f->stores[i])->number == load->number &&
			stores_other(f, f->stores[i], effect_at(f, f->stores[i]));
	}
	return ret;
}

/* A word of the frame before `step`. A search goes by the register that reaches it, and not by
 * where that is: others may reach the same word. */
void flow_set_by_slot(struct flow *f, size_t step, const struct slot *slot, struct values *ret)
{
	int place = flow_slot(f, slot->base, slot->number);
	struct values of;

	if (place < 0) {
		values_add(ret, value_any);
		return;
	}
	of.n = 0;
	flow_search(f, step, place, &of);
	/* Written by another register it need not be what was found. */
	if (!f->near_only && values_are_whole(&of) &&
	    ((f->follows && of.n && values_are_words(&of)) ||
	     (flow_slot_has_others(f, step, slot) && !flow_slot_is_whole(f, step, slot))))
		values_add(ret, value_put);
	else
		values_add_all(ret, &of);
}

/* Does a register reach it that has an address of the stack somewhere? */
static bool is_of_copy(struct flow *f, size_t step, const struct effect *e)
{
	return !e->thread && !f->near_only &&
		((e->base >= 0 && flow_may_be_stack(f, step, e->base)) ||
		 (e->index >= 0 && flow_may_be_stack(f, step, e->index)));
}

static bool is_of_frame(const struct flow *f, const struct effect *e)
{
	return arch_is_stack(f->arch, e->base) && e->index < 0 && !e->thread;
}

void flow_set_by_load(struct flow *f, size_t step, const struct effect *e, struct values *ret)
{
	struct values base, index;
	bool frame = is_of_frame(f, e);

	if (frame && e->width == 8) {
		flow_set_by_slot(f, step, &(struct slot){ e->number, e->base }, ret);
		return;
	}
	if (e->width == 8 && is_of_copy(f, step, e) &&
	    (f->follows || !flow_load_is_whole(f, step, e))) {
		values_add(ret, value_put);
		return;
	}
	if (e->thread || frame || e->width == 8) {
		values_add(ret, e->width == 8 ? word_of(f, e) : value_loaded(f, value_any, e));
		return;
	}
	flow_ask(f, step, e->base, &base);
	/* An index says which entry it is: of what is known, that does not matter. */
	if (e->index >= 0 && values_are_known(&base))
		index = (struct values){ .v = { flow_bound(f, step, e->index) }, .n = 1 };
	else
		flow_ask(f, step, e->index, &index);
	for (size_t i = 0; i < base.n; i++)
		for (size_t k = 0; k < index.n; k++) {
			struct value at = indexed(f, base.v[i], index.v[k], e);

			at = value_added(f, at, value_number(f, (raddr_t)e->number, e->named));
			values_add(ret, value_loaded(f, at, e));
		}
}

void flow_set_by_sum(struct flow *f, size_t step, const struct effect *e, struct values *ret)
{
	struct values base, index;

	flow_ask(f, step, e->base, &base);
	flow_ask(f, step, e->index, &index);
	for (size_t i = 0; i < base.n; i++)
		for (size_t k = 0; k < index.n; k++) {
			struct value v = indexed(f, base.v[i], index.v[k], e);

			v = value_added(f, v, value_number(f, (raddr_t)e->number, false));
			values_add(ret, e->cut ? value_cut(f, v) : v);
		}
}

void flow_set_by_one(struct flow *f, size_t step, const struct effect *e, struct values *ret)
{
	struct effect load = *e;
	struct values of;

	load.width = 8;
	bool own = e->op == EFFECT_CODED || e->op == EFFECT_ADD_LOAD;

	flow_ask(f, step, own ? e->reg : e->base, &of);
	/* A word of the frame may be what was put there. */
	if (e->op == EFFECT_ADD_LOAD && (is_of_frame(f, e) || is_of_copy(f, step, e))) {
		struct values kept = { .n = 0 };

		if (flow_enter(f)) {
			flow_set_by_load(f, step, &load, &kept);
			flow_leave(f);
		}
		for (size_t i = 0; i < of.n; i++)
			for (size_t k = 0; k < kept.n; k++)
				values_add(ret, value_added(f, of.v[i], kept.v[k]));
		if (kept.n)
			return;
	}
	for (size_t i = 0; i < of.n; i++)
		values_add(ret, e->op == EFFECT_CODED ? value_coded(of.v[i]) :
		    e->op == EFFECT_CLIP ? value_clipped(of.v[i], (raddr_t)e->number) :
		    e->op == EFFECT_SHIFT ? shifted(f, of.v[i], e) :
		    e->op == EFFECT_CUT ? value_cut(f, of.v[i]) :
		    e->op == EFFECT_WIDEN ? value_widened(f, of.v[i]) :
		    value_added(f, of.v[i], value_loaded(f, value_any, &load)));
}

static void set_by_pop(struct flow *f, size_t step, struct values *ret)
{
	if (flow_is_own_address(f, step))
		values_add(ret, value_number(f, f->body->steps[step].insn.pc, true));
	else
		flow_set_by_slot(f, step, &(struct slot){ 0, f->arch->stack }, ret);
}

/* Word `word` of memory that a vector is loaded from. */
static void set_by_loaded(struct flow *f, size_t step, unsigned int word, struct values *ret)
{
	struct effect load = *effect_at(f, step);

	load.number += WORD * (int64_t)word;
	load.width = WORD;
	flow_set_by_load(f, step, &load, ret);
}

/* Word `word` of a vector register, that was put there shortly before (flow_is_whole looks on). */
static void set_by_vector(struct flow *f, size_t step, int vector, unsigned int word,
			  struct values *ret)
{
	const struct step *s = f->body->steps;

	for (size_t i = step; i-- > 0 && step - i <= VECTOR_NEAR && !f->led[i + 1] &&
	     s[i].piece == s[step].piece && !s[i].ends; ) {
		const struct effect *e = effect_at(f, i);
		struct vectors v;

		flow_vectors(f, i, &v);
		if (e->op != EFFECT_BACK && e->vector >= 0)
			v.to = e->vector;
		/* Those of the oldest kind are told from others only where they are kept in. */
		if (v.to != vector && v.to + VECTORS != vector)
			continue;
		if (v.to != vector || v.words == VECTOR_MIXED ||
		    (v.words == VECTOR_LOW && word > 1))
			break;
		if (e->vector == vector && e->source >= 0 && !word) {
			flow_search(f, i, e->source, ret);
			return;
		}
		/* Behind what is moved or loaded there are zeros. */
		vector = v.words == VECTOR_LOW && word ? v.high : v.low;
		word = v.words == VECTOR_LOW ? 0 : word;
		if (vector < 0 && (v.loads || word)) {
			if (v.loads > WORD * word)
				set_by_loaded(f, i, word, ret);
			else
				values_add(ret, value_word);
			return;
		}
		if (vector < 0)
			break;
	}
	values_add(ret, given_up(f, step, NULL));
}

/* A word of the frame that has one of a vector. False: it is not known which, or what that is. */
static bool set_by_stored(struct flow *f, size_t step, const struct slot *slot,
			  struct values *ret)
{
	const struct effect *e = effect_at(f, step);
	int64_t behind = slot->number - e->number;
	struct values of = { .n = 0 };

	if (f->near_only || behind < 0 || behind % WORD || behind + WORD > e->width)
		return false;
	set_by_vector(f, step, e->stored, (unsigned int)(behind / WORD) + e->word, &of);
	for (size_t i = 0; i < of.n; i++)
		if (of.v[i].kind == VALUE_ANY && !of.v[i].kept)
			return false;
	values_add_all(ret, &of);
	return true;
}

/* A word of the frame that an instruction has written, or pushed: as go_back. */
static bool put_back(struct flow *f, size_t step, const struct slot *slot, int *place,
		     struct values *ret)
{
	const struct effect *e = effect_at(f, step);
	bool part = e->stores && e->width && e->width < WORD;
	/* With what is beside it. */
	bool apart = e->stores && (e->number != slot->number || e->width != WORD);

	if (part && e->number != slot->number)
		return true;
	*place = e->source;
	/* A word of which only a part was written is none: it is not this one that
	 * is loaded. */
	if (e->computes)
		values_add(ret, value_any);
	else if (part)
		return false;
	else if (e->stored >= 0 && set_by_stored(f, step, slot, ret))
		return false;
	else if (e->writes && !apart)
		values_add(ret, written(f, e));
	else if (e->source < 0 || apart)
		values_add(ret, given_up(f, step + 1, slot));
	else
		return true;
	return false;
}

/* A word of the frame behind `step`: as go_back. */
static bool slot_back(struct flow *f, size_t step, int *place, struct values *ret)
{
	struct slot slot = f->slots[*place - REGISTERS];
	const struct effect *e = effect_at(f, step);
	const int sp = f->arch->stack;
	int64_t higher = 0;

	if ((slot.base == sp && e->pushes && slot.number == 0) ||
	    (e->stores && is_slot(e, slot.number, slot.base)))
		return put_back(f, step, &slot, place, ret);
	if (slot.base == sp ? !effect_lowers(e, sp, &higher) :
	    e->reg == slot.base || e->others >> slot.base & 1) {
		values_add(ret, given_up(f, step + 1, &slot));
		return false;
	}
	if (higher)
		*place = flow_slot(f, sp, slot.number - higher);
	if (*place < 0)
		values_add(ret, value_any);
	return *place >= 0;
}

/* Register `reg` behind `step`: true, and perhaps another one that it had before it; false:
 * what it may be is in *ret. */
static bool go_back(struct flow *f, size_t step, int *reg, struct values *ret)
{
	if (*reg >= REGISTERS)
		return slot_back(f, step, reg, ret);
	const struct effect *e = effect_at(f, step);
	if (e->op == EFFECT_SWAP && (*reg == e->reg || *reg == e->base)) {
		*reg = *reg == e->reg ? e->base : e->reg;
		return true;
	}
	if (e->op == EFFECT_RETURNED && (*reg == e->reg || *reg == f->arch->second)) {
		/* The second is rarely one, and then a function's that has conventions of
		 * its own. */
		values_add(ret, (struct value){ .kind = VALUE_WORD,
						.kept = *reg == f->arch->second });
		return false;
	}
	if (e->reg != *reg) {
		if (e->others >> *reg & 1)
			values_add(ret, value_any);
		return !(e->others >> *reg & 1);
	}
	switch (e->op) {
	case EFFECT_MOVE:
		*reg = e->base;
		return true;
	case EFFECT_MAY_MOVE:
		flow_search(f, step, e->base, ret);
		return true;
	case EFFECT_MAY_LOAD:
		flow_set_by_load(f, step, e, ret);
		return true;
	case EFFECT_NUMBER:
		values_add(ret, value_number(f, (raddr_t)e->number, e->named));
		break;
	case EFFECT_SUM:
		flow_set_by_sum(f, step, e, ret);
		break;
	case EFFECT_LOAD:
		flow_set_by_load(f, step, e, ret);
		break;
	case EFFECT_POP:
		set_by_pop(f, step, ret);
		break;
	case EFFECT_BACK:
		set_by_vector(f, step, e->vector, 0, ret);
		break;
	default:
		flow_set_by_one(f, step, e, ret);
	}
	return false;
}

/* ---- where control comes from ---------------------------------------------- */

/* Was it asked before in this search? Then it adds nothing. */
static bool is_seen(struct flow *f, size_t step, int reg)
{
	unsigned int d = f->depth - 1;
	uint64_t bit = 1ull << reg;

	if (f->seen[d][step] & bit)
		return true;
	if (!f->seen[d][step])
		f->touched[d][f->ntouched[d]++] = (uint32_t)step;
	f->seen[d][step] |= bit;
	return false;
}

void flow_ask(struct flow *f, size_t step, int reg, struct values *ret)
{
	ret->n = 0;
	if (reg < 0) {
		values_add(ret, value_number(f, 0, false));
		return;
	}
	/* A sum that is judged where it is made has, in a loop, no other origin than its first
	 * round has; but how much was added by then is not known. */
	if (!flow_enter(f)) {
		f->rounds = true;
		if (!f->near_only)
			values_add(ret, value_any);
		return;
	}
	if (!f->near_only) {
		flow_search(f, step, reg, ret);
	} else if (!asked_before(f, step, reg, ret)) {
		struct asking before = asked_begin(f);

		flow_search(f, step, reg, ret);
		asked_end(f, step, reg, &before, ret);
	}
	flow_leave(f);
}

/*
 * The body's own indirect jumps, and calls that an exception may leave. What they have in their
 * registers is passed on like arguments: where it was computed there it is judged there, if it is
 * an address. Calls go by what calls were passed, as elsewhere. Without budget it may be anything.
 */
static void search_jumps(struct flow *f, int reg, struct values *ret)
{
	unsigned int d = f->depth - 1;
	bool none = true;

	if (f->from_jumps[d] >> reg & 1)
		return;
	f->from_jumps[d] |= 1ull << reg;
	for (size_t i = 0; i < f->nleavers && f->budget; i++) {
		const struct step *s = &f->body->steps[f->leavers[i]];
		bool called = f->by_call && s->insn.kind != INSN_JUMP_INDIRECT;
		struct values from = { .n = 0 };

		if (!f->leads[f->leavers[i]])
			flow_search(f, f->leavers[i], reg, &from);
		none &= !from.n;
		for (size_t k = 0; k < from.n; k++) {
			bool any = from.v[k].kind == VALUE_ANY && !from.v[k].kept;

			values_add(ret, any && called ? value_word : from.v[k]);
		}
	}
	if (none || !f->budget)
		values_add(ret, f->budget ? value_word : value_any);
}

/* Does a piece begin here that compilers have moved away? Only jumps lead there. */
static bool is_piece(const struct body *b, raddr_t pc)
{
	for (size_t i = 1; i < b->npieces; i++)
		if (b->pieces[i].start == pc)
			return true;
	return false;
}

/* Where that is all that is asked, the first way on which it is not named says it. */
static void end_unnamed(struct flow *f, const struct values *found)
{
	if (f->only_named && f->depth == 1 && found->n && !values_are_named(found))
		f->budget = 0;
}

/* A word of the frame, where a call of the body's own leads: its way back, a word of the caller's,
 * above that, or of a frame of its own. */
static void search_caller(struct flow *f, size_t step, int reg, struct values *ret)
{
	const struct slot *slot = &f->slots[reg - REGISTERS];

	if (slot->base == f->arch->stack && slot->number >= WORD)
		reg = flow_slot(f, slot->base, slot->number - WORD);
	else if (slot->base == f->arch->stack)
		reg = -1;
	if (reg >= 0)
		flow_search(f, step, reg, ret);
	else
		values_add(ret, f->met == UINT64_MAX ? value_any : value_word);
}

/* All that lead here, but for falling in. */
static void search_ways(struct flow *f, size_t step, int reg, struct values *ret)
{
	const struct insn *in = &f->body->steps[step].insn;
	size_t n = 0;

	for (size_t i = flow_first_link(f, step);
	     i < f->nlinks && f->links[i].to == in->pc; i++, n++) {
		if (reg >= REGISTERS && f->body->steps[f->links[i].step].insn.kind == INSN_CALL)
			search_caller(f, f->links[i].step, reg, ret);
		else
			flow_search(f, f->links[i].step, reg, ret);
		end_unnamed(f, ret);
	}
	if (step == 0)
		return;
	const struct step *before = &f->body->steps[step - 1];
	bool falls = before->piece == before[1].piece && !before->ends;

	/* Where a way is known an address that is added to is followed along that one only. */
	if (f->near_only && (n || falls))
		return;
	if (f->near_only)
		values_add(ret, value_word);
	else if (ground_comes_to(f->body->impl, in) && !(n && is_piece(f->body, in->pc)))
		search_jumps(f, reg, ret);
	else if (!n)
		values_add(ret, value_word);
}

/* Back over what has nothing to do with a place; the step before the one that is returned may
 * have. */
static size_t pass_back(struct flow *f, size_t step, int reg)
{
	uint32_t mask = TOUCHES_ALL | (reg < REGISTERS ? 1u << reg : TOUCHES_SLOTS);
	size_t most = MIN(step, f->budget), n = 0;

	while (n < most && !(f->touches[step - n - 1] & mask))
		n++;
	f->budget -= n;
	return step - n;
}

static void flow_search(struct flow *f, size_t step, int reg, struct values *ret)
{
	const struct body *b = f->body;
	const int sp = f->arch->stack;

	for (;; step--) {
		if (reg != sp)
			step = pass_back(f, step, reg);
		const bool over = f->budget == 0;

		f->budget -= !over;
		if (over || reg == sp) {
			values_add(ret, value_any);
			return;
		}
		if (step == 0 || f->led[step] ||
		    b->steps[step - 1].piece != b->steps[step].piece) {
			if (is_seen(f, step, reg))
				return;
			search_ways(f, step, reg, ret);
		}
		if (step == 0)
			values_add(ret, value_word);
		if (step == 0 || b->steps[step - 1].piece != b->steps[step].piece ||
		    b->steps[step - 1].ends || !go_back(f, step - 1, &reg, ret))
			return;
	}
}
