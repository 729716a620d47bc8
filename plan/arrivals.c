/* SPDX-License-Identifier: MIT */
/*
 * arrivals: where may control arrive that is led there by an address, and is all of that
 * known?
 *
 * One answer for the whole module, before the first window is placed, and whatever was
 * selected. HACKING.md has the rules and their reasons.
 */
#include "plan/arrivals.h"

#include <errno.h>
#include <string.h>

#include "plan/value.h"

enum {
	ENTRIES = 1 << 16,	/* of a table, at most */
	HOLES = 4,		/* that lead to no text, one after the other: its end */
	PLACES = 4096,		/* that one jump may go to by a bounded index */
	ENTRIES_TRIED = 4, WORDS_TRIED = 3, /* to see whether there is a table */
	ROUNDS = 64,		/* of jumps that lead to each other */
};

int arrivals_doubt(struct plan_impl *p, raddr_t pc, enum unproved why)
{
	struct doubt *d = vec_push(p->doubts, p->ndoubts, p->doubts_cap);

	if (!d)
		return -ENOMEM;
	*d = (struct doubt){ pc, why };
	return 0;
}

/* Of all that is named only that is kept of which a word near its start, if it is a distance
 * from there, leads into text. */
int arrivals_name(struct plan_impl *p, raddr_t a, bool *kept)
{
	int32_t d[WORDS_TRIED];
	size_t left, n;

	*kept = false;
	if (symbols_text(p->symbols, a, &left))
		return 0;
	const uint8_t *at = symbols_bytes(p->symbols, a, sizeof(d), &n);

	memcpy(d, at ? at : (const uint8_t *)d, at ? MIN(n, sizeof(d)) : 0);
	for (size_t i = 0; i < MIN(n, sizeof(d)) / sizeof(*d) && !*kept; i++)
		*kept = symbols_text(p->symbols, a + (raddr_t)(int64_t)d[i], &left);
	*kept &= symbols_is_tabled(p->symbols, a);
	if (!*kept)
		return 0;
	raddr_t *new = vec_push(p->maybes, p->nmaybes, p->maybes_cap);

	if (!new)
		return -ENOMEM;
	*new = a;
	return 0;
}

int arrivals_way(struct plan_impl *p, raddr_t a)
{
	size_t left;

	if (!symbols_text(p->symbols, a, &left) || symbols_func_at(p->symbols, a))
		return 0;
	raddr_t *new = vec_push(p->ways, p->nways, p->ways_cap);

	if (!new)
		return -ENOMEM;
	*new = a;
	return 0;
}

void arrivals_suspect(struct plan_impl *p, const struct func *f, enum suspect s)
{
	p->suspects[f - p->symbols->funcs] |= s;
}

/* What compilers make of a switch: distances of four bytes from the table's own start. The
 * entry may be one that a path knows, and not the first. */
static bool is_switch(const struct value *v)
{
	return v->kind == VALUE_PLACE && v->named && v->width == 4 && v->extends &&
		v->scale == 1 && v->table - v->number < 4 * ENTRIES &&
		(v->table - v->number) % 4 == 0;
}

static int add_table(struct plan_impl *p, const struct value *v)
{
	struct table_at *t = vec_push(p->tables, p->ntables, p->tables_cap);

	if (!t)
		return -ENOMEM;
	*t = (struct table_at){ .base = v->number,
				.at = is_switch(v) ? v->number : v->table,
				.most = v->stride && !is_switch(v) ? v->most + 1 : 0,
				.width = v->width, .scale = v->scale, .extends = v->extends };
	return 0;
}

static bool is_table(const struct value *v)
{
	return (v->kind == VALUE_PLACE || v->kind == VALUE_ENTRY) && v->table && v->width < 8;
}

/* Go's compiler computes no address of code, and its tables, of addresses, lead to their own
 * function only. */
static void lead_to(struct plan_impl *p, raddr_t a)
{
	if (!ground_is_number(p, a))
		ground_add_target(p, a);
}

