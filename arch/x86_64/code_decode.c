/* SPDX-License-Identifier: MIT */
/*
 * x86_64/code_decode: what does this instruction do to the flow of control, and
 * may it be moved?
 *
 * Two opinions. code_classify.c goes by the opcode. Before an instruction is displaced
 * capstone is asked too: what it does not know, or sees differently, is never moved.
 */
#include "arch/x86_64/code.h"

#include <capstone/capstone.h>
#include <errno.h>
#include <pthread.h>

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
