/* SPDX-License-Identifier: MIT */
/*
 * judge: have the window and its stub done the same?
 *
 * The same are: where control went, or at which instruction it met which fault;
 * the general registers, status flags, vector and x87 registers; all memory,
 * but for what is below the stack pointer of a function that was left or called, and for the
 * bytes below that of a function which begins, as long as it has not written them itself; of a
 * place within a function the red zone has to stay.
 */
#include "tests/fuzz/case.h"

#include <stdio.h>
#include <string.h>

enum {
	XSAVE_OWN = 416, XSAVE_OWN_END = 512,	/* the kernel's words */
	NOWHERE = -1,
};

static bool is_call(const struct insn *in)
{
	return in->kind == INSN_CALL || in->kind == INSN_CALL_INDIRECT;
}

/* The instruction of the window at a PC of either run; NOWHERE: outside. */
static int insn_in_window(const struct fuzz_case *c, uint64_t pc)
{
	raddr_t a = world_address(c->world, pc);

	for (int i = 0; i < c->site->ninsns; i++)
		if (a == c->site->pc + c->site->insns[i])
			return i;
	return NOWHERE;
}

static bool is_in_stub(const struct fuzz_case *c, uint64_t pc)
{
	raddr_t a = world_address(c->world, pc);

	return a >= c->placed->stub && a < c->placed->stub + c->placed->stub_size;
}

/* Of the window's instructions, the one that is the place. */
static int place_index(const struct fuzz_case *c)
{
	int i = 0;

	while (i < c->site->ninsns && c->site->insns[i] != c->site->check)
		i++;
	return i;
}

/* Bytes of the recording call that stands before an instruction's copy. */
static raddr_t record_size(const struct fuzz_case *c, int i)
{
	size_t left;
	const uint8_t *p = symbols_text(c->world->symbols, c->insns[i].pc, &left);
	struct record_call call = {
		.routine = c->world->routines.exit,
		.returns = p && c->arch->returns(p, &c->insns[i]),
	};
	uint8_t code[ARCH_RECORD_MAX];

	bool marked = c->site->place && i == place_index(c);

	if (marked)
		call = (struct record_call){ .routine = c->world->routines.mark,
					     .below = c->arch->zone };
	return marked || (c->site->exits >> i & 1 && c->insns[i].kind != INSN_BRANCH) ?
		(raddr_t)c->arch->record(c->placed->stub, &call, code) : 0;
}

/* A relocated call is several instructions, the last of which may fault. */
static bool is_in_copy(const struct fuzz_case *c, int i, uint64_t pc)
{
	const struct placed_site *s = c->placed;
	raddr_t from = s->stub + s->stub_off[i] + record_size(c, i);
	raddr_t to = s->stub + (i + 1 < s->site.ninsns ? s->stub_off[i + 1] : s->stub_size);
	raddr_t a = world_address(c->world, pc);

	return is_call(&c->insns[i]) ? a >= from && a < to : a == from;
}

static const char *compare_ends(const struct fuzz_case *c, int i)
{
	const struct ending *a = &c->out[RUN_WINDOW].end, *b = &c->out[RUN_STUB].end;

	if (a->signal != b->signal)
		return "signal";
	if (a->address != b->address)
		return "address of the fault";
	if (i == NOWHERE)
		return a->pc == case_origin(c, b->pc) ? NULL : "where control went";
	return is_in_copy(c, i, b->pc) ? NULL : "which instruction met the fault";
}

static const char *compare_registers(const struct fuzz_case *c, enum run other, int i)
{
	const struct state *a = &c->out[RUN_WINDOW].state, *b = &c->out[other].state;

	for (int r = 0; r < REG_RIP; r++)
		/* A call that meets a fault has pushed already. */
		if (a->regs[r] != b->regs[r] &&
		    !(r == REG_RSP && i != NOWHERE && is_call(&c->insns[i])))
			return "a register";
	if ((a->regs[REG_EFL] ^ b->regs[REG_EFL]) & RUNNER_FLAGS)
		return "flags";
	if (a->fs != b->fs)
		return "fs";
	if (a->fp_size != b->fp_size || memcmp(a->fp, b->fp, XSAVE_OWN) ||
	    (a->fp_size > XSAVE_OWN_END &&
	     memcmp(a->fp + XSAVE_OWN_END, b->fp + XSAVE_OWN_END,
		    a->fp_size - XSAVE_OWN_END)))
		return "vector registers";
	return NULL;
}

