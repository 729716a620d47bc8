/* SPDX-License-Identifier: MIT */
/* registers_arm64: every general register but sp, the flags, all vector registers (of SVE with
 * the predicates, where this CPU has them) and FPCR. */
#ifndef TESTS_VICTIMS_REGISTERS_ARM64_H
#define TESTS_VICTIMS_REGISTERS_ARM64_H

#include <asm/hwcap.h>
#include <sys/auxv.h>
#include <sys/prctl.h>

/* The asm below knows these offsets. Vectors and predicates lie as close as they are long. */
struct regs {
	uint64_t gpr[32];		/* 0; of a caller not x30 */
	uint64_t fpcr, nzcv;		/* 256, 264 */
	uint64_t pad[2];
	uint8_t ffr[32];		/* 288 */
	uint8_t pred[16 * 32];		/* 320 */
	uint8_t vec[32 * 256];		/* 832 */
};

_Static_assert(offsetof(struct regs, ffr) == 288, "asm");
_Static_assert(offsetof(struct regs, pred) == 320, "asm");
_Static_assert(offsetof(struct regs, vec) == 832, "asm");

enum vectors { NEON, SVE };

/*
 * regs_NAME_call(in, out) and regs_NAME_hold(in, out): load `in`, call regs_probed or
 * count x30 down, store to `out`, which waits on the stack. The two functions regs_probed*
 * have an entry and an exit and change nothing.
 */
asm(".text\n"
    ".globl regs_probed\n.type regs_probed, %function\n.p2align 4\n"
    "regs_probed:\n	.cfi_startproc\n"
    "	stp x29, x30, [sp, #-16]!\n	.cfi_adjust_cfa_offset 16\n"
    "	.cfi_offset 30, -8\n	.cfi_offset 29, -16\n"
    "	mov x20, x20\n"
    "	bl regs_probed_leaf\n"
    "	ldp x29, x30, [sp], #16\n	.cfi_adjust_cfa_offset -16\n"
    "	.cfi_restore 30\n	.cfi_restore 29\n"
    "	ret\n	.cfi_endproc\n.size regs_probed, .-regs_probed\n"
    ".globl regs_probed_leaf\n.type regs_probed_leaf, %function\n.p2align 4\n"
    "regs_probed_leaf:\n	.cfi_startproc\n"
    "	mov x0, x0\n	mov x1, x1\n"
    "	ret\n	.cfi_endproc\n.size regs_probed_leaf, .-regs_probed_leaf\n"
    ".p2align 4\n");

#define LIST15 "1,2,3,4,5,6,7,8,9,10,11,12,13,14,15"
#define LIST29 LIST15 ",16,17,18,19,20,21,22,23,24,25,26,27,28,29"
#define LIST31 LIST29 ",30,31"
#define EACH(list, line) ".irp i, " list "\n" line "\n.endr\n"

#define SAVE \
	"stp x29, x30, [sp, #-176]!\n stp x19, x20, [sp, #16]\n" \
	"stp x21, x22, [sp, #32]\n stp x23, x24, [sp, #48]\n" \
	"stp x25, x26, [sp, #64]\n stp x27, x28, [sp, #80]\n" \
	"stp d8, d9, [sp, #96]\n stp d10, d11, [sp, #112]\n" \
	"stp d12, d13, [sp, #128]\n stp d14, d15, [sp, #144]\n str x1, [sp, #160]\n"
#define RESTORE \
	"msr fpcr, xzr\n ldp x19, x20, [sp, #16]\n" \
	"ldp x21, x22, [sp, #32]\n ldp x23, x24, [sp, #48]\n" \
	"ldp x25, x26, [sp, #64]\n ldp x27, x28, [sp, #80]\n" \
	"ldp d8, d9, [sp, #96]\n ldp d10, d11, [sp, #112]\n" \
	"ldp d12, d13, [sp, #128]\n ldp d14, d15, [sp, #144]\n" \
	"ldp x29, x30, [sp], #176\n ret\n"

#define LOAD \
	"ldr x2, [x0, #256]\n msr fpcr, x2\n ldr x2, [x0, #264]\n msr nzcv, x2\n" \
	EACH(LIST29, "ldr x\\i, [x0, #8*\\i]")
