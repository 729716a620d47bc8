/* SPDX-License-Identifier: MIT */
/*
 * again: code that a linear reading does not see.
 *
 * Where data stand between the instructions of a function the linear reading takes them for
 * code, and with their last bytes the first of what follows, a branch perhaps. But something
 * leads to what follows. So from each place where control may arrive, and from which no
 * instruction was read, it is read once more, until both readings meet; and so on from where
 * that leads. No byte is the first of more than one instruction: all of it takes no longer
 * than a few linear readings.
 */
#include <errno.h>

#include "plan/arrive/sweep.h"
#include "plan/flow/value.h"

/* How is_passed has answered: that is the same for all that it comes to on the same way. */
struct passed {
	const struct func *func;
	bool stray, listed;		/* what was asked for */
	raddr_t first, last;		/* of the places it went back to; 0: none */
	bool answer;
};

struct again {
	struct sweep sweep;
	struct passed passed;		/* until something more is read */
	bool all;			/* from where words lead, too; */
	bool numbers;			/* from where what may be a word leads */
	raddr_t *todo;
	size_t ntodo, todo_cap;
};

static bool is_read(const struct ground *g, raddr_t a)
{
	return bit_get(g->planes[PLANE_READ], a - g->text->range.start);
}

static const uint8_t *bytes_at(const struct ground *g, raddr_t a)
{
	return g->text->bytes + (a - g->text->range.start);
}

/* Does control never come to what follows? */
static bool ends_run(const struct sweep *s, const struct insn *in)
{
	return insn_ends(in) &&
		!insn_may_resume(s->impl->arch, bytes_at(s->ground, in->pc), in);
}

/* What no program may do, or a branch to where no code is. */
static bool is_no_code(const struct sweep *s, const struct insn *in)
{
	const struct ground *g = s->ground;
	struct effect e;
	size_t left;

	if (in->kind == INSN_JUMP || in->kind == INSN_BRANCH || in->kind == INSN_CALL)
		return !symbols_text(s->impl->symbols, in->dest, &left);
	if (in->kind != INSN_PLAIN || !s->impl->arch->effect)
		return false;
	s->impl->arch->effect(bytes_at(g, in->pc), g->text->range.end - in->pc, in, &e);
	return e.forbidden;
}

/* Does control that comes there run on as in code, up to where it leaves, or may not come back,
 * or to what was read before? Data are named, too. */
static bool runs(const struct sweep *s, raddr_t pc)
{
	struct insn in;

	for (; pc < s->ground->text->range.end && !is_read(s->ground, pc); pc += in.size) {
		if (sweep_measure(s, pc, &in) || is_no_code(s, &in))
			return false;
		if (ends_run(s, &in) || in.kind == INSN_CALL || in.kind == INSN_CALL_INDIRECT)
			return true;
	}
	return true;
}

/* Does it change what is on the stack, or name an address, which something may be made of? */
static bool makes(const struct sweep *s, const struct insn *in)
{
	const struct arch *arch = s->impl->arch;
	const uint8_t *bytes = bytes_at(s->ground, in->pc);

	return in->kind == INSN_PLAIN && !(in->flags & INSN_NOP) && arch->effect &&
		(arch->glance(bytes, in) & GLANCE_STACK || in->flags & INSN_PCREL ||
		 (!s->impl->symbols->is_pie && words_has_number(s->impl, bytes, in)));
}

static int note_hidden(struct again *r, const struct insn *in)
{
	const struct sweep *s = &r->sweep;
	struct plan_impl *p = s->impl;
	struct hidden *new = vec_push(p->hidden, p->nhidden, p->hidden_cap);

	if (!new)
		return -ENOMEM;
	/* A far return is a byte that data have, too. */
	bool goal = in->kind != INSN_UNKNOWN && sweep_is_goal(s, in);

	*new = (struct hidden){ in->pc, r->numbers ? HIDDEN_DOUBTFUL : goal ? HIDDEN_GOAL :
				makes(s, in) ? HIDDEN_MAKES : HIDDEN_PLAIN };
	/* The first reading has taken data for code: what that says of the stack says nothing. */
	if (s->func && !r->all)
		arrivals_suspect(p, s->func, SUSPECT_BACK);
	ground_take(p, in->pc, in->size);
	return 0;
}

static int note_todo(struct again *r, raddr_t a)
{
	const struct ground *g = ground_at(r->sweep.impl, a);
	raddr_t next;

	if (!g || is_read(g, a) || symbols_is_for_others(r->sweep.impl->symbols, a, &next))
		return 0;
	raddr_t *new = vec_push(r->todo, r->ntodo, r->todo_cap);

	if (!new)
		return -ENOMEM;
	*new = a;
	return 0;
}

/* Where the instruction that was read before `a` begins; or, if none was, where the longest one
 * would have begun. */
