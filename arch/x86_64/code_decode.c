/* SPDX-License-Identifier: MIT */
/*
 * x86_64/code_decode: what does this instruction do to the flow of control, and
 * may it be moved?
 *
 * Two opinions. Our own table classifies from the opcode and is all that a
 * sweep over a whole text needs. Before an instruction is displaced capstone is
 * asked too: what it does not know, or sees differently, is never moved.
 */
#include "arch/x86_64/code.h"

#include <capstone/capstone.h>
#include <errno.h>
#include <pthread.h>

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
	case OPCODE(X86_MAP_ONE, 0x90):
	case OPCODE(X86_MAP_0F, 0x1e):
	case OPCODE(X86_MAP_0F, 0x1f):
		return false;
	default:
		return ret->kind <= INSN_CALL || ret->kind == INSN_RETURN;
	}
}

/* What capstone said of an instruction. Most that are displaced are of a few kinds, for
 * functions begin and end alike. */
struct opinion {
	uint8_t bytes[8];	/* all of it, and zeros */
	uint8_t size;		/* 0: of none */
	bool agrees;
};

enum { OPINIONS = 1024 };	/* a power of two */

/* capstone, one handle and one instruction buffer per thread. */
struct decoder {
	csh handle;
	cs_insn *insn;
	struct opinion opinions[OPINIONS];	/* by hash */
};

static pthread_once_t decoder_once = PTHREAD_ONCE_INIT;
static pthread_key_t decoder_key;
static int decoder_key_err;

static void decoder_free(void *arg)
{
	struct decoder *d = arg;

	if (d->insn)
		cs_free(d->insn, 1);
	if (d->handle)
		cs_close(&d->handle);
	free(d);
}

static void decoder_init_key(void)
{
	decoder_key_err = pthread_key_create(&decoder_key, decoder_free);
}

static struct decoder *decoder_new(void)
{
	struct decoder *d = calloc(1, sizeof(*d));

	if (!d)
		return NULL;
	if (cs_open(CS_ARCH_X86, CS_MODE_64, &d->handle) != CS_ERR_OK) {
		d->handle = 0;
		goto free;
	}
	if (cs_option(d->handle, CS_OPT_DETAIL, CS_OPT_ON) != CS_ERR_OK)
		goto free;
	d->insn = cs_malloc(d->handle);
	if (!d->insn || pthread_setspecific(decoder_key, d) != 0)
		goto free;
	return d;
free:
	decoder_free(d);
	return NULL;
}

/* The calling thread's decoder; NULL if there can be none. Freed with it. */
static struct decoder *decoder_get(void)
{
	pthread_once(&decoder_once, decoder_init_key);
	if (decoder_key_err)
		return NULL;
	struct decoder *d = pthread_getspecific(decoder_key);

	return d ? d : decoder_new();
}

static bool takes_immediate(const cs_insn *insn)
{
	const cs_x86 *x86 = &insn->detail->x86;

	return x86->op_count > 0 && x86->operands[0].type == X86_OP_IMM;
}

/* What capstone calls it. Its groups are not asked: version 4 puts every
 * relative branch into one. */
static uint8_t capstone_kind(const cs_insn *insn)
{
	switch (insn->id) {
	case X86_INS_CALL:
		return takes_immediate(insn) ? INSN_CALL : INSN_CALL_INDIRECT;
	case X86_INS_JMP:
		return takes_immediate(insn) ? INSN_JUMP : INSN_JUMP_INDIRECT;
	case X86_INS_JAE ... X86_INS_JLE:	/* with jcxz and jecxz */
	case X86_INS_JL:
	case X86_INS_JNE ... X86_INS_JS:	/* with jrcxz */
	case X86_INS_LOOP ... X86_INS_LOOPNE:
	case X86_INS_XBEGIN:
		return INSN_BRANCH;
	case X86_INS_RET:
		return INSN_RETURN;
	case X86_INS_SYSCALL:
	case X86_INS_SYSENTER:
	case X86_INS_INT:
		return INSN_SYSCALL;
	case X86_INS_UD0:
	case X86_INS_UD2:
	case X86_INS_UD2B:
	case X86_INS_HLT:
	case X86_INS_INT1:
	case X86_INS_INT3:
		return INSN_STOP;
	case X86_INS_RETF:
	case X86_INS_RETFQ:
	case X86_INS_LCALL:
	case X86_INS_LJMP:
	case X86_INS_IRET:
	case X86_INS_IRETD:
	case X86_INS_IRETQ:
	case X86_INS_SYSRET:
	case X86_INS_SYSEXIT:
	case X86_INS_RSM:
		return INSN_UNKNOWN;
	default:
		return INSN_PLAIN;
	}
}

/* Does capstone see the same instruction? */
static bool capstone_agrees(struct decoder *d, const uint8_t *p, size_t n,
			    const struct insn *in)
{
	uint64_t address = in->pc;

	if (!cs_disasm_iter(d->handle, &p, &n, &address, d->insn))
		return false;
	if (capstone_kind(d->insn) != in->kind)
		return false;
	/* It leaves out the ModRM of ud0 and ud1, behind which nothing runs. */
	if (d->insn->size != in->size && in->kind != INSN_STOP)
		return false;
	return !in->dest ||
	       (uint64_t)d->insn->detail->x86.operands[0].imm == in->dest;
}

/* Where its opinion is kept, with its bytes in *key; NULL: nowhere, for it is long, or
 * leads to where it leads because of where it stands. */
static struct opinion *opinion_of(struct decoder *d, const uint8_t *p, const struct insn *in,
				  struct opinion *key)
{
	uint64_t word;

	if (in->size > sizeof(key->bytes) || in->dest)
		return NULL;
	*key = (struct opinion){ .size = in->size };
	memcpy(key->bytes, p, in->size);
	memcpy(&word, key->bytes, sizeof(word));
	return &d->opinions[(word * 0x9e3779b97f4a7c15) >> 32 & (OPINIONS - 1)];
}

/* What follows an instruction has no say: with what follows it capstone would see
 * another one, and not agree. */
static bool is_agreed(struct decoder *d, const uint8_t *p, size_t n, const struct insn *in)
{
	struct opinion key, *kept = opinion_of(d, p, in, &key);

	if (!kept)
		return capstone_agrees(d, p, n, in);
	if (kept->size != key.size || memcmp(kept->bytes, key.bytes, sizeof(key.bytes))) {
		key.agrees = capstone_agrees(d, p, n, in);
		*kept = key;
	}
	return kept->agrees;
}

int x86_decode(const uint8_t *p, size_t n, raddr_t pc, struct insn *ret)
{
	int err = x86_measure(p, n, pc, ret);

	if (err)
		return err;
	struct decoder *d = decoder_get();

	if (!d || !is_agreed(d, p, n, ret)) {
		ret->kind = INSN_UNKNOWN;
		ret->flags |= INSN_PINNED;
		ret->dest = 0;
	}
	return 0;
}
