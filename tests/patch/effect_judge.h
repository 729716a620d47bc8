/* SPDX-License-Identifier: MIT */
/* effect_judge: is what arch->effect claims of an instruction what it has done? */
#ifndef TESTS_PATCH_EFFECT_JUDGE_H
#define TESTS_PATCH_EFFECT_JUDGE_H

#include "tests/patch/effect_trial.h"

static inline bool is_claimed(const struct effect *e, int reg)
{
	return (e->op != EFFECT_KEEP && e->reg == reg) || e->others >> reg & 1 ||
		(e->op == EFFECT_SWAP && e->base == reg) ||
		(reg == RSP && (e->pushes || e->pops || e->op == EFFECT_POP));
}

static inline void judge_registers(const struct trial *t)
{
	const struct effect *e = &t->e;
	uint64_t lower = t->before.gpr[RSP] - t->after.gpr[RSP];
	bool told = e->others >> RSP & 1 || e->reg == RSP ||
		(e->op == EFFECT_SWAP && e->base == RSP);

	for (int i = 0; i < GPRS; i++)
		if (t->before.gpr[i] != t->after.gpr[i] && !is_claimed(e, i))
			wrong(t, "a register changes");
	if (!told && lower != (e->pushes ? 8 : e->pops || e->op == EFFECT_POP ? -8ull : 0))
		wrong(t, "the stack pointer moves otherwise");
}

/* What other parts of arch say of registers, by rules of their own. */
static inline void judge_others(const struct trial *t)
{
	int lower = arch_x86_64.lowers_stack(t->bytes, &t->in, false);

	for (int i = 0; i < GPRS; i++)
		if (t->before.gpr[i] != t->after.gpr[i] &&
		    arch_x86_64.keeps(t->bytes, &t->in, i))
			wrong(t, "a register is not kept");
	if (lower >= 0 && t->before.gpr[RSP] - t->after.gpr[RSP] != (uint64_t)lower)
		wrong(t, "the stack pointer is not so much lower");
}

/* What is told by a look at its bytes is what its effect tells. */
static inline void judge_only_stores(const struct trial *t)
{
	const struct effect *e = &t->e;
	struct only_stores w;

	if (t->in.kind != INSN_PLAIN || !arch_x86_64.only_stores(t->bytes, &t->in, &w))
		return;
	if (e->op != EFFECT_KEEP || e->reg >= 0 || e->others || e->pushes || e->pops || e->leaves)
		wrong(t, "it does more than to store");
	if (w.base < 0 ? e->stores : !e->stores || !e->memory || e->thread || e->index >= 0 ||
	    e->base != w.base || e->number != w.number || !e->width || e->width > w.most)
		wrong(t, "it stores elsewhere");
}

/* So is whether it may write to the stack, or change where that is, or its frame. */
static inline void judge_of_stack(const struct trial *t)
{
	const struct effect *e = &t->e;
	uint32_t sets = e->others | (e->reg >= 0 ? 1u << e->reg : 0);
	bool stores = e->stores && e->memory && !e->thread && arch_is_stack(&arch_x86_64, e->base);

	if (t->in.kind == INSN_PLAIN && !e->forbidden &&
	    (e->pushes || e->pops || e->op == EFFECT_POP || stores ||
	     sets & (1u << arch_x86_64.stack | 1u << arch_x86_64.frame)) &&
	    !(arch_x86_64.glance(t->bytes, &t->in) & GLANCE_STACK))
		wrong(t, "it is of the stack, which is not told");
}

/* So is whether a register may get what another one holds. */
static inline void judge_copies(const struct trial *t)
{
	const struct effect *e = &t->e;
	bool moves = e->op == EFFECT_MOVE || e->op == EFFECT_MAY_MOVE || e->op == EFFECT_SUM;
	bool of = (e->base >= 0 && e->base != e->reg) || (e->index >= 0 && e->index != e->reg);

	if (((moves && of && !e->cut) || e->op == EFFECT_SWAP) && t->in.kind == INSN_PLAIN &&
	    !(arch_x86_64.glance(t->bytes, &t->in) & GLANCE_COPIES))
		wrong(t, "a copy is not told");
}