static int judge_value(struct plan_impl *p, raddr_t pc, const struct value *v)
{
	switch (v->kind) {
	case VALUE_WORD:
	case VALUE_SUM:
	case VALUE_RANGE:	/* no code is so low */
		return 0;
	case VALUE_ENTRY:
		/* Where addresses have four bytes all words of the file are looked at; and
		 * elsewhere no code is at any that has so few. */
		if (v->width == 4 && v->scale == 1)
			return 0;
		break;
	case VALUE_NUMBER:
		lead_to(p, v->number);
		return 0;
	case VALUE_POINT:
		if (v->stride && v->most / v->stride <= PLACES) {
			for (raddr_t n = 0; n <= v->most; n += v->stride)
				lead_to(p, v->number + n);
			return 0;
		}
	}
	int err = is_table(v) ? add_table(p, v) : 0;

	return err || is_switch(v) || (is_table(v) && v->kind == VALUE_PLACE && v->stride) ? err :
		arrivals_doubt(p, pc, v->kind == VALUE_PLACE || v->kind == VALUE_ENTRY ?
			       UNPROVED_TABLE : UNPROVED_SUM);
}

static int judge_values(struct plan_impl *p, raddr_t pc, const struct values *s)
{
	int err = 0;

	for (size_t i = 0; i < s->n && !err; i++)
		err = judge_value(p, pc, &s->v[i]);
	return err;
}

/* The i-th entry of a table, or of what stands before it; false: the file has none. */
static bool read_at(const struct plan_impl *p, const struct table_at *t, int64_t i, raddr_t *ret)
{
	size_t n;
	raddr_t from = t->at + (raddr_t)(i * t->width);
	const uint8_t *at = symbols_bytes(p->symbols, from, t->width, &n);
	uint64_t v = 0;

	if (!at || n < t->width)
		return false;
	memcpy(&v, at, t->width);
	unsigned int shift = 64 - 8 * t->width;

	if (t->extends && shift)
		v = (uint64_t)((int64_t)(v << shift) >> shift);
	*ret = t->base + v * t->scale;
	return true;
}

/* What a switch leads to within its own function, as ways that control takes. */
static int link_switch(struct flow *f, size_t step, raddr_t base)
{
	const struct plan_impl *p = f->body->impl;
	struct table_at t = { .at = base, .base = base, .width = 4, .scale = 1, .extends = true };
	size_t next = vec_prefix(p->nmaybes, k, p->maybes[k] <= base);
	raddr_t end = next < p->nmaybes ? p->maybes[next] : UINT64_MAX, a;
	int holes = 0, err = 0;

	for (int64_t i = 0; i < ENTRIES && holes < HOLES && !err && read_at(p, &t, i, &a); i++) {
		size_t left;

		if (base + 4 * (raddr_t)i >= end)
			break;
		if (body_has(f->body, a))
			err = flow_link(f, step, a);
		holes = symbols_text(p->symbols, a, &left) ? 0 : holes + 1;
	}
	return err;
}

/*
 * What a jump goes by may depend on where other jumps lead, and on where it leads itself.
 * So those whose table is known are followed until nothing new is found: what holds then
 * holds for all ways that there are.
 */
static int follow_switches(struct flow *f)
{
	const struct body *b = f->body;
	bool more = b->njumps;
	int err = 0;

	for (int round = 0; more && round < ROUNDS && !err; round++) {
		more = false;
		for (size_t i = 0; i < b->nsteps && !err; i++) {
			struct values s;

			if (b->steps[i].insn.kind != INSN_JUMP_INDIRECT || f->leads[i] ||
			    !flow_goal(f, i, &s) || !s.n || !is_switch(&s.v[0]))
				continue;
			f->leads[i] = more = true;
			err = link_switch(f, i, s.v[0].number);
		}
		flow_ready(f);
	}
	return err;
}

/* Are all places that it may be in the body? */
static bool is_inside(const struct body *b, const struct value *v)
{
	if (v->kind == VALUE_NUMBER)
		return body_has(b, v->number);
	return v->kind == VALUE_POINT && v->stride && body_has(b, v->number) &&
		body_has(b, v->number + v->most);
}

static int note_verdict(struct plan_impl *p, const struct body *b, size_t step,
			const struct values *s, bool certain)
{
	struct verdict *new = vec_push(p->verdicts, p->nverdicts, p->verdicts_cap);
	bool words = s->n, switches = s->n, inside = s->n;

	if (!new)
		return -ENOMEM;
	*new = (struct verdict){ .pc = b->steps[step].insn.pc, .goes = GOES_UNPROVED };
	for (size_t i = 0; i < s->n; i++) {
		const struct value *v = &s->v[i];

		words &= v->kind == VALUE_WORD || (v->kind == VALUE_NUMBER && !is_inside(b, v));
		switches &= is_switch(v) && (!i || v->number == s->v[0].number);
		inside &= is_inside(b, v);
	}
	if (switches)
		new->table = s->v[0].number;
	new->goes = switches ? GOES_SWITCH : inside ? GOES_INSIDE :
		words || !certain ? GOES_WORD : GOES_UNPROVED;
	return 0;
}

