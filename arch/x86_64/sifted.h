/* SPDX-License-Identifier: MIT */
/*
 * x86_64/sifted: how does a call end that does not take long enough to be recorded?
 *
 * Entry and exit where calls are sifted (payload/sieve.h). A call that has taken long enough, or
 * that has no pending frame, is left to C, and so is each call of a thread whose `least` says so
 * (LEAST_ASKS, below 0). What hot.S says of signals is so here, too: `cur` moves
 * with each entry and exit. In particular:
 *
 * - The side is written before its frame: then no side is ever taken for that of an earlier call
 *   in the same place. A handler that comes between the two may use it, for a call that is further
 *   down, as the side says. `cur` has moved then, and the pair is settled.
 * - A call that ends may be recorded by a handler right before its frame goes. That is settled,
 *   too: then its exit is recorded.
 *
 * As everywhere, what is loaded is an address only if `end` is not 0 afterwards.
 */
#ifndef ARCH_X86_64_SIFTED_H
#define ARCH_X86_64_SIFTED_H

#define SIFTED 8		/* bytes that are pushed here beside `pushes` */

	.macro	sifted_pushes
	keep	r8
	pushes
	.endm

	.macro	sifted_pops
	pops
	unkeep	r8
	.endm

	.macro	sifted_done
	sifted_pops
	back
	.cfi_restore_state
	.endm

	.macro	sifted_slow where
	sifted_pops
	onward	\where
	.cfi_restore_state
	.endm

/* %r8: the sides of the frames; %rcx: the cursor. Leaves by 8 if calls of the thread are not
 * sifted. */
	.macro	sides
	mov	THREAD_SIDES(%rsi), %r8
	mov	THREAD_CUR(%rsi), %rcx
	cmpq	$END_SIEVE, THREAD_END(%rsi)
	jne	8f
	.endm

/* %rax: the word's function, in its place. */
	.macro	function
	mov	WORD(%rsp), %rax
	shr	$REC_FUNC_SHIFT, %rax
	shl	$REC_FUNC_SHIFT, %rax
	.endm

	.macro	sifted_exiting how, what
	.balign 64
\how\()_sifted_\what\():
	.cfi_startproc
	arrive
	sifted_pushes
	\how
1:	sides
	lea	S+SIFTED-FRAME_PENDING(%rsp), %rax
	mov	THREAD_TOP(%rsi), %rdi
	cmp	%rax, (%rsi, %rdi)
	jne	8f
	ticks
	side_of
	sub	SIDE_BEGIN(%r8), %rdx
	jae	2f
	xor	%edx, %edx		/* by two processors' clocks */
2:	cmp	THREAD_LEAST(%rsi), %rdx
	jge	8f
	reserve	2
	unframe
	sifted_done
7:	function
	lea	(%rax, %rdi, 4), %rax
	mov	%rax, WORD(%rsp)
	sifted_slow ARENA_SLOW_EXIT
8:	sifted_slow ARENA_SLOW_VALUES_EXIT
	.cfi_endproc
	.endm

	.macro	sifting how
	.balign 64
\how\()_sifted_entry:
	.cfi_startproc
	sifted_pushes
	\how
1:	sides
	cmpq	$0, THREAD_LEAST(%rsi)
	jl	8f
	one_more SIFTED
	ticks
	reserve	2
	side_of
	mov	%rdx, SIDE_BEGIN(%r8)
	movq	$0, SIDE_INNER(%r8)
	function
	lea	S+SIFTED(%rsp), %rdx
	shl	$64 - SIDE_OWNER_BITS - 3, %rdx
	shr	$64 - SIDE_OWNER_BITS, %rdx
	or	%rdx, %rax
	mov	%rax, SIDE_FUNC(%r8)
	lea	S+SIFTED-FRAME_PENDING(%rsp), %rdx
	frame
	sifted_done
7:	function			/* REC_NONE: the frame is to be settled */
	lea	SETTLE_PENDING(%rax, %rdi, 4), %rax
	mov	%rax, WORD(%rsp)
	sifted_slow ARENA_SLOW_ENTRY
8:	sifted_slow ARENA_SLOW_VALUES_ENTRY
	.cfi_endproc

	sifted_exiting \how, exit
	.endm

#endif