/* ---- values ---------------------------------------------------------------- */

/* The sum that is claimed. */
static inline raddr_t claimed_sum(const struct trial *t)
{
	const struct effect *e = &t->e;
	raddr_t at = (raddr_t)e->number;

	if (e->base >= 0)
		at += t->before.gpr[e->base];
	return at + (e->index >= 0 ? t->before.gpr[e->index] * e->scale : 0);
}

/* movs and stos: a segment's prefix is of what they read. */
static inline bool writes_string(const struct trial *t)
{
	return is_legacy(t, X86_MAP_ONE) &&
		((t->f.op & 0xfe) == 0xa4 || (t->f.op & 0xfe) == 0xaa);
}

/* Is it said where its memory is? There: a pop has moved the stack pointer before it is
 * asked. */
static inline bool is_placed(const struct trial *t, raddr_t *at)
{
	const struct effect *e = &t->e;
	bool by_gs = t->f.prefixes & X86_SEGMENT && !writes_string(t);

	*at = claimed_sum(t) + (by_gs ? native_gs_base() : 0) +
		(e->pops && e->base == RSP ? 8 : 0);
	if (e->memory && by_gs && !e->thread)
		wrong(t, "memory of no thread");
	return e->memory && (!e->thread || (by_gs && !is_multiplied(&t->f) &&
					    !(t->f.prefixes & X86_ADDRSIZE)));
}

/* Of the area, or NULL. */
static inline const uint8_t *in_area(const uint8_t *memory, raddr_t at, size_t n)
{
	raddr_t off = at - native_addr(native_area);

	return off <= NATIVE_AREA - n ? memory + off : NULL;
}

static inline uint64_t extended(uint64_t value, unsigned int width, bool by_sign)
{
	unsigned int drop = 64 - 8 * width;

	if (!drop)
		return value;
	return by_sign ? (uint64_t)((int64_t)(value << drop) >> drop) : value << drop >> drop;
}

/* What lies where memory is claimed; false: it is not said where that is. */
static inline bool loaded(const struct trial *t, unsigned int width, uint64_t *ret)
{
	const struct effect *e = &t->e;
	raddr_t at;

	*ret = 0;
	if (!is_placed(t, &at) || !width || width > 8)
		return false;
	const uint8_t *p = in_area(t->memory, at, width);

	if (!p)
		wrong(t, "memory is elsewhere");
	else
		memcpy(ret, p, width);
	*ret = extended(*ret, width, e->extends);
	return p;
}

static inline void expect(const struct trial *t, int reg, uint64_t value)
{
	if (t->after.gpr[reg] != value)
		wrong(t, "another value");
}

static inline void judge_load(const struct trial *t)
{
	const struct effect *e = &t->e;
	uint64_t old = t->before.gpr[e->reg], is = t->after.gpr[e->reg], value;
	bool whole = e->op == EFFECT_LOAD;

	if (!loaded(t, whole ? e->width : 8, &value)) {
		/* Its size at least. */
		if (whole && is != extended(is, e->width, e->extends))
			wrong(t, "another size");
		return;
	}
	if (e->op == EFFECT_MAY_LOAD && is == old)
		return;
	expect(t, e->reg, e->op == EFFECT_ADD_LOAD ? old + value : value);
}

/* Rotated, or xor with what is there. */
static inline void judge_coded(const struct trial *t)
{
	uint64_t old = t->before.gpr[t->e.reg], is = t->after.gpr[t->e.reg], value;

	if (t->e.memory) {
		if (loaded(t, 8, &value))
			expect(t, t->e.reg, old ^ value);
		return;
	}
	for (int i = 0; i < 64; i++)
		if (is == (old << i | old >> (-i & 63)))
			return;
	wrong(t, "not rotated");
}

