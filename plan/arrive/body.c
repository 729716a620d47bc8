/* SPDX-License-Identifier: MIT */
/*
 * body: which instructions is this function made of, and where is it left?
 *
 * A function is its symbol's range and the fragments that compilers split off
 * it (.cold). It is left by every return, every jump to another function, and
 * every indirect jump that is no jump table. Where that is not certain the
 * probe keeps its entry only: a wrong exit would be recorded for a call that
 * goes on, a missing one would leave a call open.
 */
#include <errno.h>

#include "plan/arrivals.h"
#include "plan/arrive/between.h"

enum { PADDING = 64 };	/* bytes of nops between functions that are aligned */

static bool is_direct(const struct insn *in)
{
	return in->kind == INSN_JUMP || in->kind == INSN_BRANCH;
}

static bool is_thunk(const struct body *b, raddr_t at)
{
	return body_thunk(b->impl, at) >= 0;
}

static bool leads_to_thunk(const struct body *b, struct range piece, const struct insn *in)
{
	return in->kind == INSN_JUMP && !range_has(piece, in->dest) && is_thunk(b, in->dest);
}

/* What a step is that does not only go on. */
static void read_way(struct body *b, struct range piece, const uint8_t *p, struct step *s)
{
	const struct insn *in = &s->insn;

	s->ends = insn_ends(in) && !insn_may_resume(b->impl->arch, p, in);
	s->thunk = leads_to_thunk(b, piece, in);
	if (in->dest && b->impl->has_thunks)
		s->by_thunk = (uint8_t)(1 + body_thunk(b->impl, in->dest));
	if (step_is_indirect(s)) {
		b->njumps++;
		b->may_switch |= !(in->flags & INSN_SLOT);
	}
}

/* Decode one piece. Sizes and kinds are arch->measure's: the exact decoder is
 * asked about what is displaced only. */
static int read_piece(struct body *b, size_t piece)
{
	const struct arch *arch = b->impl->arch;
	struct range r = b->pieces[piece];
	size_t left;
	const uint8_t *p = symbols_text(b->impl->symbols, r.start, &left);
	struct unseen unseen = between_from(b->impl, r.start);

	if (!crew_spend(b->impl, range_size(r))) {
		b->parted = false;
		body_doubt(b, REFUSED_UNREADABLE);
		return 0;
	}
	uint32_t *places = body_places(b, piece);

	if (!places)
		return -ENOMEM;
	for (raddr_t pc = r.start, size; pc < r.end; pc += size, p += size, left -= size) {
		if (b->nsteps == b->room.steps_cap &&
		    base_grow((void **)&b->room.steps, &b->room.steps_cap, sizeof(*b->steps)))
			return -ENOMEM;
		b->steps = b->room.steps;
		struct step *s = &b->steps[b->nsteps];
		const struct insn *in = &s->insn;

		*s = (struct step){ .piece = piece };
		/* To see further is faster. */
		if (arch->measure(p, left, pc, &s->insn) || in->size > r.end - pc) {
			/* Data, behind which control does not go on. */
			if (b->unowned || between_is_data(b, piece, pc, r.end)) {
				if (b->nsteps)
					b->steps[b->nsteps - 1].ends = true;
				b->unsure = true;
				size = arch->align;
				continue;
			}
			b->parted = false;
			body_doubt(b, REFUSED_UNREADABLE);
			break;
		}
		if (unseen.next < unseen.end && unseen.next->at < pc + in->size)
			between_part(b, &unseen, s);
		if (unseen.parted && !s->ends)
			between_check(b, s);
		if (in->kind != INSN_PLAIN && !s->ends)
			read_way(b, r, p, s);
		b->exclusive |= s->commits = in->flags & INSN_COMMITS;
		places[(pc - r.start) / BODY_STRIDE] = (uint32_t)b->nsteps++;
		size = in->size;
	}
	return 0;
}

static bool is_save(const struct body *b, size_t i)
{
	const struct arch *arch = b->impl->arch;
	const struct insn *in = &b->steps[i].insn;
	size_t left;
	const uint8_t *p = arch->saves ? symbols_text(b->impl->symbols, in->pc, &left) : NULL;

	return p && arch->saves(p, in);
}

