/* SPDX-License-Identifier: MIT */
/*
 * place: which bytes are in the stub of a site, and where in it does a thread
 * go on that stood in the window?
 *
 * A stub is, instruction by instruction, the window: before the first the
 * recording call of the entry (behind those that ask for room on the stack, if any
 * do), before each exit that of the exit. Whatever
 * control does in the window it does in the stub; and a jump of the function
 * to itself that leads inside a window, or back to the entry, leads to the same
 * instruction's copy in that window's stub.
 */
#include <errno.h>
#include <string.h>

#include "payload/abi.h"
#include "payload/stub.h"
#include "plan/impl.h"
#include "plan/placement.h"

/* A stub under construction. Once something went wrong the rest is a no-op. */
struct stub {
	const struct arch *arch;
	raddr_t at;		/* address of bytes[0] */
	uint8_t *bytes;
	size_t used, cap;
	struct stub_note *note;	/* NULL: none is wanted */
	size_t nrows;		/* of it, so far */
	size_t told;		/* bytes that these are about */
	int err;
};

static raddr_t stub_next(const struct stub *s)
{
	return s->at + s->used;
}

/* Take over `n` bytes made by the arch, or its error. */
static void stub_add(struct stub *s, const uint8_t *bytes, int n)
{
	if (s->err)
		return;
	if (n < 0)
		s->err = n;
	else if ((size_t)n > s->cap - s->used)
		s->err = -ENOSPC;
	if (s->err)
		return;
	memcpy(s->bytes + s->used, bytes, n);
	s->used += n;
}

/* What was added since the last row stands for so many bytes of the window. */
static void add_row(struct stub *s, enum stub_part part, size_t window)
{
	struct stub_row row = { s->used - s->told, part, window };

	if (!s->note || s->err)
		return;
	if (s->nrows == s->note->nrows || row.bytes != s->used - s->told || row.window != window)
		s->err = -ERANGE;
	else
		s->note->rows[s->nrows++] = row;
	s->told = s->used;
}

static void add_call(struct stub *s, uint64_t word, raddr_t routine, enum stub_part part,
		     const struct placed_probe *p, const struct routines *to)
{
	const struct probe *planned = p->planned;
	bool tight = planned->routines == ROUTINES_TIGHT;
	uint8_t code[ARCH_TIGHT_MAX];
	struct record_call call = {
		.word = word | to->word | (uint64_t)p->id << REC_FUNC_SHIFT, .routine = routine,
		.gate = to->gates + p->id, .returns = part == STUB_RECORD_RETURN,
		.below = part == STUB_RECORD_BELOW ? s->arch->zone : 0,
		.first = tight ? to->first : 0, .spills = to->spills, .g = planned->g,
	};

	stub_add(s, code, s->arch->record(stub_next(s), &call, code));
	add_row(s, tight ? STUB_TIGHT : part, 0);
}

/* An unwinder's question is the payload's first. */
static void add_find(struct stub *s, const struct routines *to)
{
	uint8_t code[ARCH_JUMP_MAX];

	stub_add(s, code, s->arch->call(stub_next(s), to->find, code));
	add_row(s, STUB_COPY, 0);
}

/* `in` is the instruction that leaves; NULL: control runs on into what follows the function. */
static void add_exit(struct stub *s, const struct insn *in, const struct placed_probe *p,
		     const struct routines *to)
{
	bool returns = in && in->kind == INSN_RETURN;

	add_call(s, REC_EXIT | (returns ? 0 : to->tail_word),
		 returns || !to->tail ? to->exit : to->tail, STUB_RECORD_LEAVE, p, to);
}

/* The same before a copy of the exit itself, which the routine may do for it. */
static void add_exit_by(struct stub *s, const uint8_t *p, const struct insn *in,
			const struct placed_probe *probe, const struct routines *to)
{
	if (to->leave && s->arch->returns && s->arch->returns(p, in))
		add_call(s, REC_EXIT, to->leave, STUB_RECORD_RETURN, probe, to);
	else
		add_exit(s, in, probe, to);
}

static void add_jump(struct stub *s, raddr_t to)
{
	uint8_t code[ARCH_JUMP_MAX];

	stub_add(s, code, s->arch->jump(stub_next(s), to, code));
}

static void add_relocated(struct stub *s, const uint8_t *p, const struct insn *in,
			  bool exit)
{
	bool calls = in->kind == INSN_CALL || in->kind == INSN_CALL_INDIRECT;
	uint8_t code[ARCH_RELOCATED_MAX];

	stub_add(s, code, s->arch->relocate(p, in, stub_next(s), code, sizeof(code)));
	add_row(s, exit ? STUB_LEAVE : calls ? STUB_CALL : STUB_COPY, in->size);
}

/*
 * A conditional tail jump is an exit only when it is taken:
 *
 *	skip unless the condition holds
 *	record the exit
 *	jump dest
 */
