/* SPDX-License-Identifier: MIT */
/*
 * compiled: what has the compiler left in a function for tracers?
 *
 * Room: nops at the entry (-fpatchable-function-entry, -mnop-mcount). A jump
 * there displaces nothing that matters; it stands behind the landing pad.
 *
 * Calls of a profiler (-pg, -mfentry). They are displaced like any call, and
 * still made, with the return address that the profiler looks up. One behind
 * the frame's set-up stays where it is unless the entry's jump needs its bytes:
 * recording is to begin with the stack pointer that the exits will see.
 *
 * Sleds (-fxray-instrument), which are not room. The program's own runtime
 * turns them on while threads run: first all bytes but two, which are not executed because the
 * first two jump over them or return, then those two at once. With a jump of ours there, a
 * thread would meet half of each. So a sled belongs to its runtime: an entry's window begins
 * behind it. An exit's ends before it, with the recording call as the last thing that its stub
 * does; jumps to it, or to the nop that aligns it, are exits like any others that leave the
 * function.
 */
#include <string.h>

#include "plan/impl.h"

enum {
	SLED_MAX = 64,		/* bytes; most have 11, those of events more */
	SLED_EXIT = 11,		/* a return and its nops; more of these are padding */
};

static bool is_profiler(const char *raw)
{
	static const char *const names[] = { "mcount", "_mcount", "__fentry__" };

	for (size_t i = 0; raw && i < ARRAY_SIZE(names); i++)
		if (!strcmp(raw, names[i]))
			return true;
	return false;
}

static bool calls_profiler(const struct body *b, const struct insn *in)
{
	const struct symbols *syms = b->impl->symbols;

	if (in->kind == INSN_CALL_INDIRECT && in->flags & INSN_SLOT)
		return is_profiler(symbols_slot(syms, in->ref));
	const struct func *f = in->kind == INSN_CALL ?
		symbols_func_at(syms, in->dest) : NULL;

	if (!f || f->range.start != in->dest)
		return false;
	for (uint32_t i = 0; i < f->naliases; i++)
		if (is_profiler(syms->aliases[f->alias + i].raw))
			return true;
	return is_profiler(f->raw);
}

/* Bytes of nops from step `first` on. */
static size_t nops_from(const struct body *b, size_t first)
{
	size_t n = 0;

	for (size_t i = first; i < b->nsteps && b->steps[i].piece == 0 &&
	     b->steps[i].insn.flags & INSN_NOP; i++)
		n += b->steps[i].insn.size;
	return n;
}

/* How many sleds begin at `at` or before. */
static size_t sleds_up_to(const struct symbols *syms, raddr_t at)
{
	return vec_prefix(syms->nsleds, i, syms->sleds[i] <= at);
}

static bool has_sled(const struct symbols *syms, raddr_t at)
{
	size_t n = sleds_up_to(syms, at);

	return n && syms->sleds[n - 1] == at;
}

/* The step behind the sled at step `i`; `i` if there is none. */
static size_t behind_sled(const struct body *b, size_t i)
{
	const struct insn *in = &b->steps[i].insn;
	size_t next = i;

	if (in->kind == INSN_JUMP && has_sled(b->impl->symbols, in->pc) &&
	    in->dest - in->pc <= SLED_MAX)
		while (next < b->nsteps && b->steps[next].insn.pc != in->dest)
			next++;
	return next < b->nsteps && b->steps[next].piece == 0 ? next : i;
}

size_t compiled_entry(const struct body *b)
{
	const struct arch *arch = b->impl->arch;
	bool pad = b->steps[0].insn.flags & INSN_LANDING && b->nsteps > 1;
	size_t first = behind_sled(b, pad);

	if (first > pad || nops_from(b, first) >= arch->jump_size ||
	    calls_profiler(b, &b->steps[first].insn))
		return first;
	return pad && arch->keeps_landing;
}

bool compiled_is_site(const struct body *b, const struct window *w)
{
	return w->first == compiled_entry(b) &&
		(nops_from(b, w->first) >= b->impl->arch->jump_size ||
		 calls_profiler(b, &b->steps[w->last].insn));
}

bool compiled_is_sled(const struct body *b, size_t step)
{
	return has_sled(b->impl->symbols, b->steps[step].insn.pc);
}

/* Sleds begin at even addresses, and a nop of one byte makes them so. */
static bool aligns(const struct body *b, const struct insn *in)
{
	return in->size == 1 && in->flags & INSN_NOP &&
		in->pc != b->steps[compiled_entry(b)].insn.pc &&
		has_sled(b->impl->symbols, in->pc + 1);
}

size_t compiled_sled_begin(const struct body *b, size_t exit)
{
	const struct insn *before = exit ? &b->steps[exit - 1].insn : NULL;

	return before && before->pc + 1 == b->steps[exit].insn.pc && aligns(b, before) &&
		ground_any(b->impl, LAYER_TARGET, before->pc, 1) ? exit - 1 : exit;
}

static bool insn_at(const struct plan_impl *p, raddr_t at, struct insn *ret)
{
	size_t left;
	const uint8_t *bytes = symbols_text(p->symbols, at, &left);

	return bytes && !p->arch->measure(bytes, left, at, ret);
}

/* One nop: a file that lies may call each of a million a sled. */
bool compiled_is_exit(const struct body *b, raddr_t at)
{
	const struct plan_impl *p = b->impl;
	struct insn in = { 0 };

	if (!p->symbols->nsleds || !insn_at(p, at, &in) ||
	    (aligns(b, &in) && !insn_at(p, ++at, &in)))
		return false;
	return in.kind == INSN_RETURN && has_sled(p->symbols, at);
}

/* Where the sled at `at` ends: where its jump leads, or behind the nops that
 * follow its return. */
static raddr_t sled_end(const struct arch *arch, const struct symbols *syms, raddr_t at)
{
	struct insn in = { .pc = at };
	raddr_t end = at;
	size_t left;

	do {
		const uint8_t *bytes = symbols_text(syms, end, &left);

		if (!bytes || arch->measure(bytes, left, end, &in))
			return MAX(end, at + 1);
		if (end == at && in.kind == INSN_JUMP && in.dest > at &&
		    in.dest - at <= SLED_MAX)
			return in.dest;
		if (end != at && !(in.flags & INSN_NOP))
			return end;
		end += in.size;
	} while (end - at < SLED_EXIT);
	return end;
}

void compiled_keep_sleds(struct plan_impl *p)
{
	const struct symbols *syms = p->symbols;

	for (size_t i = 0; i < syms->nsleds; i++)
		ground_take(p, syms->sleds[i],
			   sled_end(p->arch, syms, syms->sleds[i]) - syms->sleds[i]);
}

bool plan_in_sled(const struct arch *arch, const struct symbols *syms, raddr_t a)
{
	size_t n = sleds_up_to(syms, a);

	return n && a < sled_end(arch, syms, syms->sleds[n - 1]);
}
