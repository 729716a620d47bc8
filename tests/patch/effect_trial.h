/* SPDX-License-Identifier: MIT */
/*
 * effect_trial: one instruction, what arch->effect claims of it, and what it does.
 *
 * What is measured is told by registers and memory alone: the parser of arch/ only says
 * where in the bytes an operand stands, so that memory can be aimed at.
 */
#ifndef TESTS_PATCH_EFFECT_TRIAL_H
#define TESTS_PATCH_EFFECT_TRIAL_H

#include "arch/x86_64/code.h"
#include "tests/patch/native.h"

#include <capstone/capstone.h>
#include <stdio.h>

enum {
	DATA = 2048, STACK = 5120, ROOM = 1024,	/* in the area: where operands, where stacks are */
	WIDEST = 4096,		/* what one instruction writes */
	SHOWN = 60, KINDS = 4096,
};

struct trial {
	uint8_t bytes[X86_LOOKAHEAD];
	uint8_t *code;
	struct insn in;
	struct x86_form f;
	struct effect e;
	uint16_t fixed;		/* registers by which memory is reached */
	bool steady;		/* it does the same when it is run again */
	struct native_state before, after;
	uint8_t memory[NATIVE_AREA], left[NATIVE_AREA];
};

static struct {
	size_t made, run, faulted, unsteady, wrong, kinds;
	size_t ops[EFFECT_RETURNED + 1];
} tally;

static uint64_t wrong_kinds[KINDS];
static const char *const op_names[] = {
	"keep", "move", "cut", "widen", "number", "sum", "load", "add_load", "may_move",
	"may_load", "coded", "pop", "swap", "clip", "shift", "back", "returned",
};

/* ---- what went wrong ------------------------------------------------------- */

static inline void print_claim(const struct effect *e)
{
	printf("  claims %s reg %d base %d index %d scale %u width %u number %#llx others %#x "
	       "changes %#x source %d vector %d%s%s%s%s%s%s%s%s%s\n", op_names[e->op], e->reg,
	       e->base, e->index, e->scale, e->width, (unsigned long long)e->number, e->others,
	       e->changes, e->source, e->vector, e->extends ? " extends" : "",
	       e->cut ? " cut" : "", e->named ? " named" : "", e->memory ? " memory" : "",
	       e->thread ? " thread" : "", e->stores ? " stores" : "",
	       e->computes ? " computes" : "", e->pushes ? " pushes" : "",
	       e->pops ? " pops" : "");
}

static inline void print_text(const struct trial *t)
{
	cs_insn *insn;
	csh handle;

	for (int i = 0; i < t->in.size; i++)
		printf(" %02x", t->bytes[i]);
	if (cs_open(CS_ARCH_X86, CS_MODE_64, &handle) != CS_ERR_OK)
		return;
	size_t n = cs_disasm(handle, t->bytes, t->in.size, t->in.pc, 1, &insn);

	printf("  %s %s\n", n ? insn->mnemonic : "(unknown)", n ? insn->op_str : "");
	if (n)
		cs_free(insn, n);
	cs_close(&handle);
}

static inline void print_memory(const struct trial *t)
{
	int shown = 0;

	for (size_t i = 0; i < NATIVE_AREA && shown < 4; i += 8) {
		uint64_t was, is;

		memcpy(&was, t->memory + i, 8);
		memcpy(&is, t->left + i, 8);
		if (was == is)
			continue;
		printf("  memory %#llx: %#018llx to %#018llx\n",
		       (unsigned long long)native_addr(native_area) + i,
		       (unsigned long long)was, (unsigned long long)is);
		shown++;
	}
}

/* Was it said of such an instruction? One of each kind is enough. */
static inline bool is_told(const struct trial *t, const char *what)
{
	uint64_t key = native_addr(what) << 16 | t->f.coding << 12 | t->f.map << 8 | t->f.op;

	for (size_t i = 0; i < tally.kinds; i++)
		if (wrong_kinds[i] == key)
			return true;
	if (tally.kinds < KINDS)
		wrong_kinds[tally.kinds++] = key;
	return tally.kinds > SHOWN;
}

static inline void wrong(const struct trial *t, const char *what)
{
	tally.wrong++;
	if (is_told(t, what))
		return;
	printf("FAIL %s:", what);
	print_text(t);
	print_claim(&t->e);
	for (int i = 0; i < GPRS; i++)
		if (t->before.gpr[i] != t->after.gpr[i] || i == t->e.reg || i == t->e.base ||
		    i == t->e.index || i == t->e.source)
			printf("  register %d: %#018llx to %#018llx\n", i,
			       (unsigned long long)t->before.gpr[i],
			       (unsigned long long)t->after.gpr[i]);
	print_memory(t);
}

/* ---- where it begins ------------------------------------------------------- */