/*
 * Does control go on behind a piece, whose last instruction this is? A call there
 * does not return, a system call neither: compilers know which never do. Nops may
 * follow that, as they may what goes on into an aligned function; and what is left of a path
 * that is never taken: to save what it would have changed.
 */
static bool falls_off(const struct body *b, size_t last)
{
	size_t piece = b->steps[last].piece, i = last;

	while (i && b->steps[i - 1].piece == piece && b->steps[i].insn.flags & INSN_NOP)
		i--;
	size_t call = i;
	while (call && b->steps[call - 1].piece == piece && is_save(b, call))
		call--;
	const struct insn *in = &b->steps[i].insn, *before = &b->steps[call].insn;

	return !insn_ends(in) && in->kind != INSN_SYSCALL && before->kind != INSN_CALL &&
	       before->kind != INSN_CALL_INDIRECT;
}

/* Is a piece there that has no bytes, of the function around `pc`? */
static bool is_empty_piece(const struct symbols *s, raddr_t pc, raddr_t to)
{
	const struct empty_piece *e = s->empties;
	const struct func *f = s->nempties ? symbols_func_at(s, pc) : NULL;

	if (!f)
		return false;
	size_t i = vec_prefix(s->nempties, k, e[k].at < to ||
			      (e[k].at == to && e[k].parent < f->range.start));

	return i < s->nempties && e[i].at == to && e[i].parent == f->range.start;
}

/* Compilers let a path that is never taken end with a jump to the end of a piece,
 * where as a rule another function's begins, or to a piece without bytes. Is this one
 * of those? */
static bool leads_nowhere(const struct plan_impl *p, raddr_t pc, raddr_t to)
{
	const struct func *piece = to ? symbols_func_at(p->symbols, to - 1) : NULL;

	if (is_empty_piece(p->symbols, pc, to))
		return true;
	if (!piece || piece->range.end != to || !ground_is_fragment(p, piece))
		return false;
	const struct func *from = symbols_func_at(p->symbols, pc);

	if (!from)
		return false;
	if (from == piece)
		return true;
	if (piece->parent >= 0)
		return piece->parent == from - p->symbols->funcs;
	for (size_t i = ground_edge(p, piece->range.start, range_size(piece->range));
	     i < p->nedges && p->edges[i].to < piece->range.end; i++)
		if (range_has(from->range, edge_from(&p->edges[i])))
			return true;
	return false;
}

/* Fragments that a piece jumps or falls into, or that jump into it. */
static int adopt_around(struct body *b, size_t piece, size_t first)
{
	const struct plan_impl *p = b->impl;
	struct range r = b->pieces[piece];
	int err = 0;

	for (size_t i = first; i < b->nsteps && !err; i++) {
		const struct insn *in = &b->steps[i].insn;

		/* Most that leave are tail calls. */
		if (is_direct(in) && !body_has(b, in->dest) &&
		    !ground_any(p, LAYER_START, in->dest, 1) &&
		    !leads_nowhere(p, in->pc, in->dest))
			err = body_adopt(b, in->dest);
	}
	for (size_t i = ground_edge(p, r.start, range_size(r));
	     i < p->nedges && p->edges[i].to < r.end && !err; i++)
		if (!body_has(b, edge_from(&p->edges[i])) &&
		    !leads_nowhere(p, edge_from(&p->edges[i]), p->edges[i].to))
			err = body_adopt(b, edge_from(&p->edges[i]));
	if (!err && b->nsteps > first && falls_off(b, b->nsteps - 1))
		err = body_adopt(b, r.end);
	return err;
}

static int add_own_fragments(struct body *b)
{
	const struct symbols *syms = b->impl->symbols;
	const uint32_t *frags = b->impl->fragments;
	int64_t self = b->func - syms->funcs;
	size_t k = vec_prefix(b->impl->nfragments, i,
			      syms->funcs[frags[i]].parent < self);

	for (; k < b->impl->nfragments; k++) {
		const struct func *f = &syms->funcs[frags[k]];

		if (f->parent != self)
			break;
		int err = body_add_piece(b, f->range);

		if (err)
			return err;
		b->unsure |= f->flags & FUNC_STRANGE;
	}
	return 0;
}

