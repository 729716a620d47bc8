/* SPDX-License-Identifier: MIT */
/*
 * sweep: where do the branches of all text lead?
 *
 * The WHOLE text is swept: the branch that kills a target need not be in a
 * function that was selected. The sweep is linear and starts again at every known
 * function, so that data between functions can lead it astray for a few
 * instructions only; what it then believes to be a target is one too many, never
 * one too few.
 */
#include <errno.h>

#include "plan/arrive/sweep.h"
#include "plan/flow/value.h"

enum {
	NUMBER_SIZE = 5,	/* bytes of the shortest instruction with a number of four */
	NUMBER_BEHIND = 9,	/* bytes of what has a distance and a number */
};

/* Is it of what the sweep reads of its function in one go? */
static bool is_own(const struct sweep *s, raddr_t a)
{
	struct range r = s->func->range;

	r.end = MIN(r.end, s->limit);
	return range_has(r, a);
}

/* A jump or branch within that: a reading of the function from its start finds it, too. */
static bool is_link(const struct sweep *s, const struct insn *in)
{
	return !s->again && in->kind != INSN_CALL && is_own(s, in->pc) && is_own(s, in->dest);
}

static bool is_in_func(const struct sweep *s, raddr_t pc)
{
	return s->func && range_has(s->func->range, pc);
}

static int add_edge(struct plan_impl *p, const struct insn *in)
{
	struct edge *e = vec_push(p->edges, p->nedges, p->edges_cap);

	if (!e)
		return -ENOMEM;
	*e = (struct edge){ .to = in->dest, .back = (int64_t)(in->pc - in->dest),
			    .branch = in->kind == INSN_BRANCH };
	return 0;
}

/* Remember where a branch leads and, if it enters another function elsewhere
 * than at its start, from where: see body.c. */
static int note_branch(struct sweep *s, const struct insn *in)
{
	struct plan_impl *p = s->impl;
	bool known = s->func && is_own(s, in->dest);
	int err = is_in_func(s, in->pc) && !known ? arrivals_way(p, in->dest) : 0;

	if (err)
		return err;
	const struct ground *g = ground_at(p, in->dest);

	if (!g)
		return 0;
	uint64_t at = in->dest - g->text->range.start;

	if (is_start(g, at))	/* known, and a call */
		return 0;
	/* What no function has may be data. */
	bit_set(g->planes[is_in_func(s, in->pc) ? PLANE_TARGET : PLANE_FIXED], at);
	if (in->kind == INSN_CALL)
		piece_note_called(p, in->dest);
	if (s->func && is_link(s, in))
		return 0;
	/* Code that belongs to no function we know may enter where it likes:
	 * its calls need not be recorded. */
	if (!is_in_func(s, in->pc) || range_has(s->func->range, in->dest) ||
	    !symbols_func_at(p->symbols, in->dest)) {
		bit_set(g->planes[PLANE_FIXED], at);
		return 0;
	}
	bit_set(g->planes[PLANE_CROSSED], at);
	return add_edge(p, in);
}

static void note_address(struct sweep *s, raddr_t a)
{
	uint64_t at = a - s->ground->text->range.start;

	/* Where instructions are aligned nothing runs that is not. */
	if (a % s->impl->arch->align || is_start(s->ground, at))
		return;
	bit_set(s->ground->planes[PLANE_FIXED], at);
	piece_note_called(s->impl, a);
}

/* A landing pad waits for an indirect branch, and code that takes the address of
 * other code may go there. */