static inline void judge_pop(const struct trial *t)
{
	const uint8_t *top = in_area(t->memory, t->before.gpr[RSP], 8);

	if (!top || memcmp(&t->after.gpr[t->e.reg], top, 8))
		wrong(t, "another word is popped");
}

/* Of those that fxsave writes: 16 new ones, 8 old ones. */
static inline const uint8_t *in_vectors(const uint8_t *fx, int vector)
{
	return fx + (vector < 16 ? NATIVE_XMM + 16 * vector : NATIVE_MM + 16 * (vector - 16));
}

static inline void judge_value(const struct trial *t)
{
	const struct effect *e = &t->e;
	const uint64_t *was = t->before.gpr;
	uint64_t base = e->base >= 0 ? was[e->base] : 0, sum = claimed_sum(t), is;

	if (e->op == EFFECT_KEEP || e->reg < 0)
		return;
	is = t->after.gpr[e->reg];
	switch (e->op) {
	case EFFECT_MOVE:
		expect(t, e->reg, base);
		break;
	case EFFECT_CUT:
		expect(t, e->reg, (uint32_t)base);
		break;
	case EFFECT_WIDEN:
		expect(t, e->reg, extended(base, 4, true));
		break;
	case EFFECT_NUMBER:
		expect(t, e->reg, (uint64_t)e->number);
		break;
	case EFFECT_SUM:
		expect(t, e->reg, e->cut ? (uint32_t)sum : sum);
		break;
	case EFFECT_MAY_MOVE:
		if (is != base)
			expect(t, e->reg, was[e->reg]);
		break;
	case EFFECT_LOAD:
	case EFFECT_ADD_LOAD:
	case EFFECT_MAY_LOAD:
		judge_load(t);
		break;
	case EFFECT_CODED:
		judge_coded(t);
		break;
	case EFFECT_POP:
		judge_pop(t);
		break;
	case EFFECT_SWAP:
		expect(t, e->reg, base);
		expect(t, e->base, was[e->reg]);
		break;
	case EFFECT_CLIP:
		if (is > (uint64_t)e->number)
			wrong(t, "more than its bound");
		break;
	case EFFECT_SHIFT:
		expect(t, e->reg, e->cut ? (uint32_t)(base << e->number) : base << e->number);
		break;
	case EFFECT_BACK:
		if (memcmp(&is, in_vectors(native_vectors, e->vector), 8))
			wrong(t, "not what the vector has kept");
		break;
	default:
		wrong(t, "a claim that no instruction has");
	}
}

/* What a vector keeps of a general register. */
static inline void judge_vector(const struct trial *t)
{
	const struct effect *e = &t->e;

	if (e->vector >= 0 && e->op != EFFECT_BACK && e->source >= 0 &&
	    memcmp(&t->before.gpr[e->source], in_vectors(t->after.fx, e->vector), 8))
		wrong(t, "not what the vector keeps");
}

/* ---- memory ---------------------------------------------------------------- */

/* The first byte that differs, and the first behind the last; false: none does. */
static inline bool difference(const uint8_t *a, const uint8_t *b, size_t *first, size_t *end)
{
	*first = 0;
	*end = NATIVE_AREA;
	if (!memcmp(a, b, NATIVE_AREA))
		return false;
	while (a[*first] == b[*first])
		++*first;
	while (a[*end - 1] == b[*end - 1])
		--*end;
	return true;
}

/* What was pushed is as it was; the rest is to be explained by a store. */
static inline void judge_push(struct trial *t)
{
	raddr_t at = t->after.gpr[RSP];
	const uint8_t *is = in_area(t->left, at, 8);

	if (!is) {
		wrong(t, "nothing is pushed");
		return;
	}
	if (t->e.source >= 0 && memcmp(is, &t->before.gpr[t->e.source], 8))
		wrong(t, "another word is pushed");
	memcpy(t->left + (is - t->left), t->memory + (is - t->left), 8);
}

