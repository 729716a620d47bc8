/* SPDX-License-Identifier: MIT */
/* runtime_go: where may a function of Go's be recorded, and what leads into it? */
#include "plan/impl.h"

static bool made(const struct symbols *syms, const struct func *f)
{
	return range_overlaps(syms->go, f->range);
}

/* Where g is: in what Go's compiler has made, and nowhere else. */
static void find_g(struct plan_impl *p)
{
	const struct symbols *syms = p->symbols;
	struct range go = syms->go;

	p->g = 0;
	for (size_t i = 0; i < syms->ntexts && p->arch->g_place && !p->g; i++) {
		struct range r = syms->texts[i].range;

		if (range_overlaps(r, go))
			p->g = p->arch->g_place(syms->texts[i].bytes +
						(MAX(r.start, go.start) - r.start),
						MIN(r.end, go.end) - MAX(r.start, go.start));
	}
}

/* What sets the thread pointer is entered without one, or with another thread's. */
static void find_ready(struct body *b)
{
	const struct arch *arch = b->impl->arch;
	size_t left;

	for (size_t i = 1; i < b->nsteps && arch->is_thread_call; i++) {
		const struct insn *in = &b->steps[i - 1].insn;
		const uint8_t *p = symbols_text(b->impl->symbols, in->pc, &left);

		if (b->steps[i].insn.kind == INSN_SYSCALL && p && arch->is_thread_call(p, in))
			b->ready = i + 1;
	}
}

/* The first function of a goroutine returns into goexit, behind its first byte, which
 * no other code enters: nothing else of Go's begins with a nop and a call. */
static size_t returned_into(const struct body *b)
{
	return b->nsteps > 1 && b->steps[0].insn.flags & INSN_NOP &&
		b->steps[1].insn.kind == INSN_CALL;
}

/*
 * A function of Go's that asks for room on its stack has what the recording takes
 * behind that, and behind its return. Others may be called with the last eight bytes
 * of a stack; and those that have to load g have it in its register no longer when
 * they return.
 */
static void find_check(struct body *b)
{
	const struct arch *arch = b->impl->arch;
	size_t left;
	const uint8_t *p = symbols_text(b->impl->symbols, b->func->range.start, &left);
	bool loads = false;
	int size = p && arch->stack_check ?
		arch->stack_check(p, MIN(left, range_size(b->func->range)), &loads) : 0;
	raddr_t end = b->func->range.start + (raddr_t)size;

	while (b->ncheck < b->nsteps && b->steps[b->ncheck].insn.pc < end)
		b->ncheck++;
	b->tight = !size || loads;
	if (b->entry || b->ncheck == b->nsteps || b->steps[b->ncheck].insn.pc != end ||
	    (b->tight && !b->impl->g))
		b->refusal = REFUSED_GO;
	b->entry = returned_into(b);
	find_ready(b);
}

/* Its functions are known, and not guessed. */
static bool is_listed(const struct symbols *syms)
{
	return syms->go.end != UINT64_MAX;
}

/*
 * In a program that is linked to one address any word of data may look like one. What
 * of Go's leads into the middle of a function is an entry of a jump table, which that
 * function alone reads: as such it is found (tables.c), or nothing relies on that. So
 * the others are numbers.
 */
static bool is_number(const struct plan_impl *p, raddr_t a)
{
	const struct symbols *syms = p->symbols;
	const struct func *f = !syms->is_pie && is_listed(syms) && range_has(syms->go, a) ?
		symbols_func_at(syms, a) : NULL;

	return f && f->range.start != a;
}

/* Where a function begins g is in its register, and always there. */
static bool begins_with_g(const struct body *b, size_t step, const uint8_t *bytes, size_t left)
{
	const struct arch *arch = b->impl->arch;

	return step == 0 && bytes && arch->reads_g && arch->reads_g(bytes, left);
}

/* A goroutine that was preempted has the address on its stack where it goes on. Not where the
 * runtime's tables say that none is preempted. */
static bool is_kept(const struct body *b, raddr_t pc)
{
	const struct symbols *syms = b->impl->symbols;
	size_t n = vec_prefix(syms->nunsafe, i, syms->unsafe[i].start <= pc);

	return !(n && range_has(syms->unsafe[n - 1], pc));
}

static bool may_lower(const struct choice *c)
{
	return c->may_pun;
}

const struct runtime runtime_go = {
	.name = "Go",
	.routines = ROUTINES_GO,
	.made = made,
	.open = find_g,
	.prepare = find_check,
	.is_number = is_number,
	.is_relative = is_listed,
	.all_live = true,
	.ends = true,
	.one_stack = true,
	.newer = true,
	.handles = UINT64_MAX,
	.is_sure = begins_with_g,
	.is_kept = is_kept,
	.no_zone = true,
	.no_padding = true,
	.no_traps = true,
	.may_lower = may_lower,
};
