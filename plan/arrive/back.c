/* SPDX-License-Identifier: MIT */
/*
 * back: may a function change the way back that it returns by?
 *
 * The sweep asks this of every function, in one reading from its start on: of one that may, all is
 * gone through (whole.c). So what is not known here means that it may. Known is where the stack
 * is as long as control falls through, where a jump forwards has left it, or, behind the end of a
 * way, what the file tells, if that was right where the stack was deepest.
 */
#include <errno.h>
#include <string.h>

#include "plan/arrive/back.h"

enum {
	WORD = 8, FAR = 1 << 26, /* no argument is so far above, nor what a caller returns by */
	LOAD_SIZE = 4,		/* bytes of the shortest instruction that loads one from a stack */
};

static void begin_anew(struct back *b)
{
	stack_begin(b->impl->arch, &b->stack);
	b->copied = b->rounded = false;
	b->stale = b->held = b->left;
	b->copies = b->left;
	for (uint32_t left = b->left; left; left &= left - 1)
		b->stack.at[__builtin_ctz(left)] = b->left_at[__builtin_ctz(left)];
}

void back_enter(struct back *b, const struct plan_impl *p, const struct func *f)
{
	struct range r = f->range;

	b->impl = p;
	b->func = r;
	/* Of what only the file's frames tell it may be a piece of another function. */
	b->known = f->source != FUNC_EH_FRAME;
	b->judged = b->told = !b->known;
	b->copies = b->pushed = b->takes = false;
	/* Of what keeps to its stack nothing is asked. */
	b->may = runtime_of(p->symbols, f)->one_stack;
	b->left = b->ever = 0;
	b->called = 0;
	b->lost_way = b->astray = false;
	b->nchanges = 0;
	b->above_end = b->above_most = 0;
	b->block = 0;
	b->deep = 0;
	b->deepest = r.start;
	memset(b->ways, 0, sizeof(b->ways));
	begin_anew(b);
}

static struct back_way *way_to(struct back *b, raddr_t to)
{
	return &b->ways[to % ARRAY_SIZE(b->ways)];
}

/* Was what the file tells right where the stack was deepest? */
static bool is_told(struct back *b)
{
	int64_t cfa;

	if (!b->judged) {
		int err = symbols_cfa_offset(b->impl->symbols, b->deepest, &cfa);

		b->told = err == -ENOTSUP || (!err && WORD - cfa == b->deep);
	}
	b->judged = true;
	return b->told;
}

/* Where is the stack before `pc`, which control does not fall into? */
static void find_stack(struct back *b, raddr_t pc)
{
	int sp = b->impl->arch->stack, fp = b->impl->arch->frame;
	int64_t cfa = 0;
	int err = is_told(b) ? symbols_cfa_offset(b->impl->symbols, pc, &cfa) : -ENOENT;

	begin_anew(b);
	b->known = true;
	b->may |= err && err != -ENOTSUP;
	b->stack.at[sp] = err ? STACK_LOST : (int32_t)(WORD - cfa);
	if (err == -ENOTSUP)
		b->stack.at[fp] = -WORD;
}

static void note_change(struct back *b, raddr_t pc)
{
	int32_t sp = b->stack.at[b->impl->arch->stack];

	if (b->nchanges == ARRAY_SIZE(b->changes))
		return;
	b->changes[b->nchanges++] = (struct back_way){
		.to = pc, .sp = sp, .high = back_high(b, b->impl->arch->stack),
	};
	if (sp < b->deep && sp != STACK_NOT && sp != STACK_LOST) {
		b->deep = sp;
		b->deepest = pc;
		b->judged = false;
	}
}

/* Is the stack where the file tells, if it tells anything right? */
static bool is_as_told(struct back *b, raddr_t pc)
{
	int64_t cfa;
	int err = is_told(b) ? symbols_cfa_offset(b->impl->symbols, pc, &cfa) : -ENOENT;

	return err ? err == -ENOTSUP : WORD - cfa == b->stack.at[b->impl->arch->stack];
}

/* Is the stack where it was when control came by there before? */
static bool is_as_before(struct back *b, raddr_t to)
{
	int32_t now = b->stack.at[b->impl->arch->stack], was = 0;
	bool all = b->nchanges < ARRAY_SIZE(b->changes) && now != STACK_LOST;

	for (size_t i = 0; i < b->nchanges && b->changes[i].to <= to; i++)
		was = b->changes[i].sp;
	return all && was == now;
}