static void add_branch_exit(struct stub *s, const uint8_t *p, const struct insn *in,
			    const struct placed_probe *probe, const struct routines *to)
{
	uint8_t skip[ARCH_RELOCATED_MAX] = { 0 };
	size_t from = s->used;
	int size = s->arch->skip_unless(p, in, 0, skip);

	stub_add(s, skip, size);
	add_row(s, STUB_COPY, 0);
	add_exit(s, in, probe, to);
	add_jump(s, in->dest);
	add_row(s, STUB_LEAVE, in->size);
	if (s->err)
		return;
	size_t distance = s->used - from - (size_t)size;

	/* Now that the distance is known, over the skip that has none. */
	if (s->arch->skip_unless(p, in, distance, skip) != size)
		s->err = -ERANGE;
	else
		memcpy(s->bytes + from, skip, size);
}

static bool comes_back(const struct insn *in)
{
	/* A handler may go on behind a stop. A relocated call returns behind the
	 * window. */
	return (!insn_ends(in) || in->kind == INSN_STOP) && in->kind != INSN_CALL &&
	       in->kind != INSN_CALL_INDIRECT;
}

/* Of the instruction at `a` the copy in this site's stub, 0 if it is none of
 * the site's. */
static raddr_t copy_of(const struct placed_site *s, raddr_t a)
{
	for (size_t i = 0; i < s->site.ninsns; i++)
		if (s->site.pc + s->site.insns[i] == a)
			return s->stub + s->stub_off[i];
	return 0;
}

/* Where a displaced jump of the function to `dest` in itself leads. At a site
 * that is no entry its own jump is a good place to arrive. */
static raddr_t landing(const struct placed_probe *p, raddr_t dest)
{
	raddr_t to = 0;

	for (size_t i = 0; i < p->nsites && !to; i++) {
		const struct site *s = &p->sites[i].site;
		bool in_front = s->entry && !s->place && dest >= p->planned->func->range.start &&
			dest <= s->pc;

		if (in_front)	/* of it only a landing pad, that does nothing */
			to = copy_of(&p->sites[i], s->pc);
		else if (s->level && dest != s->pc)
			to = copy_of(&p->sites[i], dest);
	}
	return to ? to : dest;
}

/* Instruction `i` of the window; *ret is the instruction. */
static void add_insn(struct stub *s, const struct placed_probe *probe,
		     struct placed_site *placed, const uint8_t *window,
		     const struct routines *to, size_t i, struct insn *ret)
{
	const struct site *site = &placed->site;
	bool exit = site->exits >> i & 1;
	uint8_t off = site->insns[i];
	const uint8_t *p = window + off;

	if (s->arch->decode(p, site->window - off, site->pc + off, ret))
		s->err = -EILSEQ;
	if (s->err)
		return;
	placed->stub_off[i] = s->used;
	if (probe->planned->linked && (ret->kind == INSN_JUMP || ret->kind == INSN_BRANCH))
		ret->dest = landing(probe, ret->dest);
	if (exit && ret->kind == INSN_BRANCH) {
		add_branch_exit(s, p, ret, probe, to);
		return;
	}
	if (exit)
		add_exit_by(s, p, ret, probe, to);
	add_relocated(s, p, ret, exit);
}

/* A mark is paired with nothing, and may be made on any part of the stack. */
static void add_entry(struct stub *s, const struct placed_probe *probe, const struct site *site,
		      const struct routines *to)
{
	size_t zone = site->place ? s->arch->zone : 0;
	uint64_t late = (site->lowered + zone) / 8u | to->late_word;
	uint64_t mark = to->marks_late ? late << REC_LATE_SHIFT : 0;

	if (probe->silent) {
		if (probe->guards)
			add_call(s, REC_EXT, to->entry, STUB_RECORD, probe, to);
		return;
	}
	if (site->place) {
		mark |= (REC_PLACE | (probe->planned->framed ? (uint64_t)REC_FRAMED : 0) |
			 (probe->timed ? (uint64_t)REC_SPAN : 0)) << REC_TIME_SHIFT;
		add_call(s, REC_NONE | mark, to->mark,
			 zone ? STUB_RECORD_BELOW : STUB_RECORD, probe, to);
		return;
	}
	if (site->lowered && !probe->entry_only)
		add_call(s, REC_ENTRY | late << REC_LATE_SHIFT, to->late, STUB_RECORD, probe, to);
	else if (probe->entry_only)
		add_call(s, REC_NONE | mark, to->mark, STUB_RECORD, probe, to);
	else
		add_call(s, REC_ENTRY, to->entry, STUB_RECORD, probe, to);
}

static int expect(int made, int len)
{
	return made < 0 ? made : made == len ? 0 : -ERANGE;
}

int plan_patches(const struct arch *arch, struct placed_site *placed)
{
	const struct site *s = &placed->site;
	raddr_t to = placed->island ? placed->island : placed->stub;
	int err;

	if (s->tactic == TACTIC_TRAP) {
		memcpy(placed->new_jump, arch->trap, arch->trap_size);
		return 0;
	}
	if (s->tactic == TACTIC_PUN)
		return !placed->island ? 0 :
			expect(arch->pun(s->pc, placed->prefix, to, placed->new_jump),
			       s->jump.len + s->kept);
	if (s->tactic != TACTIC_SHORT)
		return expect(arch->jump(s->pc, to, placed->new_jump), s->jump.len);
	err = expect(arch->jump(s->hole.pc, placed->stub, placed->new_hole), s->hole.len);
	if (err)
		return err;
	return expect(arch->jump_short(s->pc, s->hole.pc, placed->new_jump), s->jump.len);
}

