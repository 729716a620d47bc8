/* SPDX-License-Identifier: MIT */
/*
 * arrivals: where may control arrive that is led there by an address, and is all of that
 * known?
 *
 * One answer for the whole module, before the first window is placed, and whatever was
 * selected. docs/sites.md has the rules and their reasons.
 */
#include "plan/arrivals.h"

#include <errno.h>
#include <string.h>
#include <stdlib.h>

#include "plan/flow/value.h"

enum {
	ZEROS = 64,		/* bytes behind code, which might be data if they were fewer */
	PLACES = 4096,		/* that one jump may go to by a bounded index */
};

/* As arrivals_lead_to, once all functions have been judged: what is a target while they are
 * does not depend on their order. */
static int lead_later(struct plan_impl *p, raddr_t a)
{
	raddr_t *new = vec_push(p->places, p->nplaces, p->places_cap);

	if (!new)
		return -ENOMEM;
	*new = a;
	return 0;
}

/* Is all code above that? */
static bool is_low(const struct plan_impl *p, raddr_t a)
{
	const struct symbols *syms = p->symbols;
	bool low = true;

	for (size_t i = 0; i < syms->ntexts && !syms->is_pie; i++)
		low &= syms->texts[i].range.start >= a;
	return low;
}

/* A distance of four bytes or more that is found by a pointer: nothing says what it is one to. */
static bool is_by_pointer(const struct value *v)
{
	return v->kind == VALUE_PLACE && !v->table && v->width >= 4 && v->scale == 1;
}

/* Of data that the file has, or of memory behind all code that it only asks for? */
static bool is_of_data(const struct plan_impl *p, raddr_t a)
{
	return symbols_is_tabled(p->symbols, a) ||
		(a >= p->texts.end && !symbols_holds(p->symbols, a));
}

/* A distance that stands in data, and is added to other data? All data tell what that is one to. */
static bool is_from_data(const struct plan_impl *p, const struct value *v)
{
	return v->kind == VALUE_PLACE && v->width == 4 && v->scale == 1 && v->table != v->number &&
		is_of_data(p, v->number) && (!v->table || symbols_is_tabled(p->symbols, v->table));
}

/* If that distance is one to code, data has it: see words.c. */
static int base_later(struct plan_impl *p, raddr_t pc, raddr_t base)
{
	struct based *new = vec_push(p->bases, p->nbases, p->bases_cap);

	if (!new)
		return -ENOMEM;
	*new = (struct based){ base, pc };
	return 0;
}

/* `goes`: control goes by it here, and not perhaps elsewhere. */
static int judge_value(struct plan_impl *p, raddr_t pc, const struct value *v, bool goes)
{
	size_t left;
	int err = 0;

	switch (v->kind) {
	case VALUE_WORD:
	case VALUE_SUM:
	case VALUE_RANGE:	/* no code is so low */
		return 0;
	case VALUE_ENTRY:
		/* Where addresses have four bytes all words of data are looked at; and
		 * elsewhere no code is at any that has so few. A table that is not known may
		 * stand in code. */
		if (v->width == 4 && v->scale == 1 && !v->table && v->indexed && goes)
			break;
		if (v->width == 4 && v->scale == 1)
			return symbols_text(p->symbols, v->table, &left) ?
				distances_add(p, pc, v, false) : 0;
		if (v->width <= 2 && !v->extends && is_low(p, (1u << 8 * v->width) * v->scale))
			return 0;
		break;
	case VALUE_NUMBER:
		return lead_later(p, v->number);
	case VALUE_POINT:
		if (v->stride && v->most / v->stride <= PLACES) {
			for (raddr_t n = 0; n <= v->most && !err; n += v->stride)
				err = lead_later(p, v->number + n);
			return err;
		}
	}
	if (!goes && is_from_data(p, v))
		return base_later(p, pc, v->number);
	err = distances_is_table(v) ?
		distances_add(p, pc, v, goes && distances_is_switch(p, v)) : 0;
	/* Where entries of what is no table of distances from itself end, and how far one is
	 * from the next, only an index that is bounded tells. */
	bool data = v->number == v->table && !goes && !arrivals_is_code(p, v->number);
	bool known = distances_is_switch(p, v) ||
		(distances_is_table(v) && v->kind == VALUE_PLACE &&
		 (v->stride || (data && distances_lead_to_text(p, v))));

	return err || known ? err :
		arrivals_doubt(p, pc, v->kind == VALUE_PLACE || v->kind == VALUE_ENTRY ?
			       UNPROVED_TABLE : UNPROVED_SUM);
}