/* Does a loop come back with a stack that was rounded, and is higher than before? */
static bool is_higher(const struct back *b, raddr_t to)
{
	int32_t was = STACK_NOT;

	for (size_t i = 0; i < b->nchanges && b->changes[i].to <= to; i++)
		was = b->changes[i].high;
	return b->rounded && (b->nchanges == ARRAY_SIZE(b->changes) ||
			      back_high(b, b->impl->arch->stack) > was);
}

/* Something is written to memory of the stack, by a register that was rounded. */
static bool may_reach(const struct back *b, int base, int64_t number, int64_t size)
{
	return b->rounded && base >= 0 && stack_is_known(&b->high, base) &&
		b->high.at[base] + number > -size;
}

/* The same, by a register of which it is known where it is. */
static bool may_change(const struct back *b, const struct effect *e)
{
	const struct stack *s = &b->stack;
	int64_t at;

	if (e->pushes && stack_is_known(s, b->impl->arch->stack))
		return s->at[b->impl->arch->stack] > 0;
	if (e->pushes ? may_reach(b, b->impl->arch->stack, -WORD, WORD) :
	    e->stores && e->memory && e->index < 0 &&
	    may_reach(b, e->base, e->number, MAX((int64_t)e->width, WORD)))
		return true;
	return e->stores && stack_reaches(e, s, &at) && at > -MAX((int64_t)e->width, WORD) &&
		at < WORD;
}

/* Is what it returns by loaded? */
static bool may_take(const struct back *b, const struct effect *e)
{
	int64_t at;

	return (e->reg >= 0 || e->others || e->pushes) && stack_reaches(e, &b->stack, &at) &&
		at > -WORD && at < WORD;
}

/* Does the file tell that the stack is elsewhere? Behind a call that never returns it is. */
static bool is_elsewhere(struct back *b, raddr_t pc)
{
	int64_t cfa;

	return is_told(b) && !symbols_cfa_offset(b->impl->symbols, pc, &cfa) &&
		WORD - cfa != b->stack.at[b->impl->arch->stack];
}

/* Arguments are there; or, if the caller has put none there, what the caller returns by. */
static void note_above(struct back *b, const struct insn *in, const struct effect *e)
{
	int64_t at, end;

	if (!e->stores || !stack_reaches(e, &b->stack, &at) || at < WORD ||
	    b->stale >> e->base & 1)
		return;
	end = at + MAX((int64_t)e->width, 1);
	if (end <= b->above_most || end > FAR || is_elsewhere(b, in->pc))
		return;
	if (!b->above || end > b->above_end) {
		b->above = in->pc;
		b->above_end = (int32_t)end;
	}
	b->above_block = b->block;
	if (!b->block)
		b->above_most = b->above_end;
}

/* Does a jump leave a register with what was rounded, and may be the address of the way back? */
static bool leaves_high(const struct back *b)
{
	uint32_t held = b->held | 1u << b->impl->arch->frame;

	for (uint32_t left = b->rounded ? held : 0; left; left &= left - 1) {
		int i = __builtin_ctz(left);

		if (!stack_is_known(&b->stack, i) && b->high.at[i] >= -WORD)
			return true;
	}
	return false;
}

/* A jump leaves registers that hold addresses of the stack as they are. */
static void note_left(struct back *b)
{
	for (uint32_t left = b->held; left; left &= left - 1) {
		int i = __builtin_ctz(left);
		int32_t at = b->stack.at[i];

		if (at == STACK_NOT || at == STACK_LOST)
			continue;
		b->may |= b->left >> i & 1 && b->left_at[i] != at;
		b->left |= 1u << i;
		b->left_at[i] = at;
	}
}

/* Does a jump back leave one that is not of its own frame in a register that had another, or none,
 * where it leads? */
static bool is_left_back(const struct back *b, raddr_t to)
{
	const uint32_t frame = b->ever & 1u << b->impl->arch->frame;

	for (uint32_t left = b->held | frame; left; left &= left - 1) {
		int i = __builtin_ctz(left);

		if (b->stack.at[i] >= 0 && b->since[i] > to)
			return true;
	}
	return false;
}

/* A register has been set: since when has it this address of the stack? */
static void note_since(struct back *b, raddr_t pc, int reg)
{
	int32_t at = b->stack.at[reg];

	if (at == STACK_NOT || (b->ever >> reg & 1 && b->ever_at[reg] == at))
		return;
	b->ever |= 1u << reg;
	b->ever_at[reg] = at;
	b->since[reg] = pc;
}

