/* SPDX-License-Identifier: MIT */
/*
 * payload_tight: a call with hardly any stack, all of whose registers and flags are known before
 * and behind it, on each instruction set.
 *
 * struct caller begins with `before` and `after`: GPRS registers and the flags each. AT_SP and
 * AT_F: offsets in it. LEFT: bytes below the stack pointer that are the caller's; TOUCHED: of
 * these, those that a call takes. RETURNED: what its return takes off the stack.
 */
#ifndef TESTS_PAYLOAD_TIGHT_H
#define TESTS_PAYLOAD_TIGHT_H

#ifdef __x86_64__

enum { GPRS = 15, AT_SP = 256, AT_F = 272, LEFT = 8, TOUCHED = 8, RETURNED = 8, TAKEN = 8 };

/* A push moves the stack pointer. */
#define LOWERED 1ull
#define LOWER 0x48, 0x8d, 0x64, 0x24, 0xf8	/* lea -8(%rsp), %rsp */
#define RAISE 0x48, 0x8d, 0x64, 0x24, 8
#define FLAGS (0x8d5ull | 0x400)
#define FLAGS_SET 0x202ull

/* The flags are loaded last and stored first, on its own stack: as the function has
 * them. %rax goes by the stack pointer's place. */
__asm__(
"	.text\n"
"call_tightly:\n"
"	push %rbx; push %rbp; push %r12; push %r13; push %r14; push %r15\n"
"	mov %rsp, 264(%rdi)\n"
"	push %rdi\n"
"	pushq 120(%rdi); popf\n"
"	mov 256(%rdi), %rsp\n"
"	lea 1f(%rip), %rax\n"
"	mov %rax, (%rsp)\n"			/* the way back: the stack's last word */
"	mov %rdi, 8(%rsp)\n"
"	mov 272(%rdi), %rax\n"
"	mov %rax, 16(%rsp)\n"			/* what is called */
"	mov (%rdi), %rax; mov 8(%rdi), %rbx; mov 16(%rdi), %rcx; mov 24(%rdi), %rdx\n"
"	mov 32(%rdi), %rsi; mov 48(%rdi), %rbp; mov 56(%rdi), %r8; mov 64(%rdi), %r9\n"
"	mov 72(%rdi), %r10; mov 80(%rdi), %r11; mov 88(%rdi), %r12; mov 96(%rdi), %r13\n"
"	mov 104(%rdi), %r14; mov 112(%rdi), %r15; mov 40(%rdi), %rdi\n"
"	jmp *16(%rsp)\n"
"1:	mov %rdi, 16(%rsp)\n"			/* %rsp is behind the way back */
"	mov (%rsp), %rdi\n"
"	mov %rsp, 256(%rdi)\n"
"	mov %rax, 128(%rdi); mov %rbx, 136(%rdi); mov %rcx, 144(%rdi); mov %rdx, 152(%rdi)\n"
"	mov %rsi, 160(%rdi); mov %rbp, 176(%rdi); mov %r8, 184(%rdi); mov %r9, 192(%rdi)\n"
"	mov %r10, 200(%rdi); mov %r11, 208(%rdi); mov %r12, 216(%rdi); mov %r13, 224(%rdi)\n"
"	mov %r14, 232(%rdi); mov %r15, 240(%rdi)\n"
"	mov 16(%rsp), %rax; mov %rax, 168(%rdi)\n"
"	mov 264(%rdi), %rsp\n"
"	pushf; popq 248(%rdi); cld\n"
"	pop %r15; pop %r14; pop %r13; pop %r12; pop %rbp; pop %rbx\n"
"	ret\n"
);

#else

/* x0 to x17, x19 to x26, x28, x29: the others are free where this is for. */
enum { GPRS = 28, AT_SP = 464, AT_F = 480, LEFT = 16, TOUCHED = 0, RETURNED = 0, TAKEN = 0 };

#define LOWERED 2ull
#define LOWER 0xff, 0x43, 0x00, 0xd1		/* sub sp, sp, #16 */
#define RAISE 0xff, 0x43, 0x00, 0x91
#define FLAGS 0xf0000000ull
#define FLAGS_SET 0ull

/* What comes behind the stack pointer is the caller's: there it finds itself again. */
__asm__(
"	.text\n"
"call_tightly:\n"
"	stp	x29, x30, [sp, #-96]!\n"
"	stp	x19, x20, [sp, #16]\n"
"	stp	x21, x22, [sp, #32]\n"
"	stp	x23, x24, [sp, #48]\n"
"	stp	x25, x26, [sp, #64]\n"
"	stp	x27, x28, [sp, #80]\n"
"	mov	x9, sp\n"
"	str	x9, [x0, #472]\n"
"	ldr	x9, [x0, #224]\n"
"	msr	nzcv, x9\n"
"	ldr	x9, [x0, #464]\n"
"	mov	sp, x9\n"
"	str	x0, [sp]\n"
"	ldr	x27, [x0, #480]\n"
"	adr	x30, 1f\n"
"	ldp	x2, x3, [x0, #16]\n"
"	ldp	x4, x5, [x0, #32]\n"
"	ldp	x6, x7, [x0, #48]\n"
"	ldp	x8, x9, [x0, #64]\n"
"	ldp	x10, x11, [x0, #80]\n"
"	ldp	x12, x13, [x0, #96]\n"
"	ldp	x14, x15, [x0, #112]\n"
"	ldp	x16, x17, [x0, #128]\n"
"	ldp	x19, x20, [x0, #144]\n"
"	ldp	x21, x22, [x0, #160]\n"
"	ldp	x23, x24, [x0, #176]\n"
"	ldp	x25, x26, [x0, #192]\n"
"	ldp	x28, x29, [x0, #208]\n"
"	ldp	x0, x1, [x0]\n"
"	br	x27\n"
"1:	ldr	x27, [sp]\n"
"	stp	x0, x1, [x27, #232]\n"
"	stp	x2, x3, [x27, #248]\n"
"	stp	x4, x5, [x27, #264]\n"
"	stp	x6, x7, [x27, #280]\n"
"	stp	x8, x9, [x27, #296]\n"
"	stp	x10, x11, [x27, #312]\n"
"	stp	x12, x13, [x27, #328]\n"
"	stp	x14, x15, [x27, #344]\n"
"	stp	x16, x17, [x27, #360]\n"
"	stp	x19, x20, [x27, #376]\n"
"	stp	x21, x22, [x27, #392]\n"
"	stp	x23, x24, [x27, #408]\n"
"	stp	x25, x26, [x27, #424]\n"
"	stp	x28, x29, [x27, #440]\n"
"	mrs	x9, nzcv\n"
"	str	x9, [x27, #456]\n"
"	mov	x9, sp\n"
"	str	x9, [x27, #464]\n"
"	ldr	x9, [x27, #472]\n"
"	mov	sp, x9\n"
"	ldp	x27, x28, [sp, #80]\n"
"	ldp	x25, x26, [sp, #64]\n"
"	ldp	x23, x24, [sp, #48]\n"
"	ldp	x21, x22, [sp, #32]\n"
"	ldp	x19, x20, [sp, #16]\n"
"	ldp	x29, x30, [sp], #96\n"
"	ret\n"
);

#endif
#endif