/* `words`: it goes by whole words, and what else it may be it is not. */
static int judge_values(struct plan_impl *p, raddr_t pc, const struct values *s, bool words)
{
	int err = 0;

	for (size_t i = 0; i < s->n && !err; i++)
		if (!words || s->v[i].kind == VALUE_NUMBER)
			err = judge_value(p, pc, &s->v[i], true);
	return err;
}

/* Are there only zeros, up to the next function? Code ends before them; no data are so. */
static bool is_behind_code(const uint8_t *bytes, size_t left)
{
	size_t n = MIN(left, ZEROS);

	for (size_t i = 0; i < n; i++)
		if (bytes[i])
			return false;
	return true;
}

/* Is code there, or right before? */
static bool is_code_or_end(const struct plan_impl *p, raddr_t a)
{
	size_t left;
	const uint8_t *bytes = symbols_text(p->symbols, a, &left);

	/* Where a text ends; behind it data may begin. */
	if (!bytes && !symbols_func_at(p->symbols, a))
		return symbols_text(p->symbols, a - 1, &left) && !symbols_is_tabled(p->symbols, a);
	return arrivals_is_code(p, a) ||
		(bytes && !symbols_is_data(p->symbols, a, NULL) && is_behind_code(bytes, left));
}

/* An address that was computed (`added`: by adding), and may go anywhere from here: is it of
 * code? From an address of data only the entries of a table lead there, or what pointers lead
 * to. */
static bool may_lead(const struct plan_impl *p, const struct value *v, bool added)
{
	const struct func *f = symbols_func_at(p->symbols, v->number);

	/* Where a function begins some ask of what page it is on, or whether it is this one; to
	 * that nothing is added. */
	if (!v->named || v->kind == VALUE_ENTRY ||
	    (v->kind == VALUE_POINT && !added && f && f->range.start == v->number))
		return false;
	return is_code_or_end(p, v->number) || arrivals_is_outside(p, v->number) ||
		is_by_pointer(v) ||
		(v->kind == VALUE_PLACE && distances_is_table(v) && distances_lead_to_text(p, v));
}

/* May it lead into the body, other than by a jump of which that is known? The verdicts of the
 * body are those from `first` on. */
static bool may_come_back(const struct flow *f, const struct value *v, size_t first)
{
	const struct plan_impl *p = f->body->impl;

	if (v->kind == VALUE_NUMBER || (v->kind == VALUE_POINT && v->stride))
		return body_has(f->body, v->number) && v->number != f->body->func->range.start;
	for (size_t i = first; i < p->nverdicts && distances_is_switch(p, v); i++)
		if (p->verdicts[i].table == v->number)
			return false;
	return true;
}

/* Does an instruction name an address? */
static bool is_naming(const struct flow *f, size_t step, const struct effect *e)
{
	if (e->op == EFFECT_POP)
		return flow_is_own_address(f, step);
	const struct plan_impl *p = f->body->impl;

	return e->op == EFFECT_NUMBER && (arrivals_is_address(p, (raddr_t)e->number) ||
					  (e->named && arrivals_is_outside(p, (raddr_t)e->number)));
}

/* Is an address of code written to the frame, as a number? */
static bool is_kept(const struct flow *f, const struct effect *e)
{
	const struct plan_impl *p = f->body->impl;
	raddr_t a = (raddr_t)e->written;

	if (!e->writes || p->symbols->is_pie ||
	    !(e->pushes || arch_is_stack(p->arch, e->base)))
		return false;
	const struct func *at = symbols_func_at(p->symbols, a);

	return body_has(f->body, a) || (at && at->range.start == a) || arrivals_may_be_place(p, a);
}

