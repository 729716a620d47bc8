/* SPDX-License-Identifier: MIT */
/*
 * later: which instructions may an entry be recorded behind, and what do they tell?
 *
 * What has to stay where it is is passed. A thread that enters has to come past the place that
 * is recorded, and once: so what is passed is left nowhere but there, and no jump leads back to
 * it, or into it. That is so of straight code, and of what branches and loops within itself.
 */
#include "plan/impl.h"

enum { BACK = 32 };		/* instructions that are looked through for a reach */

static const uint8_t *bytes_of(const struct body *b, size_t i)
{
	size_t left;

	return symbols_text(b->impl->symbols, b->steps[i].insn.pc, &left);
}

static bool is_direct(const struct insn *in)
{
	return in->kind == INSN_JUMP || in->kind == INSN_BRANCH;
}

/* By how many bytes does this step lower the stack pointer? -1: not known, or it may not be
 * passed. */
static int lowers(const struct body *b, size_t i)
{
	const struct insn *in = &b->steps[i].insn;
	const uint8_t *bytes = bytes_of(b, i);

	if (is_direct(in) || (in->kind == INSN_SYSCALL && i < b->ready))
		return 0;
	return bytes ? b->impl->arch->lowers_stack(bytes, in, !b->runtime->no_zone) : -1;
}

/* Do jumps between what is passed and the rest lead to where `end` begins only, and
 * from there nowhere back? Both ends of what is passed are in it. */
static bool is_apart(const struct body *b, size_t end)
{
	struct range passed = { b->pieces[0].start, b->steps[end].insn.pc + 1 };

	for (size_t i = 0; i < b->nlinks; i++)
		if (range_has(passed, b->links[i].to) != (b->links[i].step < end))
			return false;
	return true;
}

/* Does a thread that enters come to this step, past all before it, and once? */
static bool is_passed_once(const struct body *b, size_t end)
{
	bool alone = true, known = true;

	for (size_t i = 1; i <= end; i++) {
		raddr_t pc = b->steps[i].insn.pc;
		bool word = body_has_word_to(b, i, true);
		bool target = word || ground_leads_to(b->impl, LAYER_TARGET, &b->steps[i].insn);

		alone &= !target && !is_direct(&b->steps[i - 1].insn);
		known &= !target || (!word && b->links && redirect_covers(b, pc));
	}
	return (alone && !b->loops) || (known && b->links && !b->open && is_apart(b, end));
}

/* Is a register in use there that the stub takes? */
static bool needs_spared(const struct body *b, size_t i)
{
	const struct arch *arch = b->impl->arch;
	size_t left;
	const uint8_t *p = symbols_text(b->impl->symbols, b->steps[i].insn.pc, &left);

	return arch->needs_spared && (!p || arch->needs_spared(p, left));
}

size_t later_step(struct body *b, size_t most, size_t *lowered)
{
	size_t first = b->entry;

	if (b->ncheck || b->unsure || !b->impl->arch->lowers_stack)
		return 0;
	for (size_t i = first; i < most && i + 1 < b->nsteps &&
	     b->steps[i + 1].piece == b->steps[i].piece; i++) {
		int n = lowers(b, i);
		bool straight = i == first && !is_direct(&b->steps[i].insn);

		/* On one of several ways it would be lower than on another. */
		if (n < 0 || (n && !straight))
			return 0;
		*lowered = (size_t)n;
		if (b->tight && needs_spared(b, i + 1))
			continue;
		if (is_passed_once(b, i + 1) && !exclusive_is_parted(b, i + 1))
			return i + 1;
		if (n)
			return 0;
	}
	return 0;
}

/* Is all that leads into what is behind `from`, up to `to`, in there itself? */
static bool is_entered_by(const struct body *b, size_t from, size_t to)
{
	raddr_t start = b->steps[from].insn.pc, last = b->steps[to].insn.pc;

	for (size_t i = from + 1; i <= to; i++)
		if (body_has_word_to(b, i, true))
			return false;

	if (!ground_any(b->impl, LAYER_TARGET, start + 1, last - start))
		return true;
	if (!b->links || b->open || b->unsure)
		return false;
	for (size_t i = redirect_link(b, start + 1);
	     i < b->nlinks && b->links[i].to <= last; i++)
		if (b->links[i].step < from || b->links[i].step >= to)
			return false;
	for (raddr_t a = start + 1; a <= last; a++)
		if (ground_any(b->impl, LAYER_TARGET, a, 1) && !redirect_covers(b, a))
			return false;
	return true;
}

/*
 * Where a runtime handles faults, what a pointer leads to is there, or the pointer is nil. So
 * code that has come past an instruction that reaches memory by a register, and still has that,
 * can reach it again.
 */
bool later_is_reached(const struct body *b, size_t step)
{
	const struct arch *arch = b->impl->arch;
	const uint8_t *bytes = bytes_of(b, step);
	int by = bytes && arch->reaches ? arch->reaches(bytes, &b->steps[step].insn) : -1;

	for (size_t i = step; by >= 0 && i-- > 0 && step - i <= BACK &&
	     b->steps[i].piece == b->steps[step].piece; ) {
		const struct insn *in = &b->steps[i].insn;

		bytes = bytes_of(b, i);
		if (!bytes || !(is_direct(in) || arch->keeps(bytes, in, by)))
			return false;
		if (arch->reaches(bytes, in) == by && is_entered_by(b, i, step))
			return true;
	}
	return false;
}