static int gather(struct body *b)
{
	int err = body_add_piece(b, b->func->range);

	if (!err && b->npieces)
		err = add_own_fragments(b);
	for (size_t i = 0; i < b->npieces && !err; i++) {
		size_t first = b->nsteps;

		err = read_piece(b, i);
		if (!err)
			err = adopt_around(b, i, first);
		if (!err)
			err = tables_adopt(b, first);
	}
	return err;
}

/*
 * Others that come into the middle: their calls would leave through our exits
 * without having entered. Jumps, calls (edges) and symbols alike; and our own
 * start may be the middle of another function.
 */
static void doubt_strangers(struct body *b)
{
	const struct plan_impl *p = b->impl;

	for (size_t n = 0; n < b->npieces; n++) {
		struct range r = b->pieces[n];

		for (size_t i = ground_edge(p, r.start, range_size(r));
		     i < p->nedges && p->edges[i].to < r.end; i++)
			if (!body_has(b, edge_from(&p->edges[i])) &&
			    !leads_nowhere(p, edge_from(&p->edges[i]), p->edges[i].to))
				body_doubt(b, REFUSED_SHARED_BODY);
		if (ground_any(p, LAYER_START, r.start + (n == 0),
			       range_size(r) - (n == 0)))
			body_doubt(b, REFUSED_SHARED_BODY);
	}
	raddr_t start = b->func->range.start;
	const struct func *before = start ? symbols_func_at(p->symbols, start - 1) : NULL;

	if (before && range_has(before->range, start))
		body_doubt(b, REFUSED_SHARED_BODY);
}

/* A direct jump that leaves the body: is it a tail call? */
static void judge_leaving(struct body *b, struct step *s)
{
	raddr_t dest = s->insn.dest;
	const struct func *f = symbols_func_at(b->impl->symbols, dest);
	size_t left;

	if (leads_nowhere(b->impl, s->insn.pc, dest))
		return;
	if (!symbols_text(b->impl->symbols, dest, &left))
		body_doubt(b, REFUSED_UNREADABLE);
	else if (f ? f->range.start != dest || ground_is_fragment(b->impl, f) :
		 !unowned_leaves(b->impl, dest))
		body_doubt(b, REFUSED_SHARED_BODY);
	else	/* a function's start, or a stub of the linkage table */
		s->exit = true;
	if (s->exit && arrivals_returns_otherwise(b->impl, s->insn.pc))
		body_doubt(b, REFUSED_LEFT_OTHERWISE);
}

/* What stands between the place that a loop leads to and the entry's window is
 * left out if the loop is led into the stub: landing pads may be. */
static void judge_loop(struct body *b, raddr_t dest)
{
	b->loops = true;
	/* What could not be read, or in two ways, is not certain to be there. */
	if (b->open || b->has_data)
		b->refusal = REFUSED_LOOP_ENTRY;
	for (size_t i = 0; i < b->entry; i++)
		if (b->steps[i].insn.pc >= dest && !(b->steps[i].insn.flags & INSN_LANDING))
			b->refusal = REFUSED_LOOP_ENTRY;
}

/* That comes back by one of our returns; or a thunk begins with it, in line. */
static void judge_own_call(struct body *b, const struct step *s)
{
	b->unsure |= is_thunk(b, s->insn.pc);
	body_doubt(b, REFUSED_SHARED_BODY);
}

static void judge_direct(struct body *b, struct step *s)
{
	raddr_t dest = s->insn.dest;

	/* The compiler may have left a jump before the entry's window. A call that
	 * comes back from where the stack has grown has yet to be recorded. */
	if (is_direct(&s->insn) && body_is_entry(b, dest) &&
	    s >= b->steps + b->entry) {
		if (!b->ncheck)
			judge_loop(b, dest);
	}
	else if (is_direct(&s->insn) && !body_has(b, dest))
		judge_leaving(b, s);
	else if (is_direct(&s->insn) && compiled_is_exit(b, dest))
		s->exit = true;
	else if (s->insn.kind == INSN_CALL && dest != b->func->range.start &&
		 body_has(b, dest))
		judge_own_call(b, s);
}

static void judge_way_out(struct body *b, struct step *s)
{
	if (goal_is_elsewhere(b, (size_t)(s - b->steps)) ||
	    (s->insn.kind == INSN_RETURN && arrivals_returns_otherwise(b->impl, s->insn.pc)))
		body_doubt(b, REFUSED_LEFT_OTHERWISE);
	s->exit = true;
}