/* Is a word taken from there? */
static bool takes_kept(const struct flow *f, const struct effect *e)
{
	return e->op == EFFECT_POP || (e->op == EFFECT_LOAD && e->width == 8 && e->index < 0 &&
				       arch_is_stack(f->body->impl->arch, e->base));
}

/* Is the address of code among what memory gets? */
static bool stores_code(const struct plan_impl *p, const struct effect *e)
{
	raddr_t number = (raddr_t)e->written;

	return e->stores && e->source < 0 && number && !p->symbols->is_pie &&
		arrivals_is_address(p, number) && arrivals_is_code(p, number);
}

static bool is_start(const struct plan_impl *p, raddr_t a)
{
	const struct func *f = symbols_func_at(p->symbols, a);

	return f && f->range.start == a;
}

/* The registers that may ever hold an address which the code names. *code: one of code is, as
 * registers or memory get it, and something may be made of it. */
static uint32_t named_registers(struct flow *f, bool *code)
{
	const struct body *b = f->body;
	const struct plan_impl *p = b->impl;
	uint32_t regs = 0, taken = 0, copies[ARCH_REGISTERS_MAX] = { 0 };
	bool kept = false;

	*code = false;
	for (size_t i = 0; i < b->nsteps; i++) {
		if (b->steps[i].insn.kind != INSN_PLAIN)
			continue;
		const struct effect *e = effect_at(f, i);

		if (e->op == EFFECT_KEEP && !e->stores && !e->pushes)
			continue;
		raddr_t number = e->stores ? (raddr_t)e->written : (raddr_t)e->number;

		kept |= is_kept(f, e);
		if (takes_kept(f, e))
			taken |= 1u << e->reg;
		if (is_naming(f, i, e)) {
			regs |= 1u << e->reg;
			*code = *code || e->op == EFFECT_POP ||
				(arrivals_is_code(p, number) &&
				 !flow_passes_on(f, i, e->reg, is_start(p, number)));
		}
		*code = *code || stores_code(p, e);
		effect_note_copies(e, copies);
	}
	return effect_copied(regs | (kept ? taken : 0), copies);
}

/* Is one of them computed from what code names, and judged as that? */
static bool values_say_where(const struct values *s)
{
	for (size_t i = 0; i < s->n; i++)
		if (s->v[i].named)
			return true;
	return false;
}

/*
 * An address of code that is computed need not be gone by here: it may be kept, and other code
 * takes it for a whole word. So wherever something is added to an address that the code
 * names, the sum is judged like what a jump goes by. If it may lead into the body itself, no
 * jump of the body by a whole word is sure to leave it.
 */
static int judge_sums(struct plan_impl *p, struct flow *f, uint32_t regs, size_t first,
		      struct mixed *mixed)
{
	bool back = false;

	const struct body *b = f->body;
	struct named n;
	int err = named_begin(f, &n);

	for (size_t i = 0; i < b->nsteps && (regs || mixed || !p->symbols->is_pie) && !err; i++) {
		uint32_t named = regs ? regs & named_next(&n, i) : 0;
		raddr_t place = 0;
		enum mixes mixes = mixed ? mixed_made(mixed, i, &place) : MIXES_NOT;
		struct values s;

		s.n = 0;
		if (mixes == MIXES_PLACE) {
			back |= body_has(b, place);
			err = lead_later(p, place);
		}
		const struct effect *e = effect_at(f, i);

		/* Of what holds nothing that is named only a sum may make something. */
		if (b->steps[i].insn.kind != INSN_PLAIN || (!named && e->op != EFFECT_SUM) ||
		    !flow_sum(f, i, e, named, &s))
			s.n = 0;
		bool judged = mixes <= MIXES_PLACE || values_say_where(&s) ||
			flow_sum_by_jumps(f, i, e, &s);

		for (size_t k = 0; k < s.n && judged && !err; k++) {
			if (!may_lead(p, &s.v[k], e->op == EFFECT_SUM || e->stores))
				continue;
			back |= may_come_back(f, &s.v[k], first);
			err = judge_value(p, b->steps[i].insn.pc, &s.v[k], false);
		}
		back |= !judged;
		if (!judged && !err)
			err = arrivals_doubt(p, b->steps[i].insn.pc, UNPROVED_SUM);
	}
	for (size_t i = first; i < p->nverdicts && back; i++)
		if (p->verdicts[i].goes == GOES_WORD)
			p->verdicts[i].goes = GOES_UNPROVED;
	free(n.before);
	return err;
}