static int place_stub(const struct arch *arch, const struct placed_probe *probe,
		      struct placed_site *placed, const uint8_t *window_bytes,
		      const struct routines *to, struct stub *s)
{
	const struct site *site = &placed->site;
	struct insn in = { 0 };

	if (probe->id >= 1u << REC_FUNC_BITS || site->ninsns > SITE_INSNS)
		return -ERANGE;
	if (site->entry && probe->finds)
		add_find(s, to);
	for (size_t i = 0; i < site->ninsns && !s->err; i++) {
		size_t before = s->used;

		if (site->entry && site->insns[i] == site->check)
			add_entry(s, probe, site, to);
		add_insn(s, probe, placed, window_bytes, to, i, &in);
		/* What is led to a place comes there. */
		if (site->place)
			placed->stub_off[i] = before;
	}
	if (site->entry && site->window == site->check)
		add_entry(s, probe, site, to);
	if (!s->err && site->leaves)
		add_exit(s, NULL, probe, to);
	if (!s->err && comes_back(&in))
		add_jump(s, site->pc + site->window + site->dead);
	if (s->err)
		return s->err == -ENOSPC ? -ERANGE : s->err;
	placed->stub_size = s->used;
	return plan_patches(arch, placed);
}

int plan_place(const struct arch *arch, const struct placed_probe *probe,
	       struct placed_site *placed, const uint8_t *window_bytes, const struct routines *to,
	       uint8_t *out, size_t cap)
{
	struct stub s = { .arch = arch, .at = placed->stub, .bytes = out, .cap = cap };

	return place_stub(arch, probe, placed, window_bytes, to, &s);
}

/* At most; what is left stands for nothing. A conditional exit has a row more. */
static size_t rows_bound(const struct placed_probe *probe, const struct site *site)
{
	return site->ninsns + 2u * site->nexits + (site->entry ? 1u + probe->finds : 0);
}

size_t plan_note_size(const struct placed_probe *probe, const struct placed_site *placed)
{
	return stub_note_size(rows_bound(probe, &placed->site));
}

int plan_place_noted(const struct arch *arch, const struct placed_probe *probe,
		     struct placed_site *placed, const uint8_t *window_bytes,
		     const struct routines *to, uint8_t *out, size_t cap)
{
	size_t size = plan_note_size(probe, placed);
	struct stub_note *note = (struct stub_note *)out;
	struct stub s = { .arch = arch, .at = placed->stub, .bytes = out + size,
			  .cap = cap < size ? 0 : cap - size, .note = note };
	int64_t back = (int64_t)(placed->site.pc - (placed->stub - size));
	size_t blocks;

	if (cap < size || back != (int32_t)back)
		return -ERANGE;
	memset(out, 0, size);
	*note = (struct stub_note){ .site = (int32_t)back,
				    .nrows = rows_bound(probe, &placed->site) };
	int err = place_stub(arch, probe, placed, window_bytes, to, &s);

	blocks = (size + s.used + STUB_ALIGN - 1) / STUB_ALIGN;
	note->blocks = blocks;
	return err ? err : note->blocks == blocks ? 0 : -ERANGE;
}

int plan_island(const struct arch *arch, const struct placed_site *s, uint8_t *out)
{
	return arch->jump(s->island, s->stub, out);
}

uint16_t place_bound(const struct body *b, const struct window *w,
		     const struct site *site)
{
	size_t record = b->tight ? ARCH_TIGHT_MAX : ARCH_RECORD_MAX;
	size_t n = ARCH_JUMP_MAX + (site->entry ? record : 0) + (site->leaves ? record : 0);

	for (size_t i = w->first; i <= w->last; i++) {
		const struct step *s = &b->steps[i];
		bool copied = s->insn.kind == INSN_PLAIN || s->insn.kind == INSN_RETURN;

		n += copied && !(s->insn.flags & INSN_PCREL) ? s->insn.size :
			ARCH_RELOCATED_MAX;
		if (site->exits >> (i - w->first) & 1)
			n += record;
		if (s->exit && s->insn.kind == INSN_BRANCH)
			n += ARCH_JUMP_MAX;
	}
	return n;
}

static raddr_t forward_in_window(const struct placed_site *s, raddr_t pc, int *err)
{
	raddr_t to = copy_of(s, pc);

	if (!to)
		*err = -EILSEQ;
	return to;
}

raddr_t plan_forward(const struct placed_site *placed, raddr_t pc, int *err)
{
	const struct site *s = &placed->site;
	struct range hole = { s->hole.pc, s->hole.pc + s->hole.len };

	*err = 0;
	if (pc > s->pc && pc < s->pc + s->window + s->dead)
		return forward_in_window(placed, pc, err);
	if (!range_has(hole, pc))
		return 0;
	if (pc == hole.start)
		return placed->stub;
	*err = -EILSEQ;
	return 0;
}
