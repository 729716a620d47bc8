/* SPDX-License-Identifier: MIT */
/*
 * x86_64/timed: how does a call get into the sums of its function?
 *
 * Entry and exit where calls are timed (payload/timing.h). What hot.S says of signals is
 * so here, too. In particular:
 *
 * - The frame is there, and the innermost, before its side is written: a handler in
 *   between uses those behind it. What it does to the choice of stack moves `cur`, and
 *   is settled.
 * - At the exit all is read of the side before the frame goes, and all is added up behind
 *   that: a function that siglongjmp leaves in between has a call too few, and none twice.
 *
 * - Where the bucket is comes out late, and whatever is to be loaded then would wait for
 *   it: half of a floor. So it is compared with the last one, which is guessed to be the
 *   same, and known at once.
 *
 * As everywhere, what is loaded is an address only if `end` is not 0 afterwards.
 */
#ifndef ARCH_X86_64_TIMED_H
#define ARCH_X86_64_TIMED_H

#define MORE 16			/* bytes that are pushed here beside `pushes` */

	.macro	timed_pushes
	keep	r8
	keep	r9
	pushes
	.endm

	.macro	timed_pops
	pops
	unkeep	r9
	unkeep	r8
	.endm

	.macro	timed_done
	timed_pops
	back
	.cfi_restore_state
	.endm

	.macro	timed_slow where
	timed_pops
	onward	\where
	.cfi_restore_state
	.endm

/* %r8: the sides of the frames; %r9: what is the function's, of those that lie from
 * \first to \end with 1 << \shift bytes each; %rcx: the cursor. Leaves by 8 if calls of
 * the thread are not timed. */
	.macro	of_function first, end, shift
	mov	THREAD_SIDES(%rsi), %r8
	mov	WORD(%rsp), %r9
	shr	$REC_FUNC_SHIFT - \shift, %r9
	add	\first(%rsi), %r9
	cmp	\end(%rsi), %r9
	jae	8f
	mov	THREAD_CUR(%rsi), %rcx
	cmpq	$END_TIMED, THREAD_END(%rsi)
	jne	8f
	.endm

/* %r8: the side of the frame at offset %rdi. */
	.macro	side_of
	lea	(%rdi, %rdi, SIDE_WORDS - 1), %rax
	add	%rax, %r8
	.endm

	.macro	ticks
	rdtsc
	shl	$32, %rdx
	or	%rax, %rdx
	.endm

/* %rdx: the number of the bucket of %rdx ticks. Uses %rax and %ecx. */
	.macro	bucket
	mov	%rdx, %rax
	shl	$SCALE_SHIFT, %rax
	mulq	THREAD_SCALE(%rsi)
	mov	$BUCKETS_FROM - 1, %ecx
	cmp	%rcx, %rdx
	cmovb	%rcx, %rdx
	bsr	%rdx, %rax
	lea	-1(%rax), %ecx
	shr	%cl, %rdx
	lea	-9(%rdx, %rax, 2), %rdx
	mov	$BUCKETS - 1, %ecx
	cmp	%rcx, %rdx
	cmova	%rcx, %rdx
	.endm

	.macro	timed_exiting how, what
	.balign 64
\how\()_timed_\what\():
	.cfi_startproc
	arrive
	timed_pushes
	\how
1:	of_function THREAD_TIMINGS, THREAD_TIMED, TIMING_SHIFT
	lea	S+MORE(%rsp), %rax
	mov	THREAD_TOP(%rsi), %rdi
	cmp	%rax, (%rsi, %rdi)
	jne	8f
	ticks
	reserve	2
	side_of
	sub	SIDE_BEGIN(%r8), %rdx
	jae	2f
	xor	%edx, %edx		/* by two processors' clocks */
2:	add	%rdx, SIDE_INNER-SIDE_SIZE(%r8)
	mov	SIDE_INNER(%r8), %rax
	mov	%rdx, %r8
	sub	%rax, %r8
	jae	3f
	xor	%r8d, %r8d
3:	sub	$8, %rdi
	mov	%rdi, THREAD_TOP(%rsi)
	add	%r8, TIMING_SELF(%r9)
	add	%rdx, TIMING_TOTAL(%r9)
4:	mov	TIMING_MOST(%r9), %rax
	cmp	%rdx, %rax
	jae	5f
	cmpxchg	%rdx, TIMING_MOST(%r9)
	jne	4b
5:	mov	%rcx, %r8
	bucket
	mov	TIMING_LAST(%r9), %rax
	cmp	%rax, %rdx
	jne	9f
6:	incq	TIMING_BUCKETS(%r9, %rax, 8)
	cmp	%r8, THREAD_CUR(%rsi)
	jne	7f
	timed_done
9:	mov	%rdx, %rax
	mov	%rax, TIMING_LAST(%r9)
	jmp	6b
7:	shl	$2, %rdi
	mov	%rdi, WORD(%rsp)
8:	timed_slow ARENA_SLOW_EXIT
	.cfi_endproc
	.endm

	.macro	timing how
	.balign 64
\how\()_timed_entry:
	.cfi_startproc
	timed_pushes
	\how
1:	of_function THREAD_COUNTS, THREAD_COUNTED, 3
	one_more MORE
	ticks
	reserve	2
	lea	S+MORE(%rsp), %rax
	mov	%rax, (%rsi, %rdi)
	mov	%rdi, THREAD_TOP(%rsi)
	side_of
	mov	%rdx, SIDE_BEGIN(%r8)
	movq	$0, SIDE_INNER(%r8)
	mov	WORD(%rsp), %rax
	shr	$REC_FUNC_SHIFT, %rax
	mov	%rax, SIDE_FUNC(%r8)
	incq	(%r9)
	cmp	%rcx, THREAD_CUR(%rsi)
	jne	7f
	timed_done
7:	shl	$2, %rdi		/* REC_NONE: the frame is to be settled */
	mov	%rdi, WORD(%rsp)
8:	timed_slow ARENA_SLOW_ENTRY
	.cfi_endproc

	timed_exiting \how, exit
	.endm

#endif
