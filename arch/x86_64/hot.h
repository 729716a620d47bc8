/* SPDX-License-Identifier: MIT */
/*
 * x86_64/hot: of what are the recording routines made?
 *
 * Macros for the assembler, which hot.S puts together. Where one says that it leaves by
 * a number, it jumps to the next label of that number.
 */
#ifndef ARCH_X86_64_HOT_H
#define ARCH_X86_64_HOT_H

#include "arch/x86_64/stand.h"

#define WORD 8			/* offsets from %rsp below the pushes */
#define PUSHED 40		/* bytes pushed here */
#define S (PUSHED + 24)		/* the application's stack pointer */
/* Where registers lie if %r8 was pushed before these, and what else is kept; below the stack
 * pointer a handler leaves 128 bytes alone. */
#define KEPT_RDI 16
#define KEPT_RSI 24
#define KEPT_RDX 32
#define KEPT_R8 40
#define KEPT_RAX 56
#define KEPT_RCX 64
#define KEPT_R9 -8
#define KEPT_CHANGES -16

/* A register is pushed, and popped again, and an unwinder is told so; or a word is, which
 * belongs to no register. */
	.macro	keep reg
	push	%\reg
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset \reg, 0
	.endm

	.macro	unkeep reg
	pop	%\reg
	.cfi_adjust_cfa_offset -8
	.cfi_restore \reg
	.endm

	.macro	push_word
	push	%rax
	.cfi_adjust_cfa_offset 8
	.endm

	.macro	pop_word
	pop	%rax
	.cfi_adjust_cfa_offset -8
	.endm

/* Keep what is used: %rdx %rsi %rdi, the word, the flags. */
	.macro	pushes
	keep	rdx
	keep	rsi
	keep	rdi
	push_word
	lahf
	seto	%al
	push_word
	.endm

/* %rsi becomes the thread; leaves by label 8 if there is none, or it is of a thread that
 * has ended and had the same control block. */
	.macro	hot
	mov	hot_begin+ARENA_TLS(%rip), %rcx
	mov	%fs:(%rcx), %rsi
	mov	hot_begin+ARENA_TID(%rip), %rcx
	test	%rsi, %rsi
	jz	8f
	mov	%fs:(%rcx), %ecx
	cmp	THREAD_OWNER(%rsi), %ecx
	jne	8f
	.endm

/* The same for a thread that is known by its thread pointer and its id: it is
 * near the place that its thread pointer says, or the slow path knows where. */
	.macro	seek
	mov	hot_begin+ARENA_TID(%rip), %rcx
	mov	%fs:(%rcx), %ecx
	mov	%fs:0, %rdi
	movabs	$HOME_FACTOR, %rsi
	imul	%rdi, %rsi
	shr	$32, %rsi
	imul	hot_begin+ARENA_HOMES(%rip), %rsi
	shr	$32, %rsi
	shl	$THREAD_SHIFT, %rsi
	add	hot_begin+ARENA_THREADS(%rip), %rsi
	mov	hot_begin+ARENA_PLACES(%rip), %edx
2:	cmp	THREAD_TP(%rsi), %rdi
	jne	3f
	cmp	THREAD_TID(%rsi), %ecx
	je	4f
3:	cmpq	$0, THREAD_TP(%rsi)
	je	8f
	add	$THREAD_SIZE, %rsi
	dec	%edx
	jnz	2b
	jmp	8f
4:
	.endm

/* Is it a routine of the kind that returns for the function whose exit it records? The
 * stub has jumped here, and its way back is in %rcx. */
	.set	leaving, 0

	.macro	arrive
	.if	leaving
	.cfi_def_cfa_offset 0
	.cfi_register rip, rcx
	push	%rcx
	.cfi_def_cfa_offset 8
	.cfi_offset rip, -8
	.endif
	.endm

	.macro	pops
	.cfi_remember_state
	pop_word
	add	$0x7f, %al		/* OF as it was */
	sahf				/* and the rest */
	pop_word
	unkeep	rdi
	unkeep	rsi
	unkeep	rdx
	.endm

/* Back to the stub; or to where that would return. Its way back stays below the stack
 * pointer, for gdb: signal handlers leave these bytes alone. */
	.macro	back
	.if	leaving
	mov	8(%rsp), %rax
	mov	16(%rsp), %rcx
	lea	24(%rsp), %rsp
	.endif
	ret
	.endm