/* No function's any more, or none's yet. */
static bool is_free(const struct fuzz_case *c, size_t at)
{
	const struct insn *last = &c->insns[c->site->ninsns - 1];
	uint64_t block = (uint64_t)(uintptr_t)c->world->block, address = block + at;
	uint64_t first = (uint64_t)c->begin.state.regs[REG_RSP];
	uint64_t end = (uint64_t)c->out[RUN_WINDOW].state.regs[REG_RSP];
	bool over = c->out[RUN_STUB].logs[1] || is_call(last);

	if (over && address < end && end - address <= 2 * WORLD_RED_ZONE)
		return true;
	if (c->site->place)	/* before it the window may pop */
		first = (c->site->check ? MAX(first, end) : first) - WORLD_RED_ZONE;
	return c->site->entry && address < first && first - address <= WORLD_RED_ZONE &&
	       c->out[RUN_WINDOW].block[at] == c->begin.block[at];
}

static const char *compare_memory(const struct fuzz_case *c, enum run other)
{
	const struct outcome *a = &c->out[RUN_WINDOW], *b = &c->out[other];

	if (memcmp(a->refs, b->refs, c->nrefs * WORLD_REF))
		return "memory that the PC leads to";
	if (!memcmp(a->block, b->block, WORLD_BLOCK))
		return NULL;
	for (size_t i = 0; i < WORLD_BLOCK; i++)
		if (a->block[i] != b->block[i] && !is_free(c, i))
			return "memory";
	return NULL;
}

static bool is_direct(const struct insn *in)
{
	return in->kind == INSN_JUMP || in->kind == INSN_BRANCH || in->kind == INSN_CALL;
}

/* Which records of an exit must there be, by where control went? -1: either. */
static int exits_expected(const struct fuzz_case *c)
{
	const struct site *s = c->site;
	raddr_t to = world_address(c->world, c->out[RUN_WINDOW].end.pc);
	bool end = to == s->pc + s->window, stays = end && !s->leaves, leaves = end && s->leaves;

	for (int i = 0; i < s->ninsns; i++) {
		const struct insn *in = &c->insns[i];
		bool here = is_direct(in) && in->dest == to;

		if (s->exits >> i & 1)
			leaves |= here || !is_direct(in);
		else
			stays |= here || in->kind == INSN_CALL_INDIRECT;
	}
	return stays && leaves ? -1 : leaves;
}

/* Does control come to the place, where it ends at instruction i? -1: it may. */
static int marks_expected(const struct fuzz_case *c, int i)
{
	int place = c->site->place ? place_index(c) : 0;
	bool ways = c->site->level;

	for (int k = 0; k < place; k++)
		ways |= c->insns[k].kind != INSN_PLAIN;
	if (!c->site->entry || !place)
		return c->site->entry;
	return ways ? -1 : i == NOWHERE || i >= place;
}

static const char *compare_records(const struct fuzz_case *c, int i)
{
	const uint64_t *logs = c->out[RUN_STUB].logs;
	int exits = exits_expected(c), marks = marks_expected(c, i);
	bool is = logs[0] || logs[2];

	if ((marks >= 0 && is != marks) ||
	    (logs[0] && logs[2]) || (is && !logs[c->probe->entry_only ? 2 : 0]))
		return "the entry's record";
	if (i == NOWHERE && exits >= 0 && exits != (logs[1] != 0))
		return exits ? "no record of the exit" : "a record of an exit";
	return NULL;
}

/* What the window does depends on what is below the pointer of a function that begins: no
 * function's bytes. */
static bool depends_on_nothing(const struct fuzz_case *c, int i)
{
	return c->out[RUN_WINDOW].end.pc != c->out[c->run].end.pc ||
	       compare_registers(c, c->run, i) || compare_memory(c, c->run);
}