static void note_copies(struct back *b)
{
	b->copies = b->held ||
		(b->copied && b->stack.at[b->impl->arch->frame] != STACK_NOT);
}

/* Which of the registers that an instruction sets have an address of the stack now? */
static void note_held(struct back *b, raddr_t pc, const struct effect *e)
{
	const struct arch *arch = b->impl->arch;
	uint32_t set = e->others | (e->reg >= 0 ? 1u << e->reg : 0) |
		(e->op == EFFECT_SWAP ? 1u << e->base : 0) |
		(e->op == EFFECT_RETURNED ? 1u << arch->second : 0);

	for (set &= ~(1u << arch->stack | 1u << arch->frame); set; set &= set - 1) {
		int i = __builtin_ctz(set);
		int32_t *at = &b->stack.at[i];

		/* What is reached by an address of its own frame stays below the way back. */
		if (e->op == EFFECT_SUM && i == e->reg && *at < 0)
			*at = STACK_NOT;
		note_since(b, pc, i);
		b->held = (b->held & ~(1u << i)) |
			(*at != STACK_NOT || back_high(b, i) >= -WORD ? 1u : 0) << i;
	}
	note_copies(b);
}

/* Does it neither change where the stack is, nor write to what is near the way back, or above? */
static bool keeps_away(struct back *b, const struct insn *in, const uint8_t *bytes)
{
	struct only_stores w;

	if (!b->impl->arch->only_stores(bytes, in, &w) ||
	    may_reach(b, w.base, w.number, w.most) ||
	    (w.base >= 0 && stack_is_known(&b->stack, w.base) &&
	     b->stack.at[w.base] + w.number > -w.most))
		return false;
	b->astray |= w.base == b->impl->arch->stack && b->stack.at[w.base] == STACK_LOST;
	note_copies(b);
	return true;
}

/* Is something put where the stack is, and the file does not tell that it has grown? */
static bool is_untold(const struct back *b, const struct insn *in, const struct effect *e)
{
	const struct symbols *syms = b->impl->symbols;
	int64_t before, after;

	if (!e->pushes)
		return e->stores && e->base == b->impl->arch->stack;
	return symbols_cfa_offset(syms, in->pc, &before) ||
		symbols_cfa_offset(syms, in->pc + in->size, &after) || after <= before;
}

/* Is an address of the stack rounded, but for one of its own frame? */
static bool is_rounded(const struct back *b, const struct effect *e)
{
	for (uint32_t left = e->others & e->changes; left; left &= left - 1) {
		int i = __builtin_ctz(left);

		if (stack_is_known(&b->stack, i) &&
		    (i == b->impl->arch->stack || b->stack.at[i] >= -WORD))
			return true;
	}
	return false;
}

/* What is rounded then is no higher. */
static void pass_high(struct back *b, const struct effect *e)
{
	struct stack was = b->rounded ? b->high : b->stack;

	b->rounded = true;
	b->high = was;
	stack_pass(b->impl->arch, e, &b->high);
	for (uint32_t left = e->others & e->changes; left; left &= left - 1)
		b->high.at[__builtin_ctz(left)] = was.at[__builtin_ctz(left)];
}

static void pass_effect(struct back *b, const struct insn *in, const struct effect *e)
{
	int sp = b->impl->arch->stack, fp = b->impl->arch->frame;
	int32_t was = b->stack.at[sp], high = back_high(b, sp);

	b->may |= may_change(b, e);
	b->takes |= may_take(b, e);
	note_above(b, in, e);
	if (b->stale && e->reg >= 0)
		b->stale = (b->stale & ~(1u << e->reg)) |
			(e->base >= 0 ? b->stale >> e->base & 1 : 0) << e->reg;
	if (e->reg == fp)
		b->copied = e->op == EFFECT_SUM;
	if (b->rounded || is_rounded(b, e))
		pass_high(b, e);
	stack_pass(b->impl->arch, e, &b->stack);
	b->astray |= b->stack.at[sp] == STACK_NOT || (was == STACK_LOST && is_untold(b, in, e));
	if (b->stack.at[sp] == STACK_NOT)
		b->stack.at[sp] = STACK_LOST;
	if (b->stack.at[sp] != was || back_high(b, sp) != high)
		note_change(b, in->pc + in->size);
	if (e->reg == fp)
		note_since(b, in->pc, fp);
	note_held(b, in->pc, e);
}

