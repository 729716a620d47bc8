/* SPDX-License-Identifier: MIT */
/*
 * window: may a jump stand here?
 *
 * Every rule that keeps a process alive while its code is written over stands in this
 * file, each with its reason.
 */
#include "plan/impl.h"

/* Does the exact decoder know what is about to be moved? An instruction is
 * asked about once. */
static bool is_known(struct body *b, size_t i)
{
	struct step *s = &b->steps[i];
	struct insn in;
	size_t left;
	const uint8_t *p = symbols_text(b->impl->symbols, s->insn.pc, &left);

	if (s->exact == EXACT_NOT_ASKED)
		s->exact = p && b->impl->arch->decode(p, left, s->insn.pc, &in) == 0 &&
			in.kind == s->insn.kind && in.size == s->insn.size ?
			EXACT_AGREES : EXACT_DIFFERS;
	return s->exact == EXACT_AGREES;
}

/*
 * A handler of ud2's signal looks up where it was. But a function that begins with it ends the
 * process, here or in a stub, if there is no handler; and a handler that goes on behind it
 * later does so in the stub, too.
 */
static bool may_stop(const struct body *b, size_t i)
{
	const struct plan_impl *p = b->impl;
	const struct insn *in = &b->steps[i].insn;
	size_t left;
	const uint8_t *bytes = symbols_text(p->symbols, in->pc, &left);
	int signal = bytes ? p->arch->raises(bytes, in) : 0;

	return i == b->entry && signal && !(p->caught >> (signal - 1) & 1);
}

/*
 * A handler of faults may decide by where they are: a runtime that makes an exception of them
 * unwinds from there, and finds no table for a stub.
 */
static bool may_fault(const struct body *b, size_t i)
{
	const struct plan_impl *p = b->impl;
	const struct insn *in = &b->steps[i].insn;
	size_t left;
	const uint8_t *bytes = symbols_text(p->symbols, in->pc, &left);
	const struct runtime *rt = b->runtime;
	uint64_t caught = p->caught | rt->handles;

	return caught && !(rt->is_sure && rt->is_sure(b, i, bytes, left)) &&
		(!bytes || p->arch->faults(bytes, in) & caught) &&
		!(rt->handles && b->last && later_is_reached(b, i));
}

/* Rules for one instruction, wherever in the window it stands. */
static enum refusal check_movable(struct body *b, size_t i)
{
	const struct insn *in = &b->steps[i].insn;

	/* A thread that waits in a system call has its PC behind it, or, when
	 * the kernel restarts the call, on it: never in a stub. */
	if (in->kind == INSN_SYSCALL)
		return REFUSED_SYSCALL_INSIDE;
	if (in->kind == INSN_STOP && !may_stop(b, i))
		return REFUSED_UNMOVABLE;
	if (in->kind == INSN_UNKNOWN || !is_known(b, i))
		return REFUSED_UNKNOWN_INSN;
	if (in->flags & INSN_PINNED)
		return REFUSED_UNMOVABLE;
	/* What asks for room reads g, which is always there. */
	const struct runtime *rt = b->runtime;
	if ((i >= b->ncheck && may_fault(b, i)) || (rt->ends_stack && rt->ends_stack(b, i)))
		return REFUSED_MAY_FAULT;
	return REFUSED_NONE;
}

/* Rules for what follows what. */
static enum refusal check_order(const struct body *b, size_t i, size_t first, size_t last)
{
	const struct insn *in = &b->steps[i].insn;
	bool call = in->kind == INSN_CALL || in->kind == INSN_CALL_INDIRECT;

	/* A return address inside the window would be returned to. At an entry
	 * a call may be the last: it returns behind the window. An exit's
	 * window may begin at a return address, which its jump then serves. */
	if (call && (i != last || first != b->entry))
		return REFUSED_CALL_INSIDE;
	/* Behind an end control does not fall into what follows: it is another path's, or no
	 * function's, and may be data. */
	if (i != first && (insn_ends(&b->steps[i - 1].insn) ||
			   b->steps[i - 1].piece != b->steps[i].piece))
		return REFUSED_TOO_SHORT;
	return REFUSED_NONE;
}

/* What pads within a function does so for what control comes to behind it: else it may be data that
 * begin like that. */
