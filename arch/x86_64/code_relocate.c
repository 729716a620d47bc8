/* SPDX-License-Identifier: MIT */
/*
 * x86_64/code_relocate: which bytes do elsewhere what this instruction does
 * here?
 *
 * No register, no flag and no byte at or above the stack pointer differs. A
 * relocated call uses 16 bytes below the stack pointer instead of 8: its callee
 * owns them in any case.
 */
#include "arch/x86_64/code.h"
#include "arch/x86_64/stand.h"

#include <errno.h>

/* Bytes under construction. Once something went wrong the rest is a no-op. */
struct output {
	uint8_t *bytes;
	size_t used, cap;
	raddr_t to;		/* address of bytes[0] */
	int err;
};

static void x86_put(struct output *o, const void *bytes, size_t n)
{
	if (!o->err && o->cap - o->used < n)
		o->err = -ENOSPC;
	if (o->err)
		return;
	memcpy(o->bytes + o->used, bytes, n);
	o->used += n;
}

#define put_bytes(o, ...) \
	x86_put(o, (const uint8_t[]){ __VA_ARGS__ }, \
		sizeof((const uint8_t[]){ __VA_ARGS__ }))

/* A displacement that ends its instruction. */
static void put_displacement(struct output *o, raddr_t dest)
{
	uint8_t rel[4] = { 0 };

	if (!o->err)
		o->err = x86_displacement(o->to + o->used + 4, dest, rel);
	x86_put(o, rel, sizeof(rel));
}

static void put_jump(struct output *o, raddr_t dest)
{
	put_bytes(o, 0xe9);
	put_displacement(o, dest);
}

static void put_branch(struct output *o, const struct x86_form *f, raddr_t dest)
{
	if (f->map == X86_MAP_0F || f->op < 0xe0) {
		put_bytes(o, 0x0f, 0x80 | (f->op & 15));
		put_displacement(o, dest);
		return;
	}
	/* loop and jrcxz reach 127 bytes only and cannot be inverted:
	 * step over the jump that is for the other case. */
	if (f->prefixes & X86_ADDRSIZE)		/* counts in ecx */
		put_bytes(o, 0x67);
	put_bytes(o, f->op, 2, 0xeb, 5);
	put_jump(o, dest);
}

/*
 * Push the return address that the original call pushes. It is known relative
 * to the PC only, since the module may be loaded anywhere; and pushing through
 * a register must not change a flag.
 *
 * A call pushes, and then its word is replaced: so the processor, which predicts
 * returns by the calls that it has seen, is wrong about this one return only. A
 * push instead would have it wrong about those of all callers, too. (A call to
 * what follows it is known to processors as no call.)
 */
static void put_push_return(struct output *o, raddr_t address)
{
	put_bytes(o, 0xe8, 1, 0, 0, 0);		/* call 1f */
	put_bytes(o, 0xcc);			/* int3 */
	put_bytes(o, 0x50);			/* 1: push %rax */
	put_bytes(o, 0x48, 0x8d, 0x05);		/* lea R(%rip),%rax */
	put_displacement(o, address);
	put_bytes(o, 0x48, 0x89, 0x44, 0x24, 8); /* mov %rax,8(%rsp) */
	put_bytes(o, 0x58);			/* pop %rax */
	_Static_assert(RETURN_PUSHED == 5 && RETURN_RAX == 5 + 1 + 1 &&
		       RETURN_POPPED == RETURN_RAX + 7 + 5 + 1, "as stand.h says");
}

/* A copy whose PC-relative operand, if any, names the same byte. */
static void put_copy(struct output *o, const uint8_t *p,
		     const struct x86_form *f, const struct insn *in)
{
	uint8_t copy[ARCH_INSN_MAX];

	memcpy(copy, p, f->size);
	if (!o->err && x86_pcrel(f))
		o->err = x86_displacement(o->to + o->used + f->size, in->ref,
					  copy + f->disp_at);
	x86_put(o, copy, f->size);
}

/* The jump through the operand of an indirect call: ff /2 becomes ff /4. */
static uint8_t jump_modrm(const struct x86_form *f)
{
	return (f->modrm & ~0x38) | 4 << 3;
}

/*
 * `call *disp(%rsp...)`: the return address is pushed already, so the operand
 * has moved up by 8. What lies below the stack pointer is refused: pushing
 * overwrites it before it is read.
 */
static void put_jump_through_stack(struct output *o, const uint8_t *p,
				   const struct x86_form *f)
{
	int64_t disp = f->disp_size ?
		       x86_signed(p + f->disp_at, f->disp_size) : 0;
	bool small = disp + 8 <= INT8_MAX;
	int32_t rel = disp + 8;

	if (disp < 0 || disp + 8 > INT32_MAX) {
		o->err = -ENOTSUP;
		return;
	}
	x86_put(o, p, f->modrm_at);
	put_bytes(o, (jump_modrm(f) & 0x3f) | (small ? 0x40 : 0x80), f->sib);
	x86_put(o, &rel, small ? 1 : 4);
}

static bool is_stack_based(const struct x86_form *f)
{
	return x86_has_sib(f) && (f->sib & 7) == 4 && !(f->rex & X86_REX_B);
}

static void put_call_indirect(struct output *o, const uint8_t *p,
			      const struct x86_form *f, const struct insn *in)
{
	uint8_t jump[ARCH_INSN_MAX];

	/* call *%rsp jumps to what rsp was before the push. */
	if (!f->memory && x86_modrm_rm(f) == 4 && !(f->rex & X86_REX_B)) {
		o->err = -ENOTSUP;
		return;
	}
	put_push_return(o, in->pc + in->size);
	if (is_stack_based(f)) {
		put_jump_through_stack(o, p, f);
		return;
	}
	memcpy(jump, p, f->size);
	jump[f->modrm_at] = jump_modrm(f);
	put_copy(o, jump, f, in);
}

static void put_plain(struct output *o, const uint8_t *p,
		      const struct x86_form *f, const struct insn *in)
{
	/* A breakpoint is known to its owner by its address. */
	if (f->map == X86_MAP_ONE && (f->op == 0xcc || f->op == 0xf1))
		o->err = -ENOTSUP;
	put_copy(o, p, f, in);
}

int x86_relocate(const uint8_t *p, const struct insn *in, raddr_t to,
		 uint8_t *out, size_t cap)
{
	struct output o = { .bytes = out, .cap = cap, .to = to };
	struct x86_form form;

	if (in->flags & INSN_PINNED)
		return -ENOTSUP;
	if (x86_parse(p, in->size, &form) || form.size != in->size)
		return -ENOTSUP;
	switch (in->kind) {
	case INSN_JUMP:
		put_jump(&o, in->dest);
		break;
	case INSN_BRANCH:
		put_branch(&o, &form, in->dest);
		break;
	case INSN_CALL:
		put_push_return(&o, in->pc + in->size);
		put_jump(&o, in->dest);
		break;
	case INSN_CALL_INDIRECT:
		put_call_indirect(&o, p, &form, in);
		break;
	case INSN_SYSCALL:	/* leaves its own address in rcx */
	case INSN_UNKNOWN:
		return -ENOTSUP;
	default:
		put_plain(&o, p, &form, in);
	}
	return o.err ? o.err : (int)o.used;
}
