/* SPDX-License-Identifier: MIT */
/* runtime_go: where may a function of Go's be recorded, and what leads into it? */
#include <string.h>

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

/* Are the registers free that a stub takes where hardly any stack is left? Not where a function
 * stores one that it has not set, for that is what its caller had in it; and where one jumps by
 * such a register it is no exit that can be recorded. */
static bool spares(struct body *b)
{
	const struct arch *arch = b->impl->arch;
	size_t left;
	bool set = false;

	for (size_t i = 0; i < b->nsteps && arch->spared; i++) {
		const uint8_t *p = symbols_text(b->impl->symbols, b->steps[i].insn.pc, &left);
		enum spared does = p ? arch->spared(p, &b->steps[i].insn) : SPARED_KEPT;

		set |= does == SPARED_SET;
		if (does == SPARED_KEPT && !set)
			return false;
		if (does == SPARED_GONE_BY && b->steps[i].insn.kind == INSN_JUMP_INDIRECT)
			body_doubt(b, REFUSED_LITTLE_STACK);
	}
	return true;
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
	    (b->tight && (!b->impl->g || !spares(b))))
		b->refusal = REFUSED_LITTLE_STACK;
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
 * the others are numbers, and so is what leads to what pads between its functions.
 */
static bool is_number(const struct plan_impl *p, raddr_t a)
{
	const struct symbols *syms = p->symbols;
	size_t left;

	if (syms->is_pie || !is_listed(syms) || !range_has(syms->go, a))
		return false;
	const struct func *f = symbols_func_at(syms, a);
	const uint8_t *bytes = symbols_text(syms, a, &left);

	return f ? f->range.start != a : bytes && p->arch->is_padding(bytes, 1);
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

/* Padding belongs to the function before it, as the runtime sees it, and what its tables say of
 * that is nothing: a thread that is interrupted there, to be preempted or for a profile, ends the
 * program. */
static bool has_padding(const struct symbols *syms, struct range r)
{
	return range_overlaps(r, syms->go);
}

static const struct reserved list[] = {
	/* As __restore_rt: the kernel "returns" here from a signal handler. */
	{ "runtime.sigreturn*", ANYWHERE, REFUSED_RESERVED },
	/* Their callers keep the frame pointer right below their return address. */
	{ "runtime.duffzero", ANYWHERE, REFUSED_RESERVED },
	{ "runtime.duffcopy", ANYWHERE, REFUSED_RESERVED },

	/* They leave for another stack, or another place on it, and what they were
	 * called by goes on by itself. */
	{ "runtime.gogo", ANYWHERE, REFUSED_LEFT_OTHERWISE },
	{ "gogo", OWN, REFUSED_LEFT_OTHERWISE },
	{ "runtime.mcall", ANYWHERE, REFUSED_LEFT_OTHERWISE },
	{ "runtime.morestack*", ANYWHERE, REFUSED_LEFT_OTHERWISE },
	{ "runtime.jmpdefer", ANYWHERE, REFUSED_LEFT_OTHERWISE },
	/* They do not return, and what they are called by is over by then: see
	 * `enders`. */
	{ "runtime.goexit", ANYWHERE, REFUSED_LEFT_OTHERWISE },
	{ "runtime.goexit1", ANYWHERE, REFUSED_LEFT_OTHERWISE },
	{ "runtime.exitThread", ANYWHERE, REFUSED_LEFT_OTHERWISE },
	/* Two processes return, or two threads, with the same stack at first. */
	{ "runtime.clone", ANYWHERE, REFUSED_LEFT_OTHERWISE },
	{ "syscall.rawVforkSyscall", ANYWHERE, REFUSED_LEFT_OTHERWISE },
	/* The runtime lets go of a thread that C made, which has no g from then
	 * on: no stack is in %r14 where it returns. Others give it one, or
	 * another one. */
	{ "runtime.dropm", ANYWHERE, REFUSED_LEFT_OTHERWISE },
	{ "runtime.needm", ANYWHERE, REFUSED_LEFT_OTHERWISE },
	{ "runtime.setg", ANYWHERE, REFUSED_LEFT_OTHERWISE },
	{ "setg_gcc", ANYWHERE, REFUSED_LEFT_OTHERWISE },
	{ "runtime.setg_gcc", ANYWHERE, REFUSED_LEFT_OTHERWISE },
	{ .glob = NULL },
};

/* Their goroutine ends, or the thread whose own stack it is. */
static const char *const enders[] = { "runtime.goexit1", "runtime.exitThread", NULL };

/* They call runtime.gogo, by way of each other, and none of them returns. */
static const char *const goers[] = {
	"runtime.execute", "runtime.schedule", "runtime.park_m", "runtime.gosched_m",
	"runtime.goschedImpl", "runtime.goschedguarded_m", "runtime.gopreempt_m",
	"runtime.goyield_m", "runtime.preemptPark", "runtime.goexit0", "runtime.gdestroy",
	"runtime.exitsyscall0", "runtime.exitsyscallNoP", "runtime.coroswitch_m",
	"runtime.newstack", "runtime.recovery", "runtime.mstart1", NULL,
};

static bool is_among(const char *name, const char *const *names)
{
	while (*names && strcmp(*names, name))
		names++;
	return *names;
}

static enum plan_ending ending(const char *name)
{
	return is_among(name, enders) ? ENDING_STACK : is_among(name, goers) ? ENDING_LEFT :
		!strcmp(name, "runtime.gogo") ? ENDING_LEAVES : ENDING_NONE;
}

const struct runtime runtime_go = {
	.name = "Go",
	.routines = ROUTINES_MOVED,
	.made = made,
	.open = find_g,
	.prepare = find_check,
	.reserved = list,
	.suffix = ".abi0",
	.ending = ending,
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
	.has_padding = has_padding,
	.no_traps = true,
	.may_lower = may_lower,
};