/* The bits by which base, index and reg are above the eighth register. */
static inline unsigned int high_bits(const struct trial *t)
{
	const struct x86_form *f = &t->f;

	if (f->coding == X86_LEGACY)
		return f->rex;
	if (f->coding == X86_VEX && t->bytes[f->op_at - 2] == 0xc5)
		return ~t->bytes[f->op_at - 1] >> 5 & X86_REX_R;
	return ~t->bytes[f->op_at - (f->coding == X86_EVEX ? 3 : 2)] >> 5 & 7;
}

static inline bool is_legacy(const struct trial *t, unsigned int map)
{
	return t->f.coding == X86_LEGACY && t->f.map == map;
}

/* Its index is a vector: gathers and scatters. */
static inline bool goes_by_vector(const struct x86_form *f)
{
	return f->coding != X86_LEGACY && f->map == X86_MAP_0F38 &&
		((f->op & 0xfc) == 0x90 || (f->op & 0xfc) == 0xa0 || (f->op & 0xfe) == 0xc6);
}

/* Its displacement is multiplied by what is not said here. */
static inline bool is_multiplied(const struct x86_form *f)
{
	return goes_by_vector(f) || (f->coding == X86_EVEX && f->disp_size == 1);
}

static inline void put_number(struct trial *t, size_t at, raddr_t n)
{
	uint32_t number = (uint32_t)n;

	memcpy(t->bytes + at, &number, sizeof(number));
}

static inline raddr_t place_in(size_t from, bool aligned)
{
	size_t off = from + native_below(ROOM);

	return native_addr(native_area) + (aligned ? off & ~63ull : off);
}

/* Of a register, what counts for an address of four bytes. */
static inline uint64_t aimed(const struct trial *t, uint64_t value)
{
	return t->f.prefixes & X86_ADDRSIZE ? (uint32_t)value | native_random() << 32 : value;
}

/* base + index * scale is to be `want`. */
static inline void aim_registers(struct trial *t, uint64_t want, bool sib)
{
	const struct x86_form *f = &t->f;
	unsigned int high = high_bits(t), scale = sib ? 1u << (f->sib >> 6) : 1;
	int base = (sib ? f->sib & 7 : x86_modrm_rm(f)) | (high & X86_REX_B ? 8 : 0);
	int index = sib ? (f->sib >> 3 & 7) | (high & X86_REX_X ? 8 : 0) : RSP;
	uint64_t *gpr = t->before.gpr;

	if (sib && (base & 7) == RBP && !x86_modrm_mod(f))
		base = -1;
	if (goes_by_vector(f))
		index = RSP;
	if (index != RSP)
		t->fixed |= 1u << index;
	if (base >= 0)
		t->fixed |= 1u << base;
	if (base < 0)
		gpr[index] = aimed(t, (uint64_t)((int64_t)want / (int64_t)scale));
	else if (base == index && index != RSP)
		gpr[base] = aimed(t, (uint64_t)((int64_t)want / (int64_t)(scale + 1)));
	else
		gpr[base] = aimed(t, want - (index == RSP ? 0 : gpr[index] * scale));
}

/* Let the operand in memory be in the area. */
static inline void aim(struct trial *t)
{
	const struct x86_form *f = &t->f;
	bool sib = x86_has_sib(f), bare = sib && (f->sib & 7) == RBP && !x86_modrm_mod(f);
	bool by_stack = (sib ? f->sib & 7 : x86_modrm_rm(f)) == RSP && !bare &&
		!(high_bits(t) & X86_REX_B);
	bool locked = f->prefixes & X86_LOCK || (is_legacy(t, X86_MAP_ONE) && f->op == 0x87);
	raddr_t to = place_in(by_stack ? STACK : DATA, locked || !native_once_in(6));
	bool none = (f->sib >> 3 & 7) == RSP && !(high_bits(t) & X86_REX_X);

	if (!f->memory || (is_legacy(t, X86_MAP_ONE) && f->op == 0x8d))
		return;
	if (f->prefixes & X86_SEGMENT)
		to -= native_gs_base();
	if (x86_pcrel(f))
		put_number(t, f->disp_at, to - t->in.pc - f->size);
	else if (bare && none && !goes_by_vector(f))
		put_number(t, f->disp_at, to);
	else if (f->coding == X86_EVEX && f->disp_size == 1)
		aim_registers(t, to, sib);	/* it is multiplied, by what is not said here */
	else
		aim_registers(t, to - (uint64_t)(f->disp_size ?
			      x86_signed(t->bytes + f->disp_at, f->disp_size) : 0), sib);
}

static inline uint64_t any_value(void)
{
	switch (native_below(8)) {
	case 0:
		return native_below(256);
	case 1:
		return -(uint64_t)native_below(256);
	case 2:
		return (uint32_t)native_random();
	case 3:
		return place_in(DATA, true);
	case 4:
		return (uint64_t)(int32_t)native_random();
	default:
		return native_random();
	}
}

