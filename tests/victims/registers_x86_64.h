/* SPDX-License-Identifier: MIT */
/* registers_x86_64: every general register but rsp, all vector registers (xmm, ymm or zmm,
 * whichever this CPU has), the x87 stack, MXCSR and the x87 control word. */
#ifndef TESTS_VICTIMS_REGISTERS_X86_64_H
#define TESTS_VICTIMS_REGISTERS_X86_64_H

/* The asm below knows these offsets. */
struct regs {
	uint64_t gpr[16];		/* 0; the one of rsp is not used */
	uint8_t vec[32][64];		/* 128 */
	uint8_t x87[8][16];		/* 2176 */
	uint32_t mxcsr;			/* 2304 */
	uint16_t fcw, pad;		/* 2308 */
	uint64_t loops;			/* 2312 */
};

_Static_assert(offsetof(struct regs, x87) == 2176, "asm");
_Static_assert(offsetof(struct regs, mxcsr) == 2304, "asm");
_Static_assert(offsetof(struct regs, loops) == 2312, "asm");

enum vectors { SSE, AVX, AVX512 };

/*
 * regs_NAME_call(in, out) and regs_NAME_hold(in, out): load `in`, call
 * regs_probed or spin in->loops times, store to `out`. `out` waits on the
 * stack. The two functions regs_probed* have an entry and an exit and
 * change nothing.
 */
asm(".text\n"
    ".globl regs_probed\n.type regs_probed, @function\n.p2align 4\n"
    "regs_probed:\n	.cfi_startproc\n"
    "	push %rbx\n	.cfi_adjust_cfa_offset 8\n"
    "	lea (%rbx), %rbx\n	nop\n"
    "	call regs_probed_leaf\n"
    "	pop %rbx\n	.cfi_adjust_cfa_offset -8\n"
    "	ret\n	.cfi_endproc\n.size regs_probed, .-regs_probed\n"
    ".globl regs_probed_leaf\n.type regs_probed_leaf, @function\n.p2align 4\n"
    "regs_probed_leaf:\n	.cfi_startproc\n"
    "	lea (%rax), %rax\n	lea (%rcx), %rcx\n	nop\n"
    "	ret\n	.cfi_endproc\n.size regs_probed_leaf, .-regs_probed_leaf\n"
    ".p2align 4\n");

#define LOAD_GPR \
	"mov 0(%rdi), %rax\n mov 8(%rdi), %rbx\n mov 16(%rdi), %rcx\n" \
	"mov 24(%rdi), %rdx\n mov 32(%rdi), %rsi\n mov 40(%rdi), %rbp\n" \
	"mov 64(%rdi), %r8\n mov 72(%rdi), %r9\n mov 80(%rdi), %r10\n" \
	"mov 88(%rdi), %r11\n mov 96(%rdi), %r12\n mov 104(%rdi), %r13\n" \
	"mov 112(%rdi), %r14\n mov 120(%rdi), %r15\n mov 48(%rdi), %rdi\n"

/* On the stack: rdi as it came back, then `out`, which takes rdi's place. */
#define STORE_GPR \
	"push %rdi\n mov 8(%rsp), %rdi\n" \
	"mov %rax, 0(%rdi)\n mov %rbx, 8(%rdi)\n mov %rcx, 16(%rdi)\n" \
	"mov %rdx, 24(%rdi)\n mov %rsi, 32(%rdi)\n mov %rbp, 40(%rdi)\n" \
	"mov %r8, 64(%rdi)\n mov %r9, 72(%rdi)\n mov %r10, 80(%rdi)\n" \
	"mov %r11, 88(%rdi)\n mov %r12, 96(%rdi)\n mov %r13, 104(%rdi)\n" \
	"mov %r14, 112(%rdi)\n mov %r15, 120(%rdi)\n pop %rax\n" \
	"mov %rax, 48(%rdi)\n"

#define LIST16 "0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15"
#define LIST32 LIST16 ",16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31"
#define LOAD_VEC(move, reg, list) \
	".irp i, " list "\n" #move " 128+64*\\i(%rdi), %" #reg "\\i\n.endr\n"
#define STORE_VEC(move, reg, list) \
	".irp i, " list "\n" #move " %" #reg "\\i, 128+64*\\i(%rdi)\n.endr\n"

#define LOAD_X87 \
	"fninit\n fldcw 2308(%rdi)\n ldmxcsr 2304(%rdi)\n" \
	".irp i, 7,6,5,4,3,2,1,0\n fldt 2176+16*\\i(%rdi)\n.endr\n"