static bool pads_for_code(const struct body *b, raddr_t at)
{
	while (ground_any(b->impl, LAYER_DEAD, at, 1))
		at++;
	size_t step = body_step(b, at);

	return !body_has(b, at) || (step < b->nsteps && b->steps[step].live);
}

/* Dead padding behind a window, at most `want` bytes: this function's, or no function's. */
static size_t dead_behind(const struct body *b, raddr_t at, size_t want)
{
	const struct plan_impl *p = b->impl;
	size_t n = 0;

	/* Where control seems never to come an address may lead that is not known. */
	if (p->bound)
		return 0;
	for (; n < want; n++)
		if (!ground_any(p, LAYER_DEAD, at + n, 1) ||
		    ground_any(p, LAYER_TAKEN, at + n, 1) ||
		    (!body_has(b, at + n) && symbols_func_at(p->symbols, at + n)))
			break;
	return n && body_has(b, at) && !pads_for_code(b, at) ? 0 : n;
}

enum refusal window_short(const struct body *b, size_t first, size_t need)
{
	const struct plan_impl *p = b->impl;
	raddr_t start = b->steps[first].insn.pc;
	size_t last = first;

	while (last + 1 < b->nsteps && !check_order(b, last + 1, first, last + 1))
		last++;
	for (raddr_t a = b->steps[last].insn.pc + b->steps[last].insn.size; a < start + need;
	     a++) {
		if ((!body_has(b, a) && symbols_func_at(p->symbols, a)) ||
		    ground_any(p, LAYER_TAKEN, a, 1))
			return REFUSED_TOO_SHORT;
		if (ground_any(p, LAYER_TARGET, a, 1))
			return REFUSED_BRANCH_INSIDE;
		if (!ground_any(p, LAYER_DEAD, a, 1))
			return REFUSED_TOO_SHORT;
	}
	/* (What is said of it: no window stands there in any case.) */
	return p->bound ? REFUSED_JUMP_TABLE : REFUSED_TOO_SHORT;
}

/* Is every target strictly inside the start of an instruction, and can the jumps that arrive be
 * led to its copy? */
static bool may_be_landed_on(const struct body *b, size_t first, size_t last)
{
	if (!b->may_land)
		return false;
	for (size_t i = first; i <= last; i++) {
		const struct insn *in = &b->steps[i].insn;

		if (i != first && ground_any(b->impl, LAYER_TARGET, in->pc, 1) &&
		    !redirect_covers(b, in->pc))
			return false;
		if (ground_any(b->impl, LAYER_TARGET, in->pc + 1, in->size - 1))
			return false;
	}
	return true;
}

static bool crosses_page(raddr_t at, size_t n)
{
	return at / PAGE != (at + n - 1) / PAGE;
}

/*
 * A coroutine that waits since its runtime preempted it has the address on its stack where
 * it goes on, and no thread shows that. It may be any instruction's but those of
 * the check, where the compiler forbids it, and those of which the runtime's tables
 * say so: none may have its bytes changed, but for the first. One that goes on behind
 * that leaves a call that began before us.
 */
size_t window_room(const struct body *b, size_t first, size_t last, size_t most)
{
	raddr_t start = b->steps[first].insn.pc;

	for (size_t i = MAX(first + 1, b->ncheck); i <= last && b->runtime->is_kept; i++)
		if (b->runtime->is_kept(b, b->steps[i].insn.pc))
			return MIN(most, b->steps[i].insn.pc - start);
	return most;
}

/* May all of its instructions be moved? */
static enum refusal check_insns(struct body *b, size_t first, size_t last)
{
	if (last - first >= SITE_INSNS)
		return REFUSED_TOO_SHORT;
	/* It is not known at which instruction it arrives: none may lie in bytes that
	 * change, but for the first. No jump leads into a check: without that no function
	 * that has one is probed at all. */
	if (b->unsure && last > first && last >= b->ncheck)
		return REFUSED_JUMP_TABLE;
	for (size_t i = first; i <= last; i++) {
		const struct step *s = &b->steps[i];
		enum refusal why = check_order(b, i, first, last);

		/* To what nothing leads: it may be data, but for what pads. */
		if (!why && !s->live && !(s->insn.flags & INSN_NOP))
			why = REFUSED_TOO_SHORT;
		if (!why)
			why = check_movable(b, i);
		if (why)
			return why;
	}
	return REFUSED_NONE;
}