/* Whatever a call is to, it need not keep all registers. */
static void pass_call(struct back *b, const struct effect *e)
{
	struct stack s = b->stack;

	stack_pass(b->impl->arch, e, &s);
	for (int i = 0; i < ARCH_REGISTERS_MAX; i++)
		b->stale |= (s.at[i] != b->stack.at[i] ? 1u : 0) << i;
}

/* Does a call stand right before, or before what pads? */
static bool is_behind_call(const struct back *b, raddr_t pc)
{
	size_t left;
	const uint8_t *p = symbols_text(b->impl->symbols, b->called, &left);

	return p && b->called <= pc && pc - b->called <= ARCH_INSN_MAX &&
		b->impl->arch->is_padding(p, pc - b->called);
}

/*
 * Two ways come to `pc`, and have the stack at different places: where is it there? With a frame
 * pointer no longer known if one has lost it. If a call before never comes back, as the file tells,
 * where a jump (`way`) has left it.
 */
static int32_t join_stacks(struct back *b, raddr_t pc, bool falls, int32_t way)
{
	int32_t now = b->stack.at[b->impl->arch->stack];
	int64_t cfa;
	int err = is_told(b) ? symbols_cfa_offset(b->impl->symbols, pc, &cfa) : -ENOENT;

	if (err == -ENOTSUP && (now == STACK_LOST || way == STACK_LOST))
		return STACK_LOST;
	if (falls && is_behind_call(b, pc) && (err == -ENOTSUP || (!err && WORD - cfa == way)))
		return way;
	b->may = true;
	return STACK_LOST;
}

/* What two ways leave in one register: an address by either is one. */
static int32_t join_held(struct back *b, int32_t at, int32_t with)
{
	if (at == STACK_NOT || at == STACK_LOST || at == with)
		return with == STACK_NOT ? at : with;
	if (with == STACK_NOT || with == STACK_LOST)
		return at;
	b->may = true;
	return STACK_LOST;
}

/* There are too many jumps: what is told has to be right of this one, and where it is left. */
static void forget_way(struct back *b, const struct back_way *w)
{
	int64_t cfa;
	int err = is_told(b) ? symbols_cfa_offset(b->impl->symbols, w->to, &cfa) : -ENOENT;

	b->lost_way = true;
	b->may |= err ? err != -ENOTSUP : WORD - cfa != w->sp;
}

static void note_way(struct back *b, const struct insn *in)
{
	int sp = b->impl->arch->stack, fp = b->impl->arch->frame;
	struct back_way *w = way_to(b, in->dest);

	b->may |= leaves_high(b);
	if (in->dest <= in->pc) {
		b->may |= is_left_back(b, in->dest);
		if (is_as_before(b, in->dest))
			return;
		b->may |= !is_as_told(b, in->dest) || is_higher(b, in->dest);
		/* A loop that makes a large frame page by page: behind it the file tells. */
		if (in->kind == INSN_BRANCH)
			find_stack(b, in->pc + in->size);
		return;
	}
	note_left(b);
	struct back_way now = { in->dest, b->stack.at[sp], b->stack.at[fp], back_high(b, sp),
				b->copied || b->stale >> fp & 1 };

	if (w->to == in->dest) {
		now.fp = join_held(b, now.fp, w->fp);
		now.high = MAX(now.high, w->high);
	}
	if (w->to == in->dest && w->sp != now.sp)
		now.sp = join_stacks(b, in->dest, false, w->sp);
	else if (w->to > in->pc && w->to != in->dest)
		forget_way(b, w);
	*w = now;
}

/* Code that leaves with its frame, as the file tells, goes on in another piece, and does not push
 * where that is to return to. Where ways that join have lost the stack the file tells whether
 * the frame is gone, or that its own register has it, if it has told of what was put there since;
 * where an instruction has lost it, no file can. */
static void leave_lost(struct back *b, const struct insn *in)
{
	int64_t cfa;
	int err = is_told(b) ? symbols_cfa_offset(b->impl->symbols, in->pc, &cfa) : -ENOENT;
	bool gone = !err && cfa == WORD && (in->kind == INSN_RETURN || !b->pushed);
	bool framed = err == -ENOTSUP && in->kind == INSN_JUMP &&
		b->stack.at[b->impl->arch->frame] == -WORD;

	b->may |= b->astray || !(gone || framed);
}

static void leave(struct back *b, const struct insn *in)
{
	int32_t at = b->stack.at[b->impl->arch->stack];

	if (at == STACK_LOST)
		leave_lost(b, in);
	else if (at)
		b->may |= in->kind != INSN_JUMP || b->pushed || !is_as_told(b, in->pc);
	if (b->lost_way && (at != STACK_LOST || b->astray))
		b->may |= !is_as_told(b, in->pc);
}