/* A tail call by a whole word, as the file tells of the frame, but that something inside is named:
 * all that a word may lead to is known to be led to. */
static bool is_named_way(const struct body *b, const struct step *s)
{
	raddr_t table;

	return b->impl->arch->effect && !(s->insn.flags & INSN_NOTRACK) &&
		goal_frame_is_gone(b, s->insn.pc) == 1 &&
		arrivals_goes(b->impl, s->insn.pc, &table) == GOES_WORD;
}

static void judge_indirect(struct body *b, struct step *s, enum indirect to)
{
	if (to == INDIRECT_TAIL)
		judge_way_out(b, s);
	b->unsure |= to == INDIRECT_UNSURE && !is_named_way(b, s);
	if (to == INDIRECT_UNSURE)
		body_doubt(b, REFUSED_JUMP_TABLE);
}

static void judge_step(struct body *b, struct step *s, enum indirect to)
{
	switch (s->thunk ? INSN_JUMP_INDIRECT : s->insn.kind) {
	case INSN_JUMP:
	case INSN_BRANCH:
	case INSN_CALL:
		judge_direct(b, s);
		break;
	case INSN_RETURN:
		judge_way_out(b, s);
		break;
	case INSN_JUMP_INDIRECT:
		judge_indirect(b, s, to);
		break;
	case INSN_CALL_INDIRECT:	/* of its own middle, say */
		if (arrivals_returns_otherwise(b->impl, s->insn.pc))
			body_doubt(b, REFUSED_JUMP_TABLE);
		break;
	case INSN_UNKNOWN:	/* a far return, say */
		body_doubt(b, REFUSED_UNREADABLE);
		break;
	}
	b->nexits += s->exit;
}

/* Does a function begin here, or behind nops that no function has? */
static bool leads_into_start(const struct plan_impl *p, raddr_t pc)
{
	for (raddr_t end = pc + PADDING; pc < end; ) {
		const struct func *f = symbols_func_at(p->symbols, pc);
		struct insn in;
		size_t left;
		const uint8_t *bytes = symbols_text(p->symbols, pc, &left);

		if (f)
			return f->range.start == pc && !ground_is_fragment(p, f);
		if (!bytes || p->arch->measure(bytes, left, pc, &in) || !(in.flags & INSN_NOP))
			return false;
		pc += in.size;
	}
	return false;
}

/* What control falls into behind a piece is not ours. Where a function begins there, to
 * fall is to leave for it, as by a jump. */
static void judge_end(struct body *b, size_t i)
{
	const struct step *s = &b->steps[i];
	raddr_t end = s->insn.pc + s->insn.size;
	bool last = i + 1 == b->nsteps || b->steps[i + 1].piece != s->piece;

	if (!last || !s->live || !falls_off(b, i) || body_has(b, end))
		return;
	if (b->falls || b->runtime->ends || !leads_into_start(b->impl, end) ||
	    goal_frame_is_gone(b, s->insn.pc) != 1) {
		body_doubt(b, REFUSED_SHARED_BODY);
		return;
	}
	b->falls = i + 1;
	b->nexits++;
}

/* If it is not known where a jump leads, what nothing else leads to may run too, and leave. */
static void judge_unseen(struct body *b)
{
	for (size_t i = b->entry; i < b->nsteps && b->unsure; i++) {
		const struct step *s = &b->steps[i];

		if (!s->live && is_direct(&s->insn) && body_is_entry(b, s->insn.dest))
			b->refusal = REFUSED_LOOP_ENTRY;
		if (!s->live && s->insn.kind != INSN_STOP && live_may_leave(b, &s->insn))
			body_doubt(b, REFUSED_JUMP_TABLE);
	}
}

/* Where the entries of no table of distances are read (plan/flow reads them by effects), a jump
 * inside may lead to any instruction. */
static bool leads_anywhere(const struct body *b, const enum indirect *indirect)
{
	size_t n = 0;
	bool ret = false;

	for (size_t i = 0; i < b->nsteps && arch_has_short_windows(b->impl->arch); i++)
		if (step_is_indirect(&b->steps[i]))
			ret |= indirect[n++] == INDIRECT_INSIDE;
	return ret;
}