/* What it computes from addresses, whether it goes by that or not. */
static int judge_computed(struct plan_impl *p, struct flow *f, bool takes, size_t first)
{
	bool code;
	uint32_t regs = named_registers(f, &code);
	struct mixed *mixed = NULL;
	int err = code || takes ? flow_mixed(f, takes, &mixed) : 0;

	if (!err)
		err = judge_sums(p, f, regs, first, mixed);
	flow_mixed_free(mixed);
	return err ? err : vectors_judge(p, f, regs);
}

/* A call goes by a whole word on one way at least, and on others by what nothing is known of:
 * those are ways that the code does not mean, as behind a test that was made before. */
static bool is_call_by_word(const struct body *b, size_t step, const struct values *s)
{
	bool words = false;

	for (size_t i = 0; i < s->n; i++) {
		uint8_t kind = s->v[i].kind;
		/* What was loaded from nowhere that is known, and changed. */
		bool part = (kind == VALUE_PLACE || kind == VALUE_ENTRY) && !s->v[i].named &&
			!s->v[i].table;

		if (kind == VALUE_ANY && s->v[i].kept)
			return false;
		if (!part && kind != VALUE_WORD && kind != VALUE_NUMBER && kind != VALUE_ANY &&
		    kind != VALUE_SUM && kind != VALUE_RANGE)
			return false;
		words |= kind == VALUE_WORD ||
			(kind == VALUE_NUMBER && is_start(b->impl, s->v[i].number));
	}
	return words && b->steps[step].insn.kind == INSN_CALL_INDIRECT;
}

/* May control leave by an address here? Most steps are of another kind. */
static bool leaves_by_address(const struct step *s)
{
	return s->by_thunk || insn_ends(&s->insn) || s->insn.kind == INSN_CALL_INDIRECT ||
		s->insn.kind == INSN_UNKNOWN;
}

int arrivals_judge(struct plan_impl *p, const struct body *b, unsigned int suspects)
{
	size_t first = p->nverdicts, doubts = p->ndoubts;
	bool all = true;
	struct flow f;
	int err = flow_make(b, &f);

	f.backs = suspects & SUSPECT_BACK;
	if (!err)
		err = flow_follow(&f, &all);
	if (!err && !all)
		err = arrivals_doubt(p, b->func->range.start, UNPROVED_TABLE);
	f.hurried = flow_hurries(&f, p->ndoubts - doubts);
	for (size_t i = 0; i < b->nsteps && !err; i++) {
		struct values s;
		bool certain;

		if (!leaves_by_address(&b->steps[i]) || !flow_goal(&f, i, &s))
			continue;
		/* In a large function the search may have ended too early. */
		certain = !values_have_any(&s) || !flow_is_whole(&f, i);
		if (certain && values_have_any(&s)) {
			f.patient = true;
			flow_goal(&f, i, &s);
			f.patient = false;
		}
		err = judge_values(p, b->steps[i].insn.pc, &s,
				   !certain || is_call_by_word(b, i, &s));
		if (!err && (b->steps[i].insn.kind != INSN_CALL_INDIRECT ||
			     (certain && verdict_is_own_call(b, &s))))
			err = verdict_note(p, b, i, &s, certain);
		f.hurried = flow_hurries(&f, p->ndoubts - doubts);
	}
	bool takes = suspects & SUSPECT_TAKES;

	if (!err && (takes || suspects & SUSPECT_NAME))
		err = judge_computed(p, &f, takes, first);
	flow_clear(&f);
	return err;
}
