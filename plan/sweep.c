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

#include "plan/arrivals.h"
#include "plan/ground.h"
#include "plan/value.h"

enum {
	DEAD_MOST = PLAN_PAGE + ARCH_INSN_MAX,	/* bytes behind a function in which
						 * its padding may be dead */
	RECENT = 16,		/* instructions before a return, or a jump that leaves, among
				 * which is what puts a word where a return takes it */
};

/* The function under the sweep, and where it is. */
struct sweep {
	struct plan_impl *impl;
	const struct ground *ground;
	const struct func *func;	/* last that has begun; NULL: none yet */
	raddr_t limit;			/* where the next one begins */
	raddr_t pc;			/* all that is to be read before this was */
	raddr_t dead;			/* control did not come to here, and what pads
					 * from here to there is dead; 0: it did */
	struct insn recent[RECENT];	/* the last that control fell through, in a ring, */
	size_t nrecent;			/* and how many there were */
	raddr_t back;			/* where the last call comes back to, if it does;
					 * 0: something else came behind it */
};

/* A jump or branch within what the sweep reads of one function in one go: who
 * reads the function from its start finds it too. */
static bool is_link(const struct sweep *s, const struct insn *in)
{
	struct range r = s->func->range;

	r.end = MIN(r.end, s->limit);
	return in->kind != INSN_CALL && range_has(r, in->pc) && range_has(r, in->dest);
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
	int err = is_in_func(s, in->pc) ? arrivals_way(p, in->dest) : 0;

	if (err)
		return err;
	const struct ground *g = range_has(s->ground->text->range, in->dest) ?
		s->ground : ground_at(p, in->dest);

	if (!g)
		return 0;
	uint64_t at = in->dest - g->text->range.start;

	if (is_start(g, at))	/* known, and a call */
		return 0;
	mark_target(g, at);
	if (in->kind == INSN_CALL)
		piece_note_called(p, in->dest);
	if (s->func && is_link(s, in))
		return 0;
	/* Code that belongs to no function we know may enter where it likes:
	 * nobody expects its calls to be recorded. */
	if (!is_in_func(s, in->pc) || range_has(s->func->range, in->dest) ||
	    !symbols_func_at(p->symbols, in->dest)) {
		mark_fixed(g, at);
		return 0;
	}
	return add_edge(p, in);
}

static void note_address(struct sweep *s, raddr_t a)
{
	uint64_t at = a - s->ground->text->range.start;

	if (is_start(s->ground, at))
		return;
	mark_fixed(s->ground, at);
	piece_note_called(s->impl, a);
}

/* A landing pad waits for an indirect branch, and who takes the address of
 * code may go there. */