#define HOLD "ldr x30, [x0, #240]\n ldr x0, [x0]\n 1: sub x30, x30, #1\n cbnz x30, 1b\n"
#define CALL "ldr x0, [x0]\n bl regs_probed\n"
#define STORE \
	"str x0, [sp, #-16]!\n ldr x0, [sp, #176]\n" \
	EACH(LIST29, "str x\\i, [x0, #8*\\i]") \
	"ldr x1, [sp], #16\n str x1, [x0]\n" \
	"mrs x2, fpcr\n str x2, [x0, #256]\n mrs x2, nzcv\n str x2, [x0, #264]\n"

#define LOAD_NEON "add x2, x0, #832\n" EACH("0," LIST31, "ldr q\\i, [x2, #16*\\i]")
#define STORE_NEON "add x2, x0, #832\n" EACH("0," LIST31, "str q\\i, [x2, #16*\\i]")
#define LOAD_SVE \
	"add x2, x0, #288\n ldr p0, [x2]\n wrffr p0.b\n" \
	"add x2, x0, #320\n" EACH("0," LIST15, "ldr p\\i, [x2, #\\i, mul vl]") \
	"add x2, x0, #832\n" EACH("0," LIST31, "ldr z\\i, [x2, #\\i, mul vl]")
#define STORE_SVE \
	"add x2, x0, #832\n" EACH("0," LIST31, "str z\\i, [x2, #\\i, mul vl]") \
	"add x2, x0, #320\n" EACH("0," LIST15, "str p\\i, [x2, #\\i, mul vl]") \
	"add x2, x0, #288\n rdffr p0.b\n str p0, [x2]\n"

#define DEFINE(name, set, load, store) \
	void regs_##name##_call(const struct regs *in, struct regs *out); \
	void regs_##name##_hold(const struct regs *in, struct regs *out); \
	asm(".arch_extension " set "\n" \
	    "regs_" #name "_call:\n" SAVE load LOAD CALL STORE store RESTORE \
	    "regs_" #name "_hold:\n" SAVE load LOAD HOLD STORE store RESTORE \
	    ".arch_extension nosve\n")

DEFINE(neon, "simd", LOAD_NEON, STORE_NEON);
DEFINE(sve, "sve", LOAD_SVE, STORE_SVE);

static void (*const pass[2][2])(const struct regs *, struct regs *) = {
	[NEON] = { regs_neon_call, regs_neon_hold },
	[SVE] = { regs_sve_call, regs_sve_hold },
};

static enum vectors have(void)
{
	return getauxval(AT_HWCAP) & HWCAP_SVE ? SVE : NEON;
}

/* Bytes of a vector. */
static size_t vector_size(void)
{
	return have() == SVE ? prctl(PR_SVE_GET_VL) & PR_SVE_VL_LEN_MASK : 16;
}

static void fill(struct regs *r, uint64_t seed, uint64_t loops)
{
	size_t size = vector_size();

	memset(r, 0, sizeof(*r));
	for (int i = 0; i < 30; i++)
		r->gpr[i] = seed * (2 * i + 3);
	r->gpr[30] = loops;
	for (size_t i = 0; i < 32 * size; i++)
		r->vec[i] = (uint8_t)(seed + 7 * (i / size) + 13 * (i % size));
	for (size_t i = 0; have() == SVE && i < 16 * size / 8; i++)
		r->pred[i] = (uint8_t)(seed + 5 * i);
	/* It is true for the first so many only. */
	for (size_t i = 0; have() == SVE && i < seed % (size + 1); i++)
		r->ffr[i / 8] |= (uint8_t)(1 << i % 8);
	r->fpcr = (seed % 4) << 22;	/* a rounding mode */
	r->nzcv = (seed / 4 % 16) << 28;
}

static void compare(const struct regs *a, const struct regs *b)
{
	size_t size = vector_size();

	for (int i = 0; i < 30; i++)
		if (a->gpr[i] != b->gpr[i])
			victim_wrong("general register %d", i);
	for (size_t i = 0; i < 32; i++)
		if (memcmp(a->vec + i * size, b->vec + i * size, size))
			victim_wrong("vector register %zu", i);
	for (size_t i = 0; i < 16; i++)
		if (memcmp(a->pred + i * size / 8, b->pred + i * size / 8, size / 8))
			victim_wrong("predicate %zu", i);
	if (memcmp(a->ffr, b->ffr, sizeof(a->ffr)))
		victim_wrong("first fault register");
	if (a->fpcr != b->fpcr || a->nzcv != b->nzcv)
		victim_wrong("fpcr %llx %llx, flags %llx %llx", (unsigned long long)a->fpcr,
			     (unsigned long long)b->fpcr, (unsigned long long)a->nzcv,
			     (unsigned long long)b->nzcv);
}

#endif
