/* SPDX-License-Identifier: MIT */
/*
 * payload_state: all registers of a thread, loaded before a call and looked at after it. Part of
 * payload_registers.c.
 */
#ifndef TESTS_UNIT_PAYLOAD_STATE_H
#define TESTS_UNIT_PAYLOAD_STATE_H

#if defined(__x86_64__)

enum { GPRS = 15, VECTORS = 16 };

struct state {
	uint64_t gpr[GPRS];	/* rax rbx rcx rdx rsi rdi rbp r8..r15 */
	uint64_t flags;
	uint64_t sp;
	uint64_t pad;
	uint8_t xmm[VECTORS][16];
};

struct state state_in, state_out;
uint64_t state_sp;
void call_with_state(probed_fn *f);
probed_fn *state_call;

/* Load everything from state_in, call state_call, store all to state_out. */
__asm__(
"	.text\n"
"	.globl call_with_state\n"
"call_with_state:\n"
"	push %rbx; push %rbp; push %r12; push %r13; push %r14; push %r15\n"
"	sub $8, %rsp\n"
"	mov %rdi, state_call(%rip)\n"
"	.irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15\n"
"	movdqu state_in + 144 + 16 * \\n(%rip), %xmm\\n\n"
"	.endr\n"
"	pushq state_in + 120(%rip)\n"
"	mov state_in + 0(%rip), %rax\n"
"	mov state_in + 8(%rip), %rbx\n"
"	mov state_in + 16(%rip), %rcx\n"
"	mov state_in + 24(%rip), %rdx\n"
"	mov state_in + 32(%rip), %rsi\n"
"	mov state_in + 40(%rip), %rdi\n"
"	mov state_in + 48(%rip), %rbp\n"
"	mov state_in + 56(%rip), %r8\n"
"	mov state_in + 64(%rip), %r9\n"
"	mov state_in + 72(%rip), %r10\n"
"	mov state_in + 80(%rip), %r11\n"
"	mov state_in + 88(%rip), %r12\n"
"	mov state_in + 96(%rip), %r13\n"
"	mov state_in + 104(%rip), %r14\n"
"	mov state_in + 112(%rip), %r15\n"
"	mov %rsp, state_sp(%rip)\n"
"	addq $8, state_sp(%rip)\n"
"	popf\n"
"	call *state_call(%rip)\n"
"	mov %rsp, state_out + 128(%rip)\n"
"	pushf\n"
"	popq state_out + 120(%rip)\n"
"	cld\n"
"	mov %rax, state_out + 0(%rip)\n"
"	mov %rbx, state_out + 8(%rip)\n"
"	mov %rcx, state_out + 16(%rip)\n"
"	mov %rdx, state_out + 24(%rip)\n"
"	mov %rsi, state_out + 32(%rip)\n"
"	mov %rdi, state_out + 40(%rip)\n"
"	mov %rbp, state_out + 48(%rip)\n"
"	mov %r8, state_out + 56(%rip)\n"
"	mov %r9, state_out + 64(%rip)\n"
"	mov %r10, state_out + 72(%rip)\n"
"	mov %r11, state_out + 80(%rip)\n"
"	mov %r12, state_out + 88(%rip)\n"
"	mov %r13, state_out + 96(%rip)\n"
"	mov %r14, state_out + 104(%rip)\n"
"	mov %r15, state_out + 112(%rip)\n"
"	.irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15\n"
"	movdqu %xmm\\n, state_out + 144 + 16 * \\n(%rip)\n"
"	.endr\n"
"	add $8, %rsp\n"
"	pop %r15; pop %r14; pop %r13; pop %r12; pop %rbp; pop %rbx\n"
"	ret\n"
);

_Static_assert(offsetof(struct state, xmm) == 144, "as call_with_state has it");

/* CF PF AF ZF SF DF OF, and two bits that are always set. */
#define FLAGS (0x1 | 0x4 | 0x10 | 0x40 | 0x80 | 0x400 | 0x800)
#define FLAGS_SET 0x202

#elif defined(__aarch64__)

enum { GPRS = 30, VECTORS = 32 };

struct state {
	uint64_t gpr[GPRS];	/* x0 to x29 */
	uint64_t flags;
	uint64_t sp;
	uint8_t xmm[VECTORS][16];
};

struct state state_in, state_out;
uint64_t state_sp;
void call_with_state(probed_fn *f);

/* Load everything from state_in, call f, store all to state_out. */
__asm__(
"	.text\n"
"	.globl call_with_state\n"
"call_with_state:\n"
"	stp x29, x30, [sp, #-160]!\n"
"	stp x19, x20, [sp, #16]\n"
"	stp x21, x22, [sp, #32]\n"
"	stp x23, x24, [sp, #48]\n"
"	stp x25, x26, [sp, #64]\n"
"	stp x27, x28, [sp, #80]\n"
"	stp d8, d9, [sp, #96]\n"
"	stp d10, d11, [sp, #112]\n"
"	stp d12, d13, [sp, #128]\n"
"	stp d14, d15, [sp, #144]\n"
"	mov x30, x0\n"
"	adrp x1, state_sp\n"
"	mov x0, sp\n"
"	str x0, [x1, :lo12:state_sp]\n"
"	adrp x29, state_in\n"
"	add x29, x29, :lo12:state_in\n"
"	ldr x0, [x29, #240]\n"
"	msr nzcv, x0\n"
"	add x0, x29, #256\n"
"	.irp n, 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30\n"
"	ldr q\\n, [x0], #16\n"
"	.endr\n"
"	add x0, x29, #512\n"
"	.irp n, 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31\n"
"	ldr q\\n, [x0], #16\n"
"	.endr\n"
"	.irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19\n"
"	ldr x\\n, [x29, #(8 * \\n)]\n"
"	.endr\n"
"	.irp n, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29\n"
"	ldr x\\n, [x29, #(8 * \\n)]\n"
"	.endr\n"
"	blr x30\n"
"	adrp x30, state_out\n"
"	add x30, x30, :lo12:state_out\n"
"	.irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19\n"
"	str x\\n, [x30, #(8 * \\n)]\n"
"	.endr\n"
"	.irp n, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29\n"
"	str x\\n, [x30, #(8 * \\n)]\n"
"	.endr\n"
"	mrs x0, nzcv\n"
"	str x0, [x30, #240]\n"
"	mov x0, sp\n"
"	str x0, [x30, #248]\n"
"	add x0, x30, #256\n"
"	.irp n, 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30\n"
"	str q\\n, [x0], #16\n"
"	.endr\n"
"	add x0, x30, #512\n"
"	.irp n, 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31\n"
"	str q\\n, [x0], #16\n"
"	.endr\n"
"	ldp d14, d15, [sp, #144]\n"
"	ldp d12, d13, [sp, #128]\n"
"	ldp d10, d11, [sp, #112]\n"
"	ldp d8, d9, [sp, #96]\n"
"	ldp x27, x28, [sp, #80]\n"
"	ldp x25, x26, [sp, #64]\n"
"	ldp x23, x24, [sp, #48]\n"
"	ldp x21, x22, [sp, #32]\n"
"	ldp x19, x20, [sp, #16]\n"
"	ldp x29, x30, [sp], #160\n"
"	ret\n"
);

_Static_assert(offsetof(struct state, flags) == 240, "as call_with_state has it");
_Static_assert(offsetof(struct state, xmm) == 256, "as call_with_state has it");

/* NZCV */
#define FLAGS 0xf0000000ull
#define FLAGS_SET 0

#else
#error "tests/unit/payload_state.h does not know this instruction set"
#endif

#endif