/* By a jump they may have what it has left. */
static void join_left(struct back *b)
{
	for (uint32_t left = b->left; left; left &= left - 1) {
		int i = __builtin_ctz(left);

		b->stack.at[i] = join_held(b, b->stack.at[i], b->left_at[i]);
	}
	b->held |= b->left;
	b->stale |= b->left;
	note_copies(b);
}

/* What is highest by a jump, or by what was before. */
static void join_high(struct back *b, const struct back_way *w, bool falls)
{
	int sp = b->impl->arch->stack;

	if (!b->rounded && w->high == w->sp)
		return;
	if (!b->rounded)
		b->high = b->stack;
	b->rounded = true;
	b->high.at[sp] = falls ? MAX(b->high.at[sp], w->high) : w->high;
}

/* Behind what control does not fall through. */
static void arrive(struct back *b, raddr_t pc)
{
	const struct back_way *w = way_to(b, pc);

	if (w->to != pc)
		return;
	b->block = 0;
	int fp = b->impl->arch->frame;

	int32_t *sp = &b->stack.at[b->impl->arch->stack], *frame = &b->stack.at[fp];
	int32_t at = w->sp, with = w->fp;
	bool known = b->known;

	if (!known)
		begin_anew(b);
	join_high(b, w, known);
	if (known && at != *sp)
		at = join_stacks(b, pc, true, at);
	if (known)
		with = join_held(b, *frame, with);
	if (b->left)
		join_left(b);
	b->known = true;
	*sp = at;
	*frame = with;
	b->stale = (b->stale & ~(1u << fp)) | (unsigned int)w->stale << fp;
}

/* Is what it returns by loaded by something that is else not of the stack? */
static void note_load(struct back *b, const struct insn *in, const uint8_t *bytes,
		      unsigned int glance)
{
	struct only_stores w;

	b->takes |= glance & GLANCE_LOADS && b->known && in->size >= LOAD_SIZE &&
		b->impl->arch->loads(bytes, in, &w) &&
		stack_is_known(&b->stack, w.base) && b->stack.at[w.base] + w.number == 0;
}

/* What touches the stack, or goes elsewhere, or comes from there. */
__attribute__((noinline))
static bool pass_touching(struct back *b, const struct insn *in, const uint8_t *bytes, size_t left,
			  unsigned int glance)
{
	bool plain = in->kind == INSN_PLAIN, direct = in->dest && !plain;
	bool touches = glance & GLANCE_STACK;
	struct effect e;

	arrive(b, in->pc);
	if (plain && !touches) {
		note_load(b, in, bytes, glance);
		if (!b->copies)
			return b->may;
	}
	if (!b->known && (plain ? touches || b->copies : direct || in->kind == INSN_RETURN)) {
		find_stack(b, in->pc);
		note_change(b, in->pc);
	}
	if (plain && !keeps_away(b, in, bytes)) {
		b->impl->arch->effect(bytes, left, in, &e);
		pass_effect(b, in, &e);
		b->pushed |= e.pushes;
	}
	if (in->kind == INSN_RETURN ||
	    (in->kind == INSN_JUMP && !range_has(b->func, in->dest)))
		leave(b, in);
	else if (direct && in->kind != INSN_CALL && range_has(b->func, in->dest))
		note_way(b, in);
	if (in->kind == INSN_CALL && in->dest == in->pc + in->size)
		b->may = true;
	if (in->kind == INSN_CALL || in->kind == INSN_CALL_INDIRECT)
		b->called = in->pc + in->size;
	if (b->copies && (in->kind == INSN_CALL || in->kind == INSN_CALL_INDIRECT)) {
		b->impl->arch->effect(bytes, left, in, &e);
		pass_call(b, &e);
	}
	b->pushed &= plain;
	if (insn_ends(in)) {
		b->block = in->pc + in->size;
		b->known = false;
		b->copies = b->left;
	}
	return b->may;
}

bool back_pass(struct back *b, const struct insn *in, const uint8_t *bytes, size_t left,
	       unsigned int glance)
{
	/* What pads behind a function is none of it. */
	if (b->may || !range_has(b->func, in->pc))
		return false;
	if (in->kind == INSN_PLAIN && !(glance & GLANCE_STACK) && !b->copies &&
	    way_to(b, in->pc)->to != in->pc) {
		note_load(b, in, bytes, glance);
		return false;
	}
	return pass_touching(b, in, bytes, left, glance);
}