/* A store that replaces what was there: is it so, whatever that was? */
static inline void judge_replaced(const struct trial *t, const uint8_t *is)
{
	static uint8_t other[NATIVE_AREA];
	size_t at = (size_t)(is - t->left), n = MAX(MIN(t->e.width, 8), 1);
	raddr_t from = native_addr(native_area) + at - t->before.gpr[RSP] + 8;

	if (t->e.pops && from < 16)	/* it was what is popped */
		return;
	memcpy(other, t->memory, sizeof(other));
	for (size_t i = 0; i < n; i++)
		other[at + i] ^= 0xff;
	if (run_from(t, &t->before, other) && memcmp(native_area + at, is, n))
		wrong(t, "what was there stays");
}

/* What comes of no general register: others do not matter. */
static inline void judge_no_source(const struct trial *t, const uint8_t *is)
{
	struct native_state other = t->before;
	size_t at = (size_t)(is - t->left);

	for (int i = 0; i < GPRS; i++)
		if (!(t->fixed >> i & 1))
			other.gpr[i] = ~other.gpr[i];
	if (run_from(t, &other, t->memory) && memcmp(native_area + at, is, 8))
		wrong(t, "a register is stored");
}

/* bts, btr and btc: a bit that is so far from the operand as a register says. */
static inline bool is_far(const struct trial *t)
{
	return is_legacy(t, X86_MAP_0F) && (t->f.op == 0xab || t->f.op == 0xb3 || t->f.op == 0xbb);
}

/* As many as the register says, upwards or downwards. */
static inline void judge_many(const struct trial *t, raddr_t at, bool changed, size_t first,
			      size_t end)
{
	uint64_t n = t->before.gpr[t->e.count], width = t->e.width;
	bool down = t->before.flags & 0x400;

	if (changed && (!n || first < (down ? at - (n - 1) * width : at) ||
			end > (down ? at + width : at + n * width)))
		wrong(t, "other memory changes");
}

static inline void judge_store(const struct trial *t, bool changed, size_t first, size_t end)
{
	const struct effect *e = &t->e;
	size_t width = e->computes || e->width > 8 || !e->width ? WIDEST : e->width;
	raddr_t at;

	if (!is_placed(t, &at))
		return;
	if (e->count >= 0) {
		judge_many(t, at - native_addr(native_area), changed, first, end);
		return;
	}
	const uint8_t *is = in_area(t->left, at, MIN(width, 8));

	if (!is) {
		wrong(t, "memory is elsewhere");
		return;
	}
	at -= native_addr(native_area);
	if (changed && !is_far(t) && (first < at || end > at + width))
		wrong(t, "other memory changes");
	if (e->computes)
		return;
	if (e->source >= 0 && memcmp(is, &t->before.gpr[e->source], MIN(e->width, 8)))
		wrong(t, "something else is stored");
	if (is_legacy(t, X86_MAP_ONE) && t->f.op == 0xc7 && memcmp(is, &e->written, e->width))
		wrong(t, "another number is stored");
	if (!t->steady || e->copied >= 0)	/* what is copied may be there, too */
		return;
	judge_replaced(t, is);
	if (e->source < 0 && e->width >= 8)
		judge_no_source(t, is);
}

static inline void judge_memory(struct trial *t)
{
	size_t first, end;

	if (t->e.pushes)
		judge_push(t);
	bool changed = difference(t->memory, t->left, &first, &end);

	if (t->e.stores)
		judge_store(t, changed, first, end);
	else if (changed)
		wrong(t, "memory changes");
}

/* ---- what it comes from ---------------------------------------------------- */