enum goes arrivals_goes(const struct plan_impl *p, raddr_t pc, raddr_t *table)
{
	size_t at = vec_prefix(p->nverdicts, i, p->verdicts[i].pc < pc);
	enum goes ret = GOES_WORD;

	*table = 0;
	if (p->arch->effect && (at == p->nverdicts || p->verdicts[at].pc != pc))
		return GOES_UNPROVED;
	/* A piece that several functions share is judged with each. */
	for (size_t i = at; i < p->nverdicts && p->verdicts[i].pc == pc; i++) {
		if (i != at && (p->verdicts[i].goes != ret || p->verdicts[i].table != *table))
			return GOES_UNPROVED;
		ret = p->verdicts[i].goes;
		*table = p->verdicts[i].table;
	}
	return ret;
}

bool arrivals_returns_otherwise(const struct plan_impl *p, raddr_t pc)
{
	size_t at = vec_prefix(p->nverdicts, i, p->verdicts[i].pc < pc);

	return at < p->nverdicts && p->verdicts[at].pc == pc;
}

/* May code be there? In a function, or where what stands there can run. */
static bool is_code(const struct plan_impl *p, raddr_t a)
{
	size_t left;
	const uint8_t *bytes = symbols_text(p->symbols, a, &left);

	if (!bytes || symbols_func_at(p->symbols, a))
		return bytes;
	for (int i = 0; i < 64 && left; i++) {
		struct effect e;
		struct insn in;

		if (p->arch->measure(bytes, left, a, &in))
			return false;
		p->arch->effect(bytes, &in, &e);
		if (e.forbidden)
			return false;
		if (insn_ends(&in))
			return in.kind != INSN_STOP;
		bytes += in.size, a += in.size, left -= in.size;
	}
	return false;
}

/* Does an entry near a table's first lead into text? */
static bool leads_to_text(const struct plan_impl *p, const struct value *v)
{
	struct table_at t = { .base = v->number, .at = v->table, .width = v->width,
			      .scale = v->scale, .extends = v->extends };
	size_t left;
	raddr_t a;

	for (int64_t i = -ENTRIES_TRIED; i < ENTRIES_TRIED && v->width < 8; i++)
		if (read_at(p, &t, i, &a) && symbols_text(p->symbols, a, &left))
			return true;
	return false;
}

/* An address that was computed, and may go anywhere from here. */
static int judge_sum(struct plan_impl *p, raddr_t pc, const struct value *v)
{
	if (!v->named || v->kind == VALUE_ENTRY)
		return 0;
	if (is_code(p, v->number))
		return judge_value(p, pc, v);
	/* From an address of data only the entries of a table lead to code. */
	return v->kind == VALUE_PLACE && is_table(v) && leads_to_text(p, v) ?
		judge_value(p, pc, v) : 0;
}

/* The registers that may ever hold an address which the code names. */
static uint32_t named_registers(struct flow *f)
{
	const struct body *b = f->body;
	uint32_t regs = 0, before;
	struct effect e;

	do {
		before = regs;
		for (size_t i = 0; i < b->nsteps; i++) {
			if (b->steps[i].insn.kind != INSN_PLAIN)
				continue;
			effect_of(f, i, &e);
			bool copies = e.op == EFFECT_MOVE || e.op == EFFECT_MAY_MOVE ||
				e.op == EFFECT_CUT || e.op == EFFECT_SUM || e.op == EFFECT_SWAP;

			if (e.op == EFFECT_NUMBER &&
			    symbols_holds(b->impl->symbols, (raddr_t)e.number))
				regs |= 1u << e.reg;
			else if (copies && ((e.base >= 0 && regs >> e.base & 1) ||
					    (e.index >= 0 && regs >> e.index & 1)))
				regs |= 1u << e.reg;
			if (e.op == EFFECT_SWAP && regs >> e.reg & 1)
				regs |= 1u << e.base;
		}
	} while (regs != before);
	return regs;
}