/* What memory is reached by that no operand names. */
static inline void aim_implicit(struct trial *t)
{
	const struct x86_form *f = &t->f;
	uint64_t *gpr = t->before.gpr, base = native_gs_base();

	if (f->coding == X86_LEGACY && f->map == X86_MAP_ONE && f->op >= 0xa4 && f->op <= 0xaf) {
		gpr[RSI] = aimed(t, place_in(DATA, false) -
				 (f->prefixes & X86_SEGMENT ? base : 0));
		gpr[RDI] = aimed(t, place_in(DATA, false));
		gpr[RCX] = native_below(40);
	}
	if (is_legacy(t, X86_MAP_ONE) && f->op >= 0xa0 && f->op <= 0xa3)
		memcpy(t->bytes + f->imm_at, (raddr_t[]){ place_in(DATA, false) -
		       (f->prefixes & X86_SEGMENT ? base : 0) }, MIN(f->imm_size, 8));
	if (is_legacy(t, X86_MAP_ONE) && f->op == 0xd7)
		gpr[RBX] = place_in(DATA, false);
	if (is_legacy(t, X86_MAP_ONE) && (f->op == 0xc8 || f->op == 0xc9))
		gpr[RBP] = place_in(STACK, true);
	if (f->map == X86_MAP_0F && f->op == 0xf7)
		gpr[RDI] = aimed(t, place_in(DATA, false) - (f->prefixes & X86_SEGMENT ? base : 0));
	if (is_legacy(t, X86_MAP_0F) && f->op == 0x01)
		gpr[RAX] = place_in(DATA, true);
	if (is_legacy(t, X86_MAP_0F38) && f->op == 0xf8)
		gpr[x86_modrm_reg(f) | (f->rex & X86_REX_R ? 8 : 0)] = place_in(DATA, true);
}

/* What is compared is the same now and then, or nothing. */
static inline void set_up_same(struct trial *t)
{
	uint64_t same = native_once_in(2) ? 0x100000001ull * (uint32_t)native_random() : 0;

	for (int i = 0; i < GPRS; i++)
		if (!(t->fixed >> i & 1))
			t->before.gpr[i] = same;
	for (size_t i = 0; i < ROOM; i += 8)
		memcpy(t->memory + DATA + i, &same, 8);
}

/* Everything that it starts from. */
static inline void set_up(struct trial *t)
{
	static const uint16_t bits[] = { 1, 4, 16, 64, 128, 2048, 1024 };

	t->before.flags = 0x202;
	for (size_t i = 0; i < ARRAY_SIZE(bits); i++)
		t->before.flags |= native_once_in(2) ? bits[i] : 0;
	for (int i = 0; i < GPRS; i++)
		t->before.gpr[i] = any_value();
	t->before.gpr[RSP] = place_in(STACK, true) + 8 * native_below(8);
	t->fixed = 1u << RSP;
	aim_implicit(t);
	aim(t);
	native_fill(t->memory + DATA - ROOM, STACK + 2 * ROOM - DATA);
	if (native_once_in(8))
		set_up_same(t);
	native_vectors_fill();
}

/* Is it left alone? The thread's own memory, and what the kernel or the machine has. */
static inline bool is_banned(const struct trial *t)
{
	const struct x86_form *f = &t->f;
	uint8_t reg = x86_modrm_reg(f);

	if (is_legacy(t, X86_MAP_0F38))
		return f->op == 0xf8 && f->prefixes & (X86_REP | X86_REPNE);	/* enqcmd */
	if (is_legacy(t, X86_MAP_ONE))
		return f->op == 0x8e && reg == 4;		/* %fs */
	if (!is_legacy(t, X86_MAP_0F))
		return false;
	switch (f->op) {
	case 0x01:		/* but for xgetbv, xtest, rdpkru, rdtscp, clzero */
		return f->memory ? reg == 5 : !strchr("\xd0\xd6\xee\xf9\xfc", f->modrm) ||
			f->prefixes & X86_REP;
	case 0xa1:		/* %fs */
	case 0xb4:
		return true;
	case 0xae:		/* xrstor; wrfsbase, incssp */
		return f->memory ? reg == 5 && !(f->prefixes & (X86_REP | X86_OPSIZE)) :
			f->prefixes & X86_REP && (reg == 2 || reg == 5);
	default:
		return false;
	}
}

static inline bool sets_gs(const struct trial *t)
{
	const struct x86_form *f = &t->f;

	return (is_legacy(t, X86_MAP_ONE) && f->op == 0x8e) ||
		(is_legacy(t, X86_MAP_0F) && (f->op == 0xa9 || f->op == 0xb5 || f->op == 0xae));
}

/* Run it from this state and memory. */
static inline bool run_from(const struct trial *t, const struct native_state *from,
			    const uint8_t *memory)
{
	native_in = *from;
	bool ok = native_run(t->code, memory);

	if (sets_gs(t))
		native_gs();
	return ok;
}

#endif