#define STORE_X87 \
	"fnstcw 2308(%rdi)\n stmxcsr 2304(%rdi)\n" \
	".irp i, 0,1,2,3,4,5,6,7\n fstpt 2176+16*\\i(%rdi)\n.endr\n"

/* Six registers and `out`, which with the return address leave rsp a multiple
 * of 16 at the call. */
#define SAVE \
	"push %rbx\n push %rbp\n push %r12\n push %r13\n push %r14\n" \
	"push %r15\n push %rsi\n"
#define RESTORE \
	"ldmxcsr regs_mxcsr(%rip)\n fninit\n pop %rsi\n pop %r15\n pop %r14\n" \
	"pop %r13\n pop %r12\n pop %rbp\n pop %rbx\n ret\n"
#define HOLD \
	"	push 2312(%rdi)\n" LOAD_GPR "1:	decq (%rsp)\n	jnz 1b\n" \
	"	lea 8(%rsp), %rsp\n"

#define DEFINE(name, move, reg, list, clear) \
	void regs_##name##_call(const struct regs *in, struct regs *out); \
	void regs_##name##_hold(const struct regs *in, struct regs *out); \
	asm("regs_" #name "_call:\n" SAVE LOAD_X87 LOAD_VEC(move, reg, list) \
	    LOAD_GPR "call regs_probed\n" STORE_GPR \
	    STORE_VEC(move, reg, list) STORE_X87 clear RESTORE); \
	asm("regs_" #name "_hold:\n" SAVE LOAD_X87 LOAD_VEC(move, reg, list) \
	    HOLD STORE_GPR STORE_VEC(move, reg, list) STORE_X87 clear RESTORE)

extern uint32_t regs_mxcsr;
uint32_t regs_mxcsr = 0x1f80;	/* what the ABI wants at a call */

DEFINE(sse, movups, xmm, LIST16, "");
DEFINE(avx, vmovups, ymm, LIST16, "vzeroupper\n");
DEFINE(avx512, vmovups, zmm, LIST32, "vzeroupper\n");

static void (*const pass[3][2])(const struct regs *, struct regs *) = {
	[SSE] = { regs_sse_call, regs_sse_hold },
	[AVX] = { regs_avx_call, regs_avx_hold },
	[AVX512] = { regs_avx512_call, regs_avx512_hold },
};

static enum vectors have(void)
{
	if (__builtin_cpu_supports("avx512f"))
		return AVX512;
	return __builtin_cpu_supports("avx") ? AVX : SSE;
}

static void fill(struct regs *r, uint64_t seed, uint64_t loops)
{
	static const size_t size[] = { [SSE] = 16, [AVX] = 32, [AVX512] = 64 };
	size_t nvec = have() == AVX512 ? 32 : 16;

	memset(r, 0, sizeof(*r));
	for (int i = 0; i < 16; i++)
		r->gpr[i] = i == 7 ? 0 : seed * (2 * i + 3);
	for (size_t i = 0; i < nvec; i++)
		for (size_t k = 0; k < size[have()]; k++)
			r->vec[i][k] = seed + 7 * i + 13 * k;
	for (int i = 0; i < 8; i++) {
		long double v = (long double)(seed % 100003) / (i + 3);

		memcpy(r->x87[i], &v, 10);
	}
	r->mxcsr = 0x1f80 | (seed % 4) << 13;	/* a rounding mode */
	r->fcw = 0x37f | (seed / 4 % 4) << 10;
	r->loops = loops;
}

static void compare(const struct regs *a, const struct regs *b)
{
	for (int i = 0; i < 16; i++)
		if (a->gpr[i] != b->gpr[i])
			victim_wrong("general register %d", i);
	for (int i = 0; i < 32; i++)
		if (memcmp(a->vec[i], b->vec[i], 64))
			victim_wrong("vector register %d", i);
	for (int i = 0; i < 8; i++)
		if (memcmp(a->x87[i], b->x87[i], 10))
			victim_wrong("st%d", i);
	/* The low six bits are sticky exception flags. */
	if ((a->mxcsr ^ b->mxcsr) & ~0x3f || a->fcw != b->fcw)
		victim_wrong("mxcsr %x %x, fcw %x %x", a->mxcsr, b->mxcsr,
			     a->fcw, b->fcw);
}

#endif