/*
 * An address of code that is computed need not be gone by here: it may be kept for others,
 * who take it for a whole word. So wherever something is added to an address that the code
 * names, the sum is judged like what a jump goes by.
 */
static int judge_sums(struct plan_impl *p, struct flow *f)
{
	const struct body *b = f->body;
	uint32_t regs = named_registers(f);
	int err = 0;

	for (size_t i = 0; i < b->nsteps && regs && !err; i++) {
		struct values s;
		struct effect e;

		if (b->steps[i].insn.kind != INSN_PLAIN)
			continue;
		effect_of(f, i, &e);
		if (!flow_sum(f, i, &e, regs, &s))
			continue;
		for (size_t k = 0; k < s.n && !err; k++)
			err = judge_sum(p, b->steps[i].insn.pc, &s.v[k]);
	}
	return err;
}

static bool is_doubtful(const struct values *s)
{
	for (size_t i = 0; i < s->n; i++)
		if (s->v[i].kind == VALUE_ANY)
			return true;
	return false;
}

/* A call goes by a whole word on one way at least, and on others by what nothing is known of:
 * those are ways that the code does not mean, as behind a test that was made before. */
static bool is_call_by_word(const struct body *b, size_t step, const struct values *s)
{
	bool words = false;

	for (size_t i = 0; i < s->n; i++) {
		uint8_t kind = s->v[i].kind;

		if (kind != VALUE_WORD && kind != VALUE_NUMBER && kind != VALUE_ANY &&
		    kind != VALUE_SUM && kind != VALUE_RANGE)
			return false;
		words |= kind == VALUE_WORD;
	}
	return words && b->steps[step].insn.kind == INSN_CALL_INDIRECT;
}

/* In a large function nobody may have looked far enough: *doubts is false if what this step
 * goes by is a whole word all the same. */
static int judge_whole(struct flow *f, size_t step, struct whole **whole, bool *doubts)
{
	const struct arch *arch = f->body->impl->arch;
	const struct insn *in = &f->body->steps[step].insn;
	size_t left;
	int reg = in->flags & INSN_BY_REGISTER ?
		arch->goes_by(symbols_text(f->body->impl->symbols, in->pc, &left), in) : -1;

	if (reg < 0)
		return 0;
	int err = *whole ? 0 : flow_whole(f, whole);

	*doubts = err || !flow_is_whole(*whole, step, reg);
	return MIN(err, 0);
}

int arrivals_judge(struct plan_impl *p, const struct body *b, bool names)
{
	struct whole *whole = NULL;
	struct flow f;
	int err = flow_make(b, &f);

	if (!err)
		err = follow_switches(&f);
	for (size_t i = 0; i < b->nsteps && !err; i++) {
		struct values s;
		bool certain = true;

		if (!flow_goal(&f, i, &s))
			continue;
		if (is_doubtful(&s))
			err = judge_whole(&f, i, &whole, &certain);
		if (!err && certain && is_doubtful(&s)) {
			f.patient = true;
			flow_goal(&f, i, &s);
			f.patient = false;
		}
		if (!err && certain && !is_call_by_word(b, i, &s))
			err = judge_values(p, b->steps[i].insn.pc, &s);
		if (!err && b->steps[i].insn.kind != INSN_CALL_INDIRECT)
			err = note_verdict(p, b, i, &s, certain);
	}
	if (!err && names)
		err = judge_sums(p, &f);
	flow_whole_free(whole);
	flow_clear(&f);
	return err;
}

static int judge_func(struct plan_impl *p, const struct func *f)
{
	struct body b;
	int err = body_read(p, f, &b);

	if (err)
		return err;
	/* What goes by an address may stand behind what could not be read. (Go's assembler has
	 * instructions that are newer than what reads them.) */
	if (b.entry_only == REFUSED_UNREADABLE && !b.goroutine &&
	    p->suspects[f - p->symbols->funcs] & SUSPECT_GOAL)
		err = arrivals_doubt(p, f->range.start, UNPROVED_UNREAD);
	size_t before = p->ndoubts, verdicts = p->nverdicts;
	bool names = p->suspects[f - p->symbols->funcs] & SUSPECT_NAME;

	if (!err)
		err = arrivals_judge(p, &b, names);
	if (!err && p->ndoubts > before) {
		p->ndoubts = before;
		p->nverdicts = verdicts;
		noreturn_mark(p, &b);
		err = arrivals_judge(p, &b, names);
	}
	body_clear(&b);
	return err;
}