static raddr_t read_before(const struct ground *g, raddr_t a)
{
	uint64_t at = a - g->text->range.start, n = MIN(at, ARCH_INSN_MAX), from = at - n;
	const uint64_t *read = g->planes[PLANE_READ];
	uint64_t bits = bits_at(read, from / 64) >> from % 64;

	if (from % 64 + n > 64)
		bits |= bits_at(read, from / 64 + 1) << (64 - from % 64);
	bits &= (1ull << n) - 1;
	return g->text->range.start + from + (bits ? 63 - (unsigned int)__builtin_clzll(bits) : 0);
}

/* Does control not come there from before, nor by what leads there? It is data, then. */
static bool is_behind_end(const struct sweep *s, raddr_t a)
{
	raddr_t before = read_before(s->ground, a);
	struct insn in;

	return before < a && !ground_any(s->impl, LAYER_TARGET, a, 1) &&
		!sweep_measure(s, before, &in) && before + in.size == a && ends_run(s, &in);
}

/* Is its effect the same without its first byte? Half of an address is none, or all of it, so that
 * of a copy it does not matter how much of it is copied. */
static bool does_the_same(const struct sweep *s, const struct insn *all, const struct insn *in)
{
	const struct ground *g = s->ground;
	struct effect a, b;

	if (!s->impl->arch->effect)
		return true;
	s->impl->arch->effect(bytes_at(g, all->pc), g->text->range.end - all->pc, all, &a);
	s->impl->arch->effect(bytes_at(g, in->pc), g->text->range.end - in->pc, in, &b);
	if (a.op == EFFECT_MOVE && b.op == EFFECT_CUT && a.base == b.base)
		b.op = EFFECT_MOVE;
	return a.op == b.op && a.reg == b.reg && a.others == b.others && a.width == b.width &&
		a.pushes == b.pushes && a.pops == b.pops && a.stores == b.stores &&
		a.base == b.base && a.index == b.index && a.scale == b.scale &&
		a.source == b.source && a.thread == b.thread;
}

/* Behind a prefix that is jumped over, as that of a locked instruction: it is the same but for
 * that. */
static bool is_behind_prefix(const struct sweep *s, const struct insn *in)
{
	const struct ground *g = s->ground;
	struct insn all;

	return in->kind == INSN_PLAIN && in->pc > g->text->range.start &&
		is_read(g, in->pc - 1) && s->impl->arch->is_prefix(*bytes_at(g, in->pc - 1)) &&
		!sweep_measure(s, in->pc - 1, &all) && all.size == in->size + 1 &&
		all.kind == INSN_PLAIN && !is_behind_end(s, in->pc - 1) &&
		does_the_same(s, &all, in);
}

/* Back from `a` to where the answer is known. `first` becomes the last place that it comes to. */
static bool goes_back(const struct again *r, raddr_t a, struct passed *asked)
{
	const struct sweep *s = &r->sweep;
	const struct func *f = asked->func;
	raddr_t from = f ? f->range.start : s->ground->text->range.start, before;
	const struct passed *known = &r->passed;
	bool led = false;
	struct insn in;

	for (raddr_t to = a; to > from; to = before) {
		asked->first = to;
		if (to < a && to >= known->first && to <= known->last)
			return known->answer;
		before = read_before(s->ground, to);
		/* Nor, in a function, where bytes stand before that are no instruction. */
		if (!is_read(s->ground, before) || sweep_measure(s, before, &in) ||
		    (f && before + in.size < to))
			return false;
		if (before + in.size == to && ends_run(s, &in))
			return led;
		led = ground_any(s->impl, LAYER_TARGET, before, 1) &&
			(asked->stray || !ground_is_stray(s->impl, before));
		if ((to == a && (in.flags & INSN_NOP || in.kind == INSN_STOP)) ||
		    ((r->numbers || asked->listed) && words_lead_to(s->impl, before)) ||
		    (led && (asked->listed || !ground_is_listed(s->impl, before))))
			return true;
	}
	return f;
}

/*
 * Does control come to `a` in the reading that there is? Then a word of data leads there by
 * chance. It does not where an end stands before, and no place between is led to: data are
 * there, or code that a word leads to. What only looks like a table, or like a word, may lead
 * into these; it says less than what leads to `a`, but where that looks so, too (`numbers`), or
 * where the table leads right behind that end. What pads is what it looks like.
 *
 * A long run of instructions is gone back once, whatever number of places in it are asked for.
 */
static bool is_passed(struct again *r, const struct func *f, raddr_t a)
{
	struct plan_impl *p = r->sweep.impl;
	struct passed now = { .func = f, .stray = ground_is_stray(p, a), .first = a };

	now.listed = now.stray || ground_is_listed(p, a);
	if (r->passed.func != f || r->passed.stray != now.stray || r->passed.listed != now.listed)
		r->passed = (struct passed){ 0 };
	now.answer = goes_back(r, a, &now);
	now.answer &= crew_spend(p, a - now.first + 1);
	if (now.first == a)
		return now.answer;
	if (now.first >= r->passed.first && now.first <= r->passed.last)
		now.first = r->passed.first;
	now.last = read_before(r->sweep.ground, a);
	r->passed = now;
	return now.answer;
}