/* Differences, products, what is shifted, counted or moved is no address. */
static inline bool is_number(const struct trial *t)
{
	const struct x86_form *f = &t->f;

	if (is_legacy(t, X86_MAP_ONE))
		return (f->op & 0xfd) == 0x29 || (f->op & 0xfd) == 0x69 || f->op == 0x87 ||
			(f->op & 0xee) == 0xc0 || (f->op & 0xfc) == 0xd0 ||
			(f->op == 0xf7 && x86_modrm_reg(f) >= 4);
	if (is_legacy(t, X86_MAP_0F))
		return (f->op & 0xf0) == 0x40 || (f->op & 0xf6) == 0xa4 || f->op == 0xaf ||
			f->op == 0xb1;
	return f->coding != X86_LEGACY;
}

/*
 * Of what a register is set to that comes of its value `changes` tells sums of all of it: what
 * begins higher ends as much higher. But those are not told of which the value was seen.
 */
static inline void judge_kept(const struct trial *t)
{
	struct native_state other = t->before;
	unsigned int regs = t->e.others & ~t->e.changes & ~t->fixed;
	uint64_t more = 1ull << (16 + native_below(12));

	for (int i = 0; i < GPRS; i++) {
		const uint64_t was = t->before.gpr[i], is = t->after.gpr[i];
		bool part = (was ^ is) < 1 << 16;

		if (!(regs >> i & 1) || is_number(t) || part)
			continue;
		other.gpr[i] = was + more;
		if (run_from(t, &other, t->memory) && (native_out.gpr[i] == is + more ||
						       native_out.gpr[i] == (uint32_t)(is + more)))
			wrong(t, "it comes from what it was");
		other.gpr[i] = was;
	}
}

/* Run it, and again; false: it faults. */
static inline bool run_twice(struct trial *t)
{
	if (!run_from(t, &t->before, t->memory))
		return false;
	t->after = native_out;
	memcpy(t->left, native_area, NATIVE_AREA);
	t->steady = run_from(t, &t->before, t->memory) &&
		!memcmp(t->after.gpr, native_out.gpr, sizeof(t->after.gpr)) &&
		!memcmp(t->left, native_area, NATIVE_AREA);
	tally.unsteady += !t->steady;
	return true;
}

/* Memory of the thread's own is by gs here: what is by fs is its C library's. */
static inline void by_gs(uint8_t *p)
{
	static const uint8_t prefixes[] = "\x26\x2e\x36\x3e\x64\x65\x66\x67\xf0\xf2\xf3";

	for (; memchr(prefixes, *p, sizeof(prefixes) - 1) || (*p & 0xf0) == 0x40; p++)
		*p = *p == 0x64 ? 0x65 : *p;
}

/* It only names memory: far from the area it says more. */
static inline bool is_lea(struct trial *t)
{
	return !x86_parse(t->bytes, sizeof(t->bytes), &t->f) && is_legacy(t, X86_MAP_ONE) &&
		t->f.op == 0x8d;
}

/* t->bytes: false: nothing that is to be run. */
static inline bool trial_take(struct trial *t)
{
	by_gs(t->bytes);
	t->code = native_place(is_lea(t));
	return !arch_x86_64.measure(t->bytes, sizeof(t->bytes), native_addr(t->code), &t->in) &&
		t->in.kind == INSN_PLAIN && !is_banned(t);
}

/* Judge t->bytes, from a state of its own: 0, the signal by which it faulted, or -1: it is not
 * to be run. */
static inline int trial_run(struct trial *t)
{
	if (!trial_take(t))
		return -1;
	tally.made++;
	set_up(t);
	native_put(t->code, t->bytes, t->in.size);
	if (!run_twice(t)) {
		tally.faulted++;
		return native_signal;
	}
	tally.run++;
	arch_x86_64.effect(t->bytes, t->in.size, &t->in, &t->e);
	if (t->e.forbidden)
		wrong(t, "it is not forbidden");
	tally.ops[t->e.op]++;
	judge_registers(t);
	judge_others(t);
	judge_only_stores(t);
	judge_of_stack(t);
	judge_copies(t);
	judge_value(t);
	judge_vector(t);
	judge_memory(t);
	if (t->steady)
		judge_kept(t);
	return 0;
}

#endif