static void note_addresses(struct sweep *s, const struct insn *in)
{
	struct range t = s->ground->text->range;
	bool named = in->flags & INSN_PCREL && range_has(t, in->ref);

	if (in->flags & INSN_LANDING)
		note_address(s, in->pc);
	if (named)
		note_address(s, in->ref);
	if (named && in->kind == INSN_PLAIN)
		bit_set(s->ground->planes[PLANE_NAMED], in->ref - t.start);
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

static void effect_of(const struct sweep *s, const struct insn *in, struct effect *ret)
{
	const struct text *t = s->ground->text;

	s->impl->arch->effect(t->bytes + (in->pc - t->range.start), t->range.end - in->pc, in, ret);
}

/* Does it put a word on the stack, or keep an address by which one may be put there? */
static bool may_put(const struct sweep *s, const struct insn *in)
{
	const struct arch *arch = s->impl->arch;
	struct effect e;

	effect_of(s, in, &e);
	bool of = arch_is_stack(arch, e.base) ||
		(e.op == EFFECT_SUM && arch_is_stack(arch, e.index));
	bool keeps = of && (e.op == EFFECT_MOVE || e.op == EFFECT_SUM) && e.reg != arch->stack;

	return e.pushes || keeps || (e.stores && e.memory && arch_is_stack(arch, e.base));
}

/* Code that no function has, and that puts a word on the stack: it may return by that, or what it
 * jumps to does. Where such code begins and ends is not known: so all that stands there is read. */
static bool puts_first(struct sweep *s, const uint8_t *p, const struct insn *in)
{
	if (in->kind != INSN_PLAIN || s->puts || is_in_func(s, in->pc) || !s->impl->arch->effect)
		return false;
	s->puts = s->impl->arch->glance(p, in) & GLANCE_STACK && may_put(s, in);
	return s->puts;
}

static bool leaves_by_stack(const struct sweep *s, const struct insn *in)
{
	return in->kind == INSN_RETURN && s->puts && !is_in_func(s, in->pc);
}

/* A word of its own frame, that it goes by? */
static bool is_by_frame(const struct sweep *s, const struct insn *in)
{
	const struct arch *arch = s->impl->arch;
	struct effect e;

	if (!framed_by_memory(in) || !arch->effect)
		return false;
	effect_of(s, in, &e);
	return arch_is_stack(arch, e.base) ||
		(!s->again && is_in_func(s, in->pc) && back_reaches(&s->way_back, e.base));
}

/* Something here is to be proved, or it may lead anywhere. */
static int suspect(struct sweep *s, const struct insn *in, enum suspect why)
{
	struct plan_impl *p = s->impl;

	if (is_in_func(s, in->pc)) {
		arrivals_suspect(p, s->func, why);
		return 0;
	}
	/* Data in a segment that may run, as the file's sections say. */
	if (symbols_is_data(p->symbols, in->pc, NULL))
		return 0;
	raddr_t *new = vec_push(p->loners, p->nloners, p->loners_cap);

	if (!new)
		return -ENOMEM;
	*new = in->pc;
	return 0;
}

/* Code that names an address of code, or a table of distances, may compute others from it. */
static int note_name(struct sweep *s, const struct insn *in, raddr_t a)
{
	bool table;
	int err = arrivals_name(s->impl, a, &table);

	/* A table that is read backwards may end there. */
	if (!err && (table || arrivals_names_code(s->impl, a) ||
		     arrivals_names_code(s->impl, a - 1) ||
		     arrivals_is_outside(s->impl, a) || vectors_may_load(s->impl, in, a)))
		err = suspect(s, in, SUSPECT_NAME);
	s->names = true;
	if (!err && is_in_func(s, in->pc))
		err = arrivals_way(s->impl, a);
	return err;
}

/* A number is a place of the function itself; or of code of no function, as what has it is. */
static void note_own(struct sweep *s, bool in_func, raddr_t a)
{
	const struct func *own = in_func ? s->func : NULL;

	if (own ? range_has(own->range, a) : !symbols_func_at(s->impl->symbols, a))
		ground_note_number(s->impl, a);
}

/* Where addresses are numbers, one that a register is set to, or memory reached by, may be
 * one. */
static int note_numbers(struct sweep *s, const uint8_t *p, const struct insn *in)
{
	struct effect e;
	int err = 0;

	if (!(in->flags & INSN_PCREL))
		words_operand(s->impl, p, in);
	if (in->size < NUMBER_SIZE || !s->impl->arch->effect || !words_has_number(s->impl, p, in))
		return 0;
	effect_of(s, in, &e);
	/* The sum is judged, if it may be one. */
	if (e.op == EFFECT_SUM) {
		const struct func *at = symbols_func_at(s->impl->symbols, (raddr_t)e.number);

		return at && (at == s->func || at->range.start == (raddr_t)e.number) ?
			suspect(s, in, SUSPECT_NAME) : 0;
	}
	bool names = e.op == EFFECT_NUMBER || (e.memory && e.base < 0 && !e.thread);

	note_own(s, is_in_func(s, in->pc), (raddr_t)(e.op == EFFECT_NUMBER ? e.number : e.written));
	/* Behind a distance from the PC there may be a number, too. */
	if (e.stores && e.written)
		words_note_number(s->impl, (raddr_t)e.written);
	if (e.writes && arrivals_is_address(s->impl, (raddr_t)e.written))
		err = note_name(s, in, (raddr_t)e.written);
	if (err || in->flags & INSN_PCREL)
		return err;
	return names && arrivals_is_address(s->impl, (raddr_t)e.number) ?
		note_name(s, in, (raddr_t)e.number) : 0;
}

/* May control leave here by an address? */
bool sweep_is_goal(const struct sweep *s, const struct insn *in)
{
	return in->flags & INSN_BY_REGISTER || in->kind == INSN_UNKNOWN ||
		leaves_by_stack(s, in) || is_by_frame(s, in) ||
		(in->dest && body_thunk(s->impl, in->dest) >= 0);
}

/* Most say nothing of addresses. Where those are numbers, what is too short has none. */
static bool is_dull(const struct sweep *s, const struct insn *in)
{
	return in->kind == INSN_PLAIN &&
		!(in->flags & (INSN_PCREL | INSN_DISTANCE | INSN_LANDING | INSN_BY_REGISTER)) &&
		(in->size < NUMBER_SIZE || s->impl->symbols->is_pie);
}

/* What leads somewhere, or may name an address. */
static int note_leading(struct sweep *s, const uint8_t *p, const struct insn *in)
{
	bool names = in->flags & INSN_PCREL && in->kind == INSN_PLAIN;
	int err = names ? note_name(s, in, in->ref) : 0;

	if (!err && !s->impl->symbols->is_pie && in->kind == INSN_PLAIN &&
	    (!names || in->size >= NUMBER_BEHIND) && !(in->flags & INSN_NOP))
		err = note_numbers(s, p, in);
	s->entries |= in->flags & INSN_DISTANCE && is_in_func(s, in->pc);
	if (!err && s->entries && s->names) {
		err = suspect(s, in, SUSPECT_NAME);
		s->entries = false;
	}
	if (!err && in->kind == INSN_CALL && in->dest == in->pc + in->size)
		err = suspect(s, in, SUSPECT_NAME);
	/* What it goes by any code may have left in memory. */
	if (!err && in->kind == INSN_JUMP_INDIRECT && in->flags & INSN_SLOT &&
	    !symbols_slot(s->impl->symbols, in->ref))
		err = suspect(s, in, SUSPECT_GOAL | SUSPECT_NAME);
	if (!err && sweep_is_goal(s, in))
		err = suspect(s, in, SUSPECT_GOAL);
	if (!err && (in->kind == INSN_CALL || insn_ends(in)) && !s->again && is_in_func(s, in->pc))
		err = above_note(s, in);
	if (err)
		return err;
	note_addresses(s, in);
	if (in->kind == INSN_JUMP || in->kind == INSN_BRANCH || in->kind == INSN_CALL)
		return note_branch(s, in);
	return 0;
}

/* Code of no function, or code that is read again. */
static int note_apart(struct sweep *s, const uint8_t *p, const struct insn *in)
{
	int err = 0;

	if (!is_in_func(s, in->pc))
		err = puts_first(s, p, in) ? suspect(s, in, SUSPECT_BACK) : 0;
	else if (s->impl->arch->effect && s->impl->arch->glance(p, in) & GLANCE_STACK)
		arrivals_suspect(s->impl, s->func, SUSPECT_BACK);
	return err || is_dull(s, in) ? err : note_leading(s, p, in);
}

int sweep_note(struct sweep *s, const uint8_t *p, const struct insn *in)
{
	const struct arch *arch = s->impl->arch;
	size_t left = s->ground->text->range.end - in->pc;

	if (s->again || !is_in_func(s, in->pc))
		return note_apart(s, p, in);
	unsigned int glance = in->kind == INSN_PLAIN && arch->effect ? arch->glance(p, in) : 0;

	if (arch->effect && back_pass(&s->way_back, in, p, left, glance))
		arrivals_suspect(s->impl, s->func, SUSPECT_BACK);
	if (s->way_back.takes)
		arrivals_suspect(s->impl, s->func, SUSPECT_TAKES);
	if (framed_pass(&s->framed, arch, in, p, left, glance))
		arrivals_suspect(s->impl, s->func, SUSPECT_GOAL);
	return is_dull(s, in) ? 0 : note_leading(s, p, in);
}

static void mark_dead(const struct ground *g, raddr_t pc, size_t n)
{
	uint64_t at = pc - g->text->range.start;

	for (size_t i = 0; i < n; i++)
		bit_set(g->planes[PLANE_DEAD], at + i);
}

/* May it be the return behind a call of gcc's __morestack, which goes on one byte further
 * on, on a new stack? Few others follow a call. */
static bool is_split_return(const struct sweep *s, const struct insn *in)
{
	return in->kind == INSN_RETURN && in->pc == s->back && is_in_func(s, in->pc) &&
		in->pc != s->func->range.start;
}

/* Bits of many instructions are set at once. */
static void note_all_read(struct sweep *s)
{
	if (s->read)
		__atomic_fetch_or(&s->ground->planes[PLANE_READ][s->word], s->read,
				  __ATOMIC_RELAXED);
	s->read = 0;
}

static void note_read(struct sweep *s, raddr_t pc)
{
	uint64_t at = pc - s->ground->text->range.start;

	if (at / 64 != s->word)
		note_all_read(s);
	s->word = at / 64;
	s->read |= 1ull << at % 64;
}

static int sweep_insn(struct sweep *s, const uint8_t *p, const struct insn *in)
{
	raddr_t next = in->pc + in->size;
	bool own = is_in_func(s, in->pc), goes_on = is_split_return(s, in);

	note_read(s, in->pc);
	/* Data in a segment that may run, as the file's sections say: read as code it would lead
	 * anywhere, and what it leads to might be code all the same where that does harm. */
	if (!own && arch_has_short_windows(s->impl->arch) &&
	    symbols_is_data(s->impl->symbols, in->pc, NULL))
		return 0;
	if (s->dead && next <= MIN(s->dead, s->limit) && pads(s->impl->arch, p, in->size)) {
		mark_dead(s->ground, in->pc, in->size);
		return 0;
	}
	int err = sweep_note(s, p, in);

	s->back = s->dead = 0;
	if (in->kind == INSN_PLAIN)
		return err;
	s->back = in->kind == INSN_CALL || in->kind == INSN_CALL_INDIRECT ? next : 0;
	/* Only the end of a function's code makes padding: what looks like a
	 * return between functions may be data. A breakpoint is no end. */
	s->dead = insn_ends(in) && own && !goes_on &&
		!insn_may_resume(s->impl->arch, p, in) ? next + PAGE : 0;
	return err;
}

int sweep_measure(const struct sweep *s, raddr_t pc, struct insn *ret)
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

		if (sweep_measure(s, behind ? new : old, &in)) {
			if (!behind)
				break;
			in.size = s->impl->arch->align;
		}
		const uint8_t *p = s->ground->text->bytes + (old - s->ground->text->range.start);
		int err = behind ? 0 : sweep_note(s, p, &in);

		if (!behind)
			note_read(s, old);
		if (err)
			return err;
		if (!crew_spend(s->impl, in.size))
			return fail(EBADMSG, "plan %s: its functions overlap everywhere",
				    s->impl->symbols->base);
		*(behind ? &new : &old) += in.size;
	}
	return 0;
}