static void note_addresses(struct sweep *s, const struct insn *in)
{
	struct range t = s->ground->text->range;
	bool named = in->flags & INSN_PCREL && range_has(t, in->ref);

	if (in->flags & INSN_LANDING)
		note_address(s, in->pc);
	if (named)
		note_address(s, in->ref);
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

/*
 * Is what a return here would take, or one of who is jumped to, perhaps put there by the
 * instructions before? Whether it is says who reads all of the function (value.c).
 */
static bool has_pushed(const struct sweep *s)
{
	const struct text *t = s->ground->text;
	int64_t words = 0, lower;

	for (size_t i = s->impl->arch->effect ? s->nrecent : 0;
	     i-- > 0 && s->nrecent - i <= RECENT; ) {
		const struct insn *in = &s->recent[i % RECENT];
		struct effect e;

		if (in->kind == INSN_CALL || in->kind == INSN_CALL_INDIRECT)
			return false;
		s->impl->arch->effect(t->bytes + (in->pc - t->range.start), in, &e);
		if (e.stores && e.memory && arch_is_stack(s->impl->arch, e.base))
			return true;
		if (e.pushes && words >= 0)
			return true;
		if (!effect_lowers(&e, s->impl->arch->stack, &lower))
			return false;
		words += lower / 8;
	}
	return false;
}

static bool leaves_by_stack(const struct sweep *s, const struct insn *in)
{
	if (in->kind != INSN_RETURN &&
	    !(in->kind == INSN_JUMP && !range_has(s->func->range, in->dest)))
		return false;
	return has_pushed(s);
}

/* A word of its own frame, that it goes by? */
static bool is_by_frame(const struct sweep *s, const struct insn *in)
{
	const struct arch *arch = s->impl->arch;
	const struct text *t = s->ground->text;
	struct effect e;

	if ((in->kind != INSN_JUMP_INDIRECT && in->kind != INSN_CALL_INDIRECT) ||
	    in->flags & INSN_SLOT || !arch->effect)
		return false;
	arch->effect(t->bytes + (in->pc - t->range.start), in, &e);
	return arch_is_stack(arch, e.base);
}

/* Whatever goes by a register is to be proved, or nobody knows where it leads. */
static int note_goal(struct sweep *s, const struct insn *in)
{
	struct plan_impl *p = s->impl;

	if (is_in_func(s, in->pc)) {
		arrivals_suspect(p, s->func, SUSPECT_GOAL);
		return 0;
	}
	raddr_t *new = vec_push(p->loners, p->nloners, p->loners_cap);

	if (!new)
		return -ENOMEM;
	*new = in->pc;
	return 0;
}

/* A function that names an address of code may compute others from it. */
static int note_name(struct sweep *s, const struct insn *in)
{
	size_t left;

	if (symbols_text(s->impl->symbols, in->ref, &left))
		arrivals_suspect(s->impl, s->func, SUSPECT_NAME);
	return arrivals_way(s->impl, in->ref);
}

static int note_insn(struct sweep *s, const struct insn *in)
{
	bool names = in->flags & INSN_PCREL && in->kind == INSN_PLAIN, table = false;
	int err = names ? arrivals_name(s->impl, in->ref, &table) : 0;

	if (!err && names && is_in_func(s, in->pc))
		err = note_name(s, in);
	if (table && is_in_func(s, in->pc))
		arrivals_suspect(s->impl, s->func, SUSPECT_NAME);
	/* What it goes by anybody may have left in memory. */
	if (in->kind == INSN_JUMP_INDIRECT && in->flags & INSN_SLOT && is_in_func(s, in->pc) &&
	    !symbols_slot(s->impl->symbols, in->ref))
		arrivals_suspect(s->impl, s->func, SUSPECT_GOAL | SUSPECT_NAME);

	if (err)
		return err;
	note_addresses(s, in);
	if (in->flags & INSN_BY_REGISTER)
		return note_goal(s, in);
	if (is_in_func(s, in->pc) && (leaves_by_stack(s, in) || is_by_frame(s, in) ||
				      (in->dest && body_thunk(s->impl, in->dest) >= 0)))
		arrivals_suspect(s->impl, s->func, SUSPECT_GOAL);
	if (in->kind == INSN_JUMP || in->kind == INSN_BRANCH || in->kind == INSN_CALL)
		return note_branch(s, in);
	return 0;
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

static int sweep_insn(struct sweep *s, const uint8_t *p, const struct insn *in)
{
	raddr_t next = in->pc + in->size;

	if (next <= MIN(s->dead, s->limit) && pads(s->impl->arch, p, in->size)) {
		mark_dead(s->ground, in->pc, in->size);
		return 0;
	}
	bool goes_on = is_split_return(s, in);
	int err = note_insn(s, in);

	if (!err && !s->impl->symbols->is_pie && in->kind == INSN_PLAIN &&
	    !(in->flags & (INSN_PCREL | INSN_NOP)))
		err = words_operand(s->impl, p, in);

	s->back = in->kind == INSN_CALL || in->kind == INSN_CALL_INDIRECT ? next : 0;
	/* Only the end of a function's code makes padding: what looks like a
	 * return between functions may be data. A breakpoint is no end. */
	s->dead = insn_ends(in) && is_in_func(s, in->pc) && !goes_on &&
		!insn_may_resume(s->impl->arch, p, in) ? next + PLAN_PAGE : 0;
	if (insn_ends(in))
		s->nrecent = 0;
	else
		s->recent[s->nrecent++ % RECENT] = *in;
	return err;
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

/* From where an instruction begins to `stop`, or to the next function's start. */
static int sweep_span(struct sweep *s, raddr_t pc, raddr_t stop)
{
	const struct text *t = s->ground->text;

	for (s->dead = 0; pc < stop; ) {
		struct insn in;

		if (measure_at(s, pc, &in)) {
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
	return pc > s->limit && s->func ? sweep_overlap(s, pc, s->limit) : 0;
}

/* From the start of a function, or of the text, to that of the next one. */
static int sweep_next(struct sweep *s, raddr_t pc, raddr_t limit)
{
	raddr_t end = s->func ? s->func->range.end : pc;
	raddr_t behind = end < limit ? MIN(end + DEAD_MOST, limit) : limit;

	s->limit = limit;
	s->pc = pc;
	int err = sweep_span(s, pc, behind);

	return err || s->pc >= limit ? err : sweep_span(s, s->pc, limit);
}

/* Go's linker puts a note before the first function of a text. It is read, and not run,
 * and what it holds may look like branches. */
static int sweep_front(struct sweep *s, raddr_t limit, raddr_t *pc)
{
	struct range note = s->impl->symbols->note;

	if (s->func || note.start < *pc || note.end > limit || !range_size(note))
		return 0;
	int err = sweep_next(s, *pc, note.start);

	*pc = note.end;
	return err;
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
		err = sweep_front(&s, f->range.start, &pc);
		err = err ? err : sweep_next(&s, pc, f->range.start);
		s.func = f;
		pc = f->range.start;
	}
	return err ? err : sweep_next(&s, pc, t.end);
}

int sweep_all(struct plan_impl *p)
{
	int err = 0;

	for (size_t i = 0; i < p->ngrounds && p->arch->thunk; i++) {
		const struct text *t = p->grounds[i].text;

		p->has_thunks |= p->arch->has_thunk(t->bytes, range_size(t->range));
	}

	for (size_t i = 0; i < p->ngrounds && !err; i++)
		err = sweep_text(p, &p->grounds[i]);
	return err;
}
