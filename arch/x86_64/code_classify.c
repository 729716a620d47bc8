/* SPDX-License-Identifier: MIT */
/*
 * x86_64/code_classify: what does the opcode say that this instruction does to the flow
 * of control?
 *
 * One table of our own, which is all that a sweep over a whole text needs.
 */
#include "arch/x86_64/code.h"

/* Kinds by opcode where ModRM has no say; 0 is INSN_PLAIN. */
static const uint8_t one_byte_kinds[256] = {
	[0x70 ... 0x7f] = INSN_BRANCH,
	[0xe0 ... 0xe3] = INSN_BRANCH,	/* loopne, loope, loop, jrcxz */
	[0xc2 ... 0xc3] = INSN_RETURN,
	[0xca ... 0xcb] = INSN_UNKNOWN,	/* far return */
	[0xcf] = INSN_UNKNOWN,		/* iret */
	[0xcc] = INSN_STOP,		/* int3 */
	[0xcd] = INSN_SYSCALL,		/* int */
	[0xe8] = INSN_CALL,
	[0xe9] = INSN_JUMP,
	[0xeb] = INSN_JUMP,
	[0xf1] = INSN_STOP,		/* int1 */
	[0xf4] = INSN_STOP,		/* hlt */
};

static const uint8_t two_byte_kinds[256] = {
	[0x05] = INSN_SYSCALL,
	[0x34] = INSN_SYSCALL,		/* sysenter */
	[0x07] = INSN_UNKNOWN,		/* sysret */
	[0x35] = INSN_UNKNOWN,		/* sysexit */
	[0xaa] = INSN_UNKNOWN,		/* rsm */
	[0x0b] = INSN_STOP,		/* ud2 */
	[0xb9] = INSN_STOP,		/* ud1 */
	[0xff] = INSN_STOP,		/* ud0 */
	[0x80 ... 0x8f] = INSN_BRANCH,
};

/* An opcode of the two maps that are not only arithmetic, as one number. */
#define OPCODE(map, op) ((map) << 8 | (op))

static unsigned int opcode(const struct x86_form *f)
{
	return OPCODE(f->map, f->op);
}

/* AMD cuts the new PC to 16 bits, Intel does not. */
static bool is_cut(const struct x86_form *f)
{
	return f->prefixes & X86_OPSIZE && !(f->rex & X86_REX_W);
}

static bool is_xbegin(const struct x86_form *f)
{
	return f->op == 0xc7 && f->modrm == 0xf8;
}

static uint8_t group_ff_kind(const struct x86_form *f)
{
	switch (x86_modrm_reg(f)) {
	case 2:
		return INSN_CALL_INDIRECT;
	case 4:
		return INSN_JUMP_INDIRECT;
	case 3:			/* far call and jump */
	case 5:
		return INSN_UNKNOWN;
	default:
		return INSN_PLAIN;
	}
}

static uint8_t kind_of(const struct x86_form *f)
{
	if (f->coding != X86_LEGACY || f->map > X86_MAP_0F)
		return INSN_PLAIN;
	if (f->map == X86_MAP_0F)
		return two_byte_kinds[f->op];
	if (f->op == 0xff)
		return group_ff_kind(f);
	/* A transaction that aborts goes on at the address in xbegin. */
	return is_xbegin(f) ? INSN_BRANCH : one_byte_kinds[f->op];
}

bool x86_is_nop(const struct x86_form *f)
{
	if (f->coding != X86_LEGACY || f->prefixes & (X86_REP | X86_LOCK))
		return false;
	switch (opcode(f)) {
	case OPCODE(X86_MAP_ONE, 0x90):
		return !(f->rex & X86_REX_B);	/* that is xchg %r8,%rax */
	case OPCODE(X86_MAP_0F, 0x1f):
		return x86_modrm_reg(f) == 0;
	default:
		return false;
	}
}