static int by_base(const void *a, const void *b)
{
	const struct table_at *x = a, *y = b;

	if (x->at != y->at)
		return x->at < y->at ? -1 : 1;
	if (x->most != y->most)
		return x->most < y->most ? -1 : 1;
	return x->base != y->base ? (x->base < y->base ? -1 : 1) : 0;
}

/* Its entries from the first on, or (step -1) before that, to `end`, or to where so many
 * lead to no text that it cannot be the table any more. */
static void read_table(struct plan_impl *p, struct table_at *t, int step, raddr_t end)
{
	int holes = 0;
	raddr_t a;

	for (int64_t i = step < 0 ? -1 : 0; (holes < HOLES || t->most) && i < ENTRIES &&
	     i > -ENTRIES; i += step) {
		if (step > 0 ? t->at + (raddr_t)(i * t->width) >= end :
		    t->at + (raddr_t)(i * t->width) < end)
			return;
		if (!read_at(p, t, i, &a))
			return;
		size_t left;

		if (symbols_text(p->symbols, a, &left)) {
			lead_to(p, a);
			holes = 0;
			if (step > 0)
				t->end = t->at + (raddr_t)((i + 1) * t->width);
		} else {
			holes++;
		}
	}
}

/* What code names and looks like a table of distances from itself is read as one: its address
 * may be passed to whoever goes by it. */
static int add_maybes(struct plan_impl *p)
{
	int err = 0;

	for (size_t i = 0; i < p->nmaybes && !err; i++) {
		struct value v = { .kind = VALUE_PLACE, .named = true, .width = 4, .scale = 1,
				   .extends = true, .number = p->maybes[i],
				   .table = p->maybes[i] };

		if (!i || p->maybes[i] != p->maybes[i - 1])
			err = add_table(p, &v);
	}
	return err;
}

static void read_tables(struct plan_impl *p)
{
	size_t kept = 0;

	vec_sort(p->tables, p->ntables, by_base);
	for (size_t i = 0; i < p->ntables; i++)
		if (!kept || by_base(&p->tables[i], &p->tables[kept - 1]))
			p->tables[kept++] = p->tables[i];
	p->ntables = kept;
	for (size_t i = 0; i < kept; i++) {
		raddr_t next = UINT64_MAX;

		for (size_t k = i + 1; k < kept && next == UINT64_MAX; k++)
			if (p->tables[k].at != p->tables[i].at)
				next = p->tables[k].at;
		if (p->tables[i].most)
			next = p->tables[i].at + p->tables[i].most;
		read_table(p, &p->tables[i], 1, next);
		if (p->tables[i].most)
			continue;
		read_table(p, &p->tables[i], -1, i ? p->tables[i - 1].at : 0);
	}
}

int arrivals_find(struct plan_impl *p)
{
	const struct symbols *syms = p->symbols;
	int err = 0;

	if (!p->arch->effect)
		return 0;
	base_sort(p->maybes, p->nmaybes, sizeof(*p->maybes));
	base_sort(p->ways, p->nways, sizeof(*p->ways));
	for (size_t i = 0; i < syms->nfuncs && !err; i++) {
		const struct func *f = &syms->funcs[i];

		if (p->suspects[i] && f->flags & FUNC_FRAGMENT && f->parent >= 0)
			p->suspects[f->parent] |= p->suspects[i];
	}
	for (size_t i = 0; i < syms->nfuncs && !err; i++) {
		const struct func *f = &syms->funcs[i];

		if (p->suspects[i] && !(f->flags & FUNC_FRAGMENT && f->parent >= 0))
			err = judge_func(p, f);
	}
	raddr_t done = 0;

	for (size_t i = 0; i < p->nloners && !err; i++)
		if (p->loners[i] >= done)
			err = nobody_judge(p, p->loners[i], &done);
	base_sort(p->verdicts, p->nverdicts, sizeof(*p->verdicts));
	if (!err)
		err = add_maybes(p);
	if (!err)
		read_tables(p);
	if (!err)
		err = words_note(p);
	return err;
}