/* On to the payload, which returns to the stub. Processors guess where a return leads by
 * the calls before it: so there is one for this one, too, or all further up would be
 * guessed wrong. */
	.macro	onward where
	.if	leaving
	call	0f
	int3
	.cfi_adjust_cfa_offset 8
0:	lea	8(%rsp), %rsp
	.cfi_adjust_cfa_offset -8
	.endif
	jmp	*hot_begin+\where(%rip)
	.endm

/* The ways out. */
	.macro	done
	pops
	back
	.cfi_restore_state
	.endm

	.macro	slow where
	pops
	onward	\where
	.cfi_restore_state
	.endm

/* %rcx: the cursor, with room for \bytes; leaves by 6. */
	.macro	cursor bytes
	mov	THREAD_CUR(%rsi), %rcx
	.if	\bytes == 8
	cmp	THREAD_END(%rsi), %rcx
	.else
	lea	\bytes - 8(%rcx), %rdx
	cmp	THREAD_END(%rsi), %rdx
	.endif
	jae	6f
	.endm

/* There is no room because the ring, %rdx, is full, and has been since it was
 * found to be, and its reader lives; else leaves by 8. */
	.macro	full
	mov	THREAD_RING(%rsi), %rdx
	mov	THREAD_READER(%rsi), %rax
	cmpq	$END_FULL, THREAD_END(%rsi)
	jne	8f
	testb	$READER_GONE_BIT, READER_GONE_BYTE(%rax)
	jnz	8f
	mov	RING_TAIL(%rdx), %rax
	cmp	THREAD_FULL_TAIL(%rsi), %rax
	jne	8f
	.endm

/* The stack pointer belongs to this stack and is below its innermost frame, whose offset
 * goes to %rdi; leaves by 8. So many bytes more are pushed than by `pushes`. */
	.macro	on_stack more=0
	lea	S+\more(%rsp), %rax
	mov	THREAD_TOP(%rsi), %rdi
	cmp	%rax, (%rsi, %rdi)
	jbe	8f
	cmp	THREAD_LO(%rsi), %rax
	jb	8f
	.endm

/* %rdx: the record's time, shifted to its place; leaves by 8. */
	.macro	clock
	rdtsc
	shl	$32, %rdx
	or	%rax, %rdx
	cmp	THREAD_LIMIT(%rsi), %rdx
	jae	8f
	shl	$2, %rdx
	sub	THREAD_BIAS(%rsi), %rdx
	.endm

/* Reserve \bytes at the cursor, or begin again at 1. %rax: the words' place;
 * %rcx: the cursor behind them. */
	.macro	reserve bytes
	mov	%rcx, %rax
	add	$\bytes, %rcx
	cmpxchg	%rcx, THREAD_CUR(%rsi)
	jne	1b
	.endm

/* Count a loss: as reserve, and then in the ring, at \counter. */
	.macro	lose counter
	mov	%rcx, %rax
	add	$2, %rcx
	cmpxchg	%rcx, THREAD_CUR(%rsi)
	jne	1b
	incq	\counter(%rdx)
	.endm

/* %rdi becomes the offset of one more frame; leaves by 8. */
	.macro	one_more more=0
	on_stack \more
	add	$8, %rdi
	cmp	THREAD_FRAMES_END(%rsi), %rdi
	jae	8f
	.endm

/* Write the frame %rdx there; leaves by 7 if it is to be settled. */
	.macro	frame
	mov	%rdx, (%rsi, %rdi)
	mov	%rdi, THREAD_TOP(%rsi)
	cmp	%rcx, THREAD_CUR(%rsi)
	jne	7f
	.endm

/* Take it away. */
	.macro	unframe
	sub	$8, %rdi
	mov	%rdi, THREAD_TOP(%rsi)
	cmp	%rcx, THREAD_CUR(%rsi)
	jne	7f
	.endm

/* The ring is full: the exit of the innermost call is lost, as its entry was, perhaps, and the
 * frame goes; leaves by 8, and by 7. */
	.macro	lose_exit more=0
	full
	lea	S+\more(%rsp), %rax
	mov	THREAD_TOP(%rsi), %rdi
	sub	(%rsi, %rdi), %rax
	je	5f
	cmp	$7, %rax
	jne	8f
5:	lose	RING_LOST_EXITS
	unframe
	.endm

#endif