/* From where an instruction begins to `stop`, or to the next function's start. */
static int sweep_span(struct sweep *s, raddr_t pc, raddr_t stop)
{
	const struct text *t = s->ground->text;

	while (pc < stop) {
		struct insn in;

		if (sweep_measure(s, pc, &in)) {
			pc += s->impl->arch->align;
			s->dead = 0;
			continue;
		}
		int err = sweep_insn(s, t->bytes + (pc - t->range.start), &in);

		if (err)
			return err;
		pc += in.size;
	}
	s->pc = pc;
	int err = pc > s->limit && s->func ? sweep_overlap(s, pc, s->limit) : 0;

	note_all_read(s);
	return err;
}

/* From the start of a function, or of the text, to that of the next one. Behind a function, no code
 * is in what only others than the program read. */
static int sweep_next(struct sweep *s, raddr_t limit)
{
	raddr_t end = s->func ? s->func->range.end : s->from, next = end;
	int err = 0;

	s->limit = limit;
	s->dead = 0;
	for (s->pc = s->from; !err && s->pc < limit; )
		if (s->pc >= end && symbols_is_for_others(s->impl->symbols, s->pc, &next))
			s->pc = MIN(next, limit);
		else
			err = sweep_span(s, s->pc, MIN(next, limit));
	return err;
}

/* A linker may put a note before the first function of a text. It is read, and not
 * run, and what it holds may look like branches. */
int sweep_to(struct sweep *s, raddr_t limit)
{
	struct range note = s->impl->symbols->note;

	if (!s->func && note.start >= s->from && note.end <= limit && range_size(note)) {
		int err = sweep_next(s, note.start);

		if (err)
			return err;
		s->from = note.end;
	}
	return sweep_next(s, limit);
}

void sweep_enter(struct sweep *s, const struct func *f)
{
	s->func = f;
	s->from = f->range.start;
	s->names = s->entries = s->puts = false;
	if (s->impl->arch->effect)	/* else nothing is passed to it */
		back_enter(&s->way_back, s->impl, f);
	s->framed = (struct framed){ .bases = 0 };
}