/* The flags of what falls through. */
static uint16_t plain_flags(const struct x86_form *f)
{
	if (f->coding != X86_LEGACY)
		return 0;
	switch (opcode(f)) {
	case OPCODE(X86_MAP_ONE, 0x90):
	case OPCODE(X86_MAP_0F, 0x1f):
		return x86_is_nop(f) ? INSN_NOP : 0;
	case OPCODE(X86_MAP_ONE, 0x63):		/* movslq */
		return f->memory && f->rex & X86_REX_W ? INSN_DISTANCE : 0;
	case OPCODE(X86_MAP_ONE, 0xc6):		/* xabort */
		return f->modrm == 0xf8 ? INSN_PINNED : 0;
	case OPCODE(X86_MAP_0F, 0x1e):		/* endbr64 */
		return f->modrm == 0xfa && f->prefixes & X86_REP ?
		       INSN_LANDING : 0;
	default:
		return 0;
	}
}

/* Indirect jumps and calls: through what? */
static void classify_indirect(const uint8_t *p, const struct x86_form *f,
			      struct insn *ret)
{
	bool index = x86_has_sib(f) &&
		     ((f->sib >> 3 & 7) != 4 || f->rex & X86_REX_X);

	if (f->prefixes & X86_DS)
		ret->flags |= INSN_NOTRACK;
	if (!f->memory)
		ret->flags |= INSN_BY_REGISTER;
	if (x86_pcrel(f) && !(f->prefixes & X86_SEGMENT))
		ret->flags |= INSN_SLOT;
	if (!index)
		return;
	ret->flags |= INSN_INDEXED;
	if (x86_modrm_mod(f) == 0 && (f->sib & 7) == 5)
		ret->ref = x86_signed(p + f->disp_at, 4);
}

static void classify_pcrel(const uint8_t *p, const struct x86_form *f,
			   struct insn *ret)
{
	ret->ref = ret->pc + f->size + x86_signed(p + f->disp_at, 4);
	ret->flags |= INSN_PCREL;
	/* A truncated PC: what it names changes with the place. */
	if (f->prefixes & X86_ADDRSIZE)
		ret->flags |= INSN_PINNED;
}

/* Processors disagree about which flag ends a loop that has a rep prefix; and
 * no branch may be locked: it traps where it stands. */
static bool is_odd(const struct x86_form *f)
{
	bool loop = f->map == X86_MAP_ONE && (f->op & ~3) == 0xe0;

	return f->prefixes & X86_LOCK ||
	       (loop && f->prefixes & (X86_REP | X86_REPNE));
}

static void classify_transfer(const uint8_t *p, const struct x86_form *f,
			      struct insn *ret)
{
	switch (ret->kind) {
	case INSN_JUMP:
	case INSN_BRANCH:
	case INSN_CALL:
		ret->dest = ret->pc + f->size +
			    x86_signed(p + f->imm_at, f->imm_size);
		if (is_cut(f) || is_xbegin(f) || is_odd(f))
			ret->flags |= INSN_PINNED;
		break;
	case INSN_JUMP_INDIRECT:
	case INSN_CALL_INDIRECT:
		classify_indirect(p, f, ret);
		/* fall through */
	case INSN_RETURN:
		if (is_cut(f) || is_odd(f))
			ret->flags |= INSN_PINNED;
		break;
	case INSN_UNKNOWN:
		ret->flags |= INSN_PINNED;
		break;
	}
}

void x86_classify(const uint8_t *p, const struct x86_form *f, raddr_t pc,
		  struct insn *ret)
{
	*ret = (struct insn){ .pc = pc, .size = f->size, .kind = kind_of(f) };
	if (x86_pcrel(f))
		classify_pcrel(p, f, ret);
	if (ret->kind == INSN_PLAIN)
		ret->flags |= plain_flags(f);
	else
		classify_transfer(p, f, ret);
}

bool x86_opcode_kind(unsigned int map, unsigned int op, struct x86_opcode *ret)
{
	ret->kind = map == X86_MAP_0F ? two_byte_kinds[op] : one_byte_kinds[op];
	switch (OPCODE(map, op)) {
	case OPCODE(X86_MAP_ONE, 0x63):		/* see plain_flags */
	case OPCODE(X86_MAP_0F, 0x1e):
		return false;
	case OPCODE(X86_MAP_ONE, 0x90):		/* see x86_is_nop */
	case OPCODE(X86_MAP_0F, 0x1f):
		return ret->nop = true;
	default:
		return ret->kind <= INSN_CALL || ret->kind == INSN_RETURN;
	}
}