/* A call through memory reads that first and then pushes; its copy does the reverse. Where
 * both fault, they do so at different addresses. */
static bool pushes_first(const struct fuzz_case *c, int i)
{
	const struct outcome *b = &c->out[RUN_STUB];

	return i != NOWHERE && c->insns[i].kind == INSN_CALL_INDIRECT &&
		is_in_stub(c, b->end.pc) &&
		!world_has_stack(c->world, (uint64_t)b->state.regs[REG_RSP]);
}

enum verdict case_judge(struct fuzz_case *c)
{
	const struct outcome *a = &c->out[RUN_WINDOW], *b = &c->out[RUN_STUB];
	int i = insn_in_window(c, a->end.pc);

	if (c->run >= RUN_AGAIN)
		return depends_on_nothing(c, i) ? VERDICT_NO_STACK : VERDICT_DIFFERENT;
	c->difference = NULL;
	if (a->end.signal == SIGALRM || b->end.signal == SIGALRM)
		return VERDICT_ENDLESS;
	if (is_in_stub(c, b->end.pc) && (i == NOWHERE || !is_in_copy(c, i, b->end.pc)) &&
	    !world_has_stack(c->world, (uint64_t)b->state.regs[REG_RSP]))
		return VERDICT_NO_STACK;
	c->difference = compare_ends(c, i);
	if (!c->difference)
		c->difference = compare_registers(c, RUN_STUB, i);
	if (!c->difference)
		c->difference = compare_memory(c, RUN_STUB);
	if (!c->difference)
		c->difference = compare_records(c, i);
	if (c->difference)
		return pushes_first(c, i) ? VERDICT_NO_STACK : VERDICT_DIFFERENT;
	return i == NOWHERE ? VERDICT_LEFT : VERDICT_FAULT;
}

static void print_bytes(const char *what, const uint8_t *p, size_t n)
{
	printf("  %s", what);
	for (size_t i = 0; i < n; i++)
		printf(" %02x", p[i]);
	printf("\n");
}

static void print_registers(const struct fuzz_case *c)
{
	static const char *const names[] = {
		"r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "rdi",
		"rsi", "rbp", "rbx", "rdx", "rax", "rcx", "rsp", "rip", "flags"
	};

	for (int r = 0; r <= REG_EFL; r++) {
		greg_t a = c->out[RUN_WINDOW].state.regs[r];
		greg_t b = c->out[RUN_STUB].state.regs[r];

		if (a != b)
			printf("  %s: %#llx before, %#llx or %#llx after\n", names[r],
			       c->begin.state.regs[r], a, b);
	}
}

void case_explain(const struct fuzz_case *c)
{
	const struct outcome *a = &c->out[RUN_WINDOW], *b = &c->out[RUN_STUB];
	const struct site *s = c->site;
	size_t left;

	printf("  %s; %s, %u bytes, stub at %#lx%s\n", c->difference,
	       tactic_word(s->tactic), s->window, (unsigned long)c->placed->stub,
	       s->place ? ", place" : s->entry ? ", entry" : "");
	print_bytes("window", symbols_text(c->world->symbols, s->pc, &left), s->window);
	print_bytes("stub  ", world_at(c->world, c->placed->stub), c->placed->stub_size);
	printf("  window: signal %d at %#lx, address %#lx\n", a->end.signal,
	       (unsigned long)world_address(c->world, a->end.pc), a->end.address);
	printf("  stub:   signal %d at %#lx, address %#lx\n", b->end.signal,
	       (unsigned long)world_address(c->world, b->end.pc), b->end.address);
	print_registers(c);
	for (size_t i = 0; i < WORLD_BLOCK; i++)
		if (a->block[i] != b->block[i])
			printf("  memory at rsp%+ld: %02x or %02x\n",
			       (long)((uint64_t)(uintptr_t)c->world->block + i -
				      (uint64_t)c->begin.state.regs[REG_RSP]),
			       a->block[i], b->block[i]);
}