static void begin_run(struct sweep *s, raddr_t pc)
{
	const struct symbols *syms = s->impl->symbols;
	size_t next = vec_prefix(syms->nfuncs, i, syms->funcs[i].range.start <= pc);

	s->func = symbols_func_at(syms, pc);
	s->limit = next < syms->nfuncs ? syms->funcs[next].range.start : UINT64_MAX;
	s->names = true;	/* elsewhere, perhaps */
	s->entries = false;
	s->puts = false;
}

/* What words seem to lead to may be data; of these some branch into any function. */
static bool may_follow(const struct again *r, const struct insn *in)
{
	const struct sweep *s = &r->sweep;

	return !r->all || (s->func && !r->numbers) || !symbols_func_at(s->impl->symbols, in->dest);
}

/* One instruction of a run. */
static int read_one(struct again *r, const struct insn *in, bool hides)
{
	struct sweep *s = &r->sweep;
	int err = sweep_note(s, bytes_at(s->ground, in->pc), in);

	if (!err && hides)
		err = note_hidden(r, in);
	if (!err && in->dest && in->kind != INSN_PLAIN && may_follow(r, in))
		err = note_todo(r, in->dest);
	return err;
}

/* From there on, up to what was read before. */
static int read_run(struct again *r, raddr_t pc)
{
	struct sweep *s = &r->sweep;
	struct insn in;
	bool ends = false;
	int err = 0;

	begin_run(s, pc);
	for (bool good = runs(s, pc); pc < s->ground->text->range.end && !is_read(s->ground, pc) &&
	     !ends && !err; pc += in.size) {
		if (sweep_measure(s, pc, &in))
			break;
		bool hides = !is_behind_prefix(s, &in);

		bit_set(s->ground->planes[PLANE_READ], pc - s->ground->text->range.start);
		r->passed = (struct passed){ 0 };
		if (pc >= s->limit)
			begin_run(s, pc);
		err = good ? read_one(r, &in, hides) : 0;
		ends = ends_run(s, &in);
	}
	return err;
}

static int read_todo(struct again *r)
{
	int err = 0;

	while (r->ntodo && !err) {
		raddr_t a = r->todo[--r->ntodo];

		r->sweep.ground = ground_at(r->sweep.impl, a);
		err = read_run(r, a);
	}
	return err;
}

/* From all places of a text. */
static int read_text(struct again *r, const struct ground *g)
{
	uint64_t words = range_size(g->text->range) / 64 + 1;
	int err = 0;

	r->sweep.ground = g;
	for (uint64_t w = 0; w < words && !err; w++) {
		uint64_t sure = bits_at(g->planes[PLANE_TARGET], w);
		uint64_t bits = (sure | (r->all ? bits_at(g->planes[PLANE_FIXED], w) : 0)) &
			~bits_at(g->planes[PLANE_READ], w);

		for (; bits && !err; bits &= bits - 1) {
			raddr_t a = g->text->range.start + w * 64 +
				(unsigned int)__builtin_ctzll(bits), next;

			if (symbols_is_for_others(r->sweep.impl->symbols, a, &next))
				continue;
			if (bits & -bits & ~sure &&
			    (is_passed(r, symbols_func_at(r->sweep.impl->symbols, a), a) ||
			     arrivals_pads(r->sweep.impl, a)))
				continue;
			err = note_todo(r, a);
			if (!err)
				err = read_todo(r);
			r->sweep.ground = g;
		}
	}
	return err;
}

static int read_numbers(struct again *r)
{
	const struct plan_impl *p = r->sweep.impl;
	int err = 0;

	r->numbers = true;
	r->passed = (struct passed){ 0 };
	for (raddr_t a = words_next(p, 0); a != UINT64_MAX && !err; a = words_next(p, a + 1)) {
		const struct func *f = symbols_func_at(p->symbols, a);

		r->sweep.ground = ground_at(p, a);
		if (!f || is_read(r->sweep.ground, a) || is_passed(r, f, a))
			continue;
		err = note_todo(r, a);
		if (!err)
			err = read_todo(r);
	}
	return err;
}

int sweep_again(struct plan_impl *p, bool all)
{
	struct again r = { .sweep = { .impl = p, .again = true }, .all = all };
	int err = 0;

	for (size_t i = 0; i < p->ngrounds && p->arch->align == 1 && !err; i++)
		err = read_text(&r, &p->grounds[i]);
	if (all && p->arch->align == 1 && !err)
		err = read_numbers(&r);
	free(r.todo);
	return err;
}
