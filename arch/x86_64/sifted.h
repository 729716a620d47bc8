/* SPDX-License-Identifier: MIT */
/*
 * x86_64/sifted: how does a call end that does not take long enough to be recorded?
 *
 * Entry and exit where calls are sifted (payload/sieve.h). A call that has taken long enough, or
 * that has no pending frame, is left to C, and so is each call of a thread whose `least` says so
 * (LEAST_ASKS, below 0), or whose count is full (SIEVE_TURN). What hot.S says of signals is so
 * here, too: `cur` moves with each entry and exit. In particular:
 *
 * - The side is written before its frame: then no side is ever taken for that of an earlier call
 *   in the same place. A handler that comes between the two may use it, for a call that is further
 *   down, as the side says. `cur` has moved then, and the pair is settled.
 * - A call that ends may be recorded by a handler as long as its frame is a pending one. So that
 *   becomes a refused one before it goes, by one instruction, or the exit is C's.
 *
 * A call that has to pass a condition is C's, but if a register says that it does not: such a one
 * gets its frame here, and loses it here, whatever has refused it.
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
 * sifted, or it is its turn. */
	.macro	sides
	mov	THREAD_SIDES(%rsi), %r8
	mov	THREAD_CUR(%rsi), %rcx
	cmpq	$END_SIEVE, THREAD_END(%rsi)
	jne	8f
	test	$SIEVE_TURN, %ecx
	jnz	8f
	.endm

/* %rax: the word's function, in its place. */
	.macro	function
	mov	WORD(%rsp), %rax
	shr	$REC_FUNC_SHIFT, %rax
	shl	$REC_FUNC_SHIFT, %rax
	.endm

/* %rax: the plan that holds for the word's function; leaves by 8 if there is none. %rdi: the
 * session. */
	.macro	plan
	mov	WORD(%rsp), %rdx
	shr	$REC_FUNC_SHIFT, %rdx
	mov	SESSION_PLANS_FUNCS(%rdi), %eax
	cmp	%rax, %rdx
	jae	8f
	testb	$1, SESSION_PLANS_AT(%rdi)
	jz	2f
	add	%rax, %rdx
2:	mov	SESSION_PLANS_OFF(%rdi), %rax
	add	%rdi, %rax
	mov	(%rax, %rdx, 4), %edx
	shl	$3, %rdx
	jz	8f
	add	%rdx, %rax
	add	$PLAN_SIZE, %rdx
	cmp	SESSION_PLANS_SIZE(%rdi), %rdx
	ja	8f
	.endm

/* A register says that the call is refused; leaves by 8 if none does: condition_refuses(). A plan
 * is written over only in a change of plans that has begun after it was replaced: so what was read
 * is of one plan if none has begun since. */
	.macro	refused
	mov	hot_begin+ARENA_SESSION(%rip), %rdi
	mov	SESSION_PLAN_CHANGES(%rdi), %eax
	mov	%eax, KEPT_CHANGES(%rsp)
	plan
	mov	PLAN_ARGUMENT(%rax), %rdi
	dec	%rdi
	cmp	$6, %rdi
	jae	8f
	lea	arguments(%rip), %rdx
	movsbq	(%rdx, %rdi), %rdi
	mov	%r9, KEPT_R9(%rsp)
	mov	(%rsp, %rdi), %rdx
	imul	PLAN_SCALE(%rax), %rdx
	and	PLAN_MASK(%rax), %rdx
	sub	PLAN_LOW(%rax), %rdx
	cmp	PLAN_SPAN(%rax), %rdx
	jbe	8f
	mov	hot_begin+ARENA_SESSION(%rip), %rdi
	mov	SESSION_PLAN_CHANGES(%rdi), %eax
	cmp	KEPT_CHANGES(%rsp), %eax
	jne	8f
	.endm

/* The side of the frame at %rdi, which begins at %rdx: whose it is, and where what calls around it
 * have read ends. Changes %rax. */
	.macro	put_side
	side_of
	mov	%rdx, SIDE_BEGIN(%r8)
	mov	SIDE_INNER + 4 - SIDE_SIZE(%r8), %eax
	movl	$0, SIDE_INNER(%r8)
	mov	%eax, SIDE_INNER + 4(%r8)
	function
	lea	S+SIFTED(%rsp), %rdx
	shl	$64 - SIDE_OWNER_BITS - 3, %rdx
	shr	$64 - SIDE_OWNER_BITS, %rdx
	or	%rdx, %rax
	mov	%rax, SIDE_FUNC(%r8)
	.endm

/* The call's frame goes, and that is all; or else its exit is C's. \pending: if nothing has
 * recorded the call up to now; from then on nothing does. */
	.macro	sifted_ends pending=0
	reserve	2
	.if	\pending
	lea	S+SIFTED-FRAME_PENDING(%rsp), %rax
	lea	S+SIFTED-FRAME_FAILED(%rsp), %rdx
	cmpxchg	%rdx, (%rsi, %rdi)
	jne	8f
	.endif
	unframe
	sifted_done
7:	function
	lea	(%rax, %rdi, 4), %rax
	mov	%rax, WORD(%rsp)
	sifted_slow ARENA_SLOW_EXIT
8:	sifted_slow ARENA_SLOW_VALUES_EXIT
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
	sifted_ends pending=1
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
	put_side
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

/* Of functions whose calls have to pass a condition. Where only so many of a stack are recorded C
 * knows which calls count. */
	.macro	asking how
	.balign 64
\how\()_asking_entry:
	.cfi_startproc
	sifted_pushes
	\how
1:	sides
	cmpl	$0, THREAD_DEEPEST(%rsi)
	jne	8f
	refused
	one_more SIFTED
	reserve	2
	xor	%edx, %edx
	put_side
	lea	S+SIFTED-FRAME_FAILED(%rsp), %rdx
	frame
	sifted_done
7:	function
	lea	SETTLE_FAILED(%rax, %rdi, 4), %rax
	mov	%rax, WORD(%rsp)
	sifted_slow ARENA_SLOW_ENTRY
8:	sifted_slow ARENA_SLOW_VALUES_ENTRY
	.cfi_endproc

	.balign 64
\how\()_asking_exit:
	.cfi_startproc
	sifted_pushes
	\how
1:	sides
	lea	S+SIFTED-FRAME_FAILED(%rsp), %rax
	mov	THREAD_TOP(%rsi), %rdi
	cmp	%rax, (%rsi, %rdi)
	jne	8f
	sifted_ends
	.cfi_endproc
	.endm

#endif