static int body_judge(struct body *b)
{
	auto_free enum indirect *indirect = NULL;
	int err = indirect_resolve(b, &indirect);
	size_t n = 0;

	if (!err)
		err = live_mark(b, leads_anywhere(b, indirect));
	if (err)
		return err;
	doubt_strangers(b);
	for (size_t i = 0; i < b->nsteps; i++) {
		struct step *s = &b->steps[i];
		bool jumps = step_is_indirect(s);

		if (s->live)
			judge_step(b, s, jumps ? indirect[n] : INDIRECT_UNSURE);
		n += jumps;
		judge_end(b, i);
	}
	judge_unseen(b);
	live_doubt(b, indirect);
	return whole_doubt_jumps(b);
}

int body_read(struct plan_impl *p, const struct func *f, struct body *ret)
{
	*ret = (struct body){ .impl = p, .func = f, .room = p->spare,
			      .runtime = runtime_of(p->symbols, f) };
	ret->tight = ret->runtime->tight;
	ret->unsure = p->bound || f->flags & FUNC_STRANGE;
	p->spare = (struct body_room){ 0 };
	int err = gather(ret);

	if (err)
		body_clear(ret);
	return err;
}

int body_read_unowned(struct plan_impl *p, const struct func *f, struct body *ret)
{
	*ret = (struct body){ .impl = p, .func = f, .unowned = true, .room = p->spare,
			      .runtime = &runtime_c };
	p->spare = (struct body_room){ 0 };
	int err = body_add_piece(ret, f->range);

	if (!err && ret->npieces)
		err = read_piece(ret, 0);
	if (err)
		body_clear(ret);
	return err;
}

static void set_constant(struct step *s)
{
	s->insn = (struct insn){ .pc = s->insn.pc, .size = s->insn.size, .kind = INSN_STOP };
}

/*
 * Constants that its code loads from among itself are no instructions, whatever they look like.
 * Where instructions are aligned, nor is what no decoder knows and nothing comes to: an assembler
 * may keep a constant that it has loaded otherwise in the end.
 */
static void part_constants(struct body *b)
{
	for (size_t i = 0; i < b->nsteps; i++) {
		if (!(b->steps[i].insn.flags & INSN_CONSTANT))
			continue;
		struct insn in = b->steps[i].insn;

		for (raddr_t a = in.ref; a < in.dest; a += b->impl->arch->align) {
			size_t at = body_step(b, a);

			if (at < b->nsteps)
				set_constant(&b->steps[at]);
		}
	}
	for (size_t i = 1; i < b->nsteps && arch_has_short_windows(b->impl->arch); i++)
		if (b->steps[i].insn.kind == INSN_UNKNOWN && insn_ends(&b->steps[i - 1].insn) &&
		    !ground_any(b->impl, LAYER_TARGET, b->steps[i].insn.pc, 1))
			set_constant(&b->steps[i]);
}

int body_make(struct plan_impl *p, const struct func *f, struct body *ret)
{
	int err = body_read(p, f, ret);

	if (err)
		return err;
	part_constants(ret);
	if (!ret->nsteps)
		ret->refusal = REFUSED_UNREADABLE;
	if (ret->nsteps) {
		ret->entry = compiled_entry(ret);
		if (f->flags & FUNC_PLT)
			body_doubt(ret, REFUSED_LINKAGE);
		if (ret->runtime->prepare)
			ret->runtime->prepare(ret);
		err = body_judge(ret);
	}
	if (err)
		body_clear(ret);
	return err;
}

/*
 * A jump to the place is one more that comes there, also from behind it. What a runtime makes room
 * for, where its functions begin, need not be there.
 */
void body_set_place(struct body *b, raddr_t pc)
{
	size_t i = body_step(b, pc);

	b->place = true;
	b->entry = i;
	b->loops = false;
	if (b->refusal == REFUSED_LOOP_ENTRY)
		b->refusal = REFUSED_NONE;
	if (i == b->nsteps || !b->steps[i].live)
		b->refusal = REFUSED_NO_INSTRUCTION;
	else if (b->tight || b->ncheck || b->runtime->routines != ROUTINES_C)
		b->refusal = REFUSED_LITTLE_STACK;
	else if (b->func->flags & FUNC_PLT)
		b->refusal = REFUSED_LINKAGE;
}