enum refusal window_check(struct body *b, size_t first, size_t last, size_t need,
			  struct window *ret)
{
	raddr_t start = b->steps[first].insn.pc;
	const struct insn *end = &b->steps[last].insn;
	size_t size = end->pc + end->size - start, dead = 0;
	enum refusal why = window_room(b, first, last, need) < need ? REFUSED_TOO_SHORT :
		check_insns(b, first, last);

	if (why)
		return why;
	/* A jump into the middle would execute half an address. */
	bool landed = ground_any(b->impl, LAYER_TARGET, start + 1, size - 1);

	for (size_t i = first + 1; i <= last; i++)
		if (words_lead_to(b->impl, b->steps[i].insn.pc))
			return REFUSED_BRANCH_INSIDE;

	if (landed && !may_be_landed_on(b, first, last))
		return REFUSED_BRANCH_INSIDE;
	if (ground_any(b->impl, LAYER_TAKEN, start, size))
		return REFUSED_TOO_SHORT;
	if (size < need)
		dead = dead_behind(b, start + size, need - size);
	if (size + dead < need)
		return REFUSED_TOO_SHORT;
	/* Pages are written one by one: an injector killed between two writes
	 * must not leave half a jump. */
	if (crosses_page(start, need))
		return REFUSED_PAGE_CROSSING;
	*ret = (struct window){ .first = first, .last = last, .size = size,
				.dead = dead, .level = landed };
	return REFUSED_NONE;
}

/* A jump inside of the instruction, as far as we can tell, finds what was there: only its first
 * byte changes, or it is no longer than a breakpoint. */
enum refusal window_trap(struct body *b, size_t step, struct window *ret)
{
	const struct insn *in = &b->steps[step].insn;
	enum refusal why = check_order(b, step, step, step);

	if (!why)
		why = check_movable(b, step);
	if (why)
		return why;
	if (ground_any(b->impl, LAYER_TAKEN, in->pc, in->size))
		return REFUSED_TOO_SHORT;
	*ret = (struct window){ .first = step, .last = step, .size = in->size };
	return REFUSED_NONE;
}

/* Something leads into the middle of one instruction: what it finds there stays. */
static enum refusal check_led(struct body *b, size_t step, struct window *ret)
{
	const struct insn *in = &b->steps[step].insn;
	enum refusal why = check_insns(b, step, step);
	uint8_t stays = 1;

	while (stays < in->size && !ground_any(b->impl, LAYER_TARGET, in->pc + stays, 1))
		stays++;
	if (!why && ground_any(b->impl, LAYER_TAKEN, in->pc, in->size))
		why = REFUSED_BRANCH_INSIDE;
	if (!why)
		*ret = (struct window){ .first = step, .last = step, .size = in->size,
					.stays = stays };
	return why;
}

/* Longer than this, one dead byte more would have made a full jump. */
enum refusal window_pun(struct body *b, size_t first, size_t last, struct window *ret)
{
	size_t want = b->impl->arch->jump_size;
	enum refusal why = window_check(b, first, last, 1, ret);

	if (why == REFUSED_BRANCH_INSIDE && first == last)
		return check_led(b, first, ret);
	if (!why && ret->size < want)
		ret->dead = dead_behind(b, b->steps[first].insn.pc + ret->size,
					want - ret->size);
	return why;
}

/* A runtime may look up where a thread is that it interrupts: in padding that is its own none may
 * be met. */
static bool may_hole(const struct body *b, raddr_t at)
{
	struct range hole = { at, at + b->impl->arch->jump_size };

	return !runtimes_have_padding(b->impl->symbols, hole);
}

raddr_t window_hole(const struct body *b, raddr_t from)
{
	const struct arch *arch = b->impl->arch;
	raddr_t next = from + arch->short_size;
	raddr_t reach = (raddr_t)arch->short_reach, end = next + reach + 1;
	raddr_t a = next > reach ? next - reach : 0;

	while ((a = ground_next(b->impl, LAYER_DEAD, a, end)) < end) {
		if (a % arch->align == 0 && may_hole(b, a) &&
		    dead_behind(b, a, arch->jump_size) == arch->jump_size &&
		    !crosses_page(a, arch->jump_size))
			return a;
		a++;
	}
	return 0;
}
