/* SPDX-License-Identifier: MIT */
/*
 * arm64/sifted: how does a call end that does not take long enough to be recorded?
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
 *   becomes a refused one before it goes, by one store that fails if a handler has come, or the
 *   exit is C's.
 *
 * A call that has to pass a condition is C's, but if a register says that it does not: such a one
 * gets its frame here, and loses it here, whatever has refused it.
 *
 * As everywhere, what is loaded is an address only if `end` is not 0 afterwards.
 */
#ifndef ARCH_ARM64_SIFTED_H
#define ARCH_ARM64_SIFTED_H

/* x5: the sides of the frames; x0: the cursor. Leaves by 8 if calls of the thread are not
 * sifted, or it is its turn. */
	.macro	sides
	ldr	x5, [x17, #THREAD_SIDES]
	ldr	x0, [x17, #THREAD_CUR]
	ldr	x1, [x17, #THREAD_END]
	sub	x1, x1, #END_SIEVE
	cbnz	x1, 8f
	tbnz	x0, #SIEVE_TURN_BIT, 8f
	.endm

/* x6: the word's function, in its place. */
	.macro	function
	lsr	x6, x16, #REC_FUNC_SHIFT
	lsl	x6, x6, #REC_FUNC_SHIFT
	.endm

/* x4: the plan that holds for the word's function; leaves by 8 if there is none. x3: the session.
 * Changes x1 and x2. */
	.macro	plan
	lsr	x1, x16, #REC_FUNC_SHIFT
	ldr	w2, [x3, #SESSION_PLANS_FUNCS]
	sub	x4, x1, x2
	tbz	x4, #63, 8f
	add	x4, x3, #SESSION_PLANS_AT
	ldarb	w4, [x4]
	tbz	w4, #0, 2f
	add	x1, x1, x2
2:	ldr	x4, [x3, #SESSION_PLANS_OFF]
	add	x4, x4, x3
	ldr	w1, [x4, x1, lsl #2]
	cbz	w1, 8f
	lsl	x1, x1, #3
	add	x4, x4, x1			/* what it leads to depends on it */
	ldr	x2, [x3, #SESSION_PLANS_SIZE]
	sub	x2, x2, x1
	sub	x2, x2, #PLAN_SIZE
	tbnz	x2, #63, 8f
	.endm

/* A register says that the call is refused; leaves by 8 if none does: condition_refuses(). All are
 * on the stack, x5 and x6 behind the others and x30. Changes x1 to x4, x6 and x30.
 *
 * A plan is written over only in a change of plans that has begun after it was replaced: so what
 * was read is of one plan if none has begun since. */
	.macro	refused
	ldr	x3, hot_begin+ARENA_SESSION
	add	x6, x3, #SESSION_PLAN_CHANGES
	ldar	w6, [x6]
	plan
	ldr	x1, [x4, #PLAN_ARGUMENT]
	sub	x1, x1, #1
	lsr	x2, x1, #3
	cbnz	x2, 8f
	sub	x2, x1, #7
	cbz	x2, 8f
	sub	x2, x1, #5
	tbnz	x2, #63, 2f
	add	x1, x1, #1
2:	ldr	x1, [sp, x1, lsl #3]
	ldp	x2, x3, [x4, #PLAN_SCALE]
	mul	x1, x1, x2
	and	x1, x1, x3
	ldp	x2, x3, [x4, #PLAN_LOW]
	sub	x1, x1, x2
	sub	x2, x3, x1			/* is x1 above x3? Both may be 2^63 or more */
	bic	x30, x1, x3
	eon	x1, x1, x3
	and	x1, x1, x2
	orr	x1, x1, x30
	tbz	x1, #63, 8f
	dmb	ishld
	ldr	x3, hot_begin+ARENA_SESSION
	ldr	w1, [x3, #SESSION_PLAN_CHANGES]
	sub	w1, w1, w6
	cbnz	w1, 8f
	.endm

/* The side of the frame at x3, which begins at x1: whose it is, and where what calls around it have
 * read ends. Changes x1 and x6; x2 becomes the application's stack pointer. */
	.macro	put_side
	side_of
	str	x1, [x5, #SIDE_BEGIN]
	ldr	w1, [x5, #(SIDE_INNER + 4 - SIDE_SIZE)]
	lsl	x1, x1, #32
	str	x1, [x5, #SIDE_INNER]
	function
	add	x2, sp, #(S + MORE)
	ubfx	x1, x2, #3, #SIDE_OWNER_BITS
	add	x1, x1, x6
	str	x1, [x5, #SIDE_FUNC]
	.endm

/* The call's frame goes, and that is all; or else its exit is C's. \pending: if nothing has
 * recorded the call up to now; from then on nothing does. */
	.macro	sifted_ends pending=0
	reserve	2
	.if	\pending
	add	x2, sp, #(S + MORE)
	sub	x2, x2, #FRAME_PENDING
	add	x30, x17, x3
9:	ldxr	x1, [x30]
	sub	x1, x1, x2
	cbnz	x1, 8f
	add	x1, x2, #(FRAME_PENDING - FRAME_FAILED)
	stxr	w0, x1, [x30]
	cbnz	w0, 9b
	.endif
	unframe
	timed_done
7:	function
	add	x16, x6, x3, lsl #2
	timed_slow ARENA_SLOW_EXIT
8:	timed_slow ARENA_SLOW_VALUES_EXIT
	.endm

	.macro	sifting how
	.balign 64
\how\()_sifted_entry:
	.cfi_startproc
	timed_pushes
	\how
1:	sides
	ldr	x1, [x17, #THREAD_LEAST]
	tbnz	x1, #63, 8f
	one_more MORE
	mrs	x1, cntvct_el0
	reserve	2
	put_side
	sub	x2, x2, #FRAME_PENDING
	frame
	timed_done
7:	function			/* REC_NONE: the frame is to be settled */
	add	x16, x6, x3, lsl #2
	add	x16, x16, #SETTLE_PENDING
	timed_slow ARENA_SLOW_ENTRY
8:	timed_slow ARENA_SLOW_VALUES_ENTRY
	.cfi_endproc

	.balign 64
\how\()_sifted_exit:
	.cfi_startproc
	timed_pushes
	\how
1:	sides
	innermost MORE
	sub	x2, x2, #FRAME_PENDING
	sub	x1, x1, x2
	cbnz	x1, 8f
	mrs	x1, cntvct_el0
	side_of
	ldr	x2, [x5, #SIDE_BEGIN]
	sub	x1, x1, x2		/* perhaps below 0, by two processors' clocks */
	ldr	x2, [x17, #THREAD_LEAST]
	tbnz	x2, #63, 8f
	sub	x1, x1, x2
	tbz	x1, #63, 8f
	sifted_ends pending=1
	.cfi_endproc
	.endm

/* Of functions whose calls have to pass a condition. Where only so many of a stack are recorded C
 * knows which calls count. */
	.macro	asking how
	.balign 64
\how\()_asking_entry:
	.cfi_startproc
	timed_pushes
	\how
1:	sides
	ldr	w1, [x17, #THREAD_DEEPEST]
	cbnz	w1, 8f
	refused
	one_more MORE
	reserve	2
	mov	x1, #0
	put_side
	sub	x2, x2, #FRAME_FAILED
	frame
	timed_done
7:	function
	add	x16, x6, x3, lsl #2
	add	x16, x16, #SETTLE_FAILED
	timed_slow ARENA_SLOW_ENTRY
8:	timed_slow ARENA_SLOW_VALUES_ENTRY
	.cfi_endproc

	.balign 64
\how\()_asking_exit:
	.cfi_startproc
	timed_pushes
	\how
1:	sides
	innermost MORE
	sub	x2, x2, #FRAME_FAILED
	sub	x1, x1, x2
	cbnz	x1, 8f
	sifted_ends
	.cfi_endproc
	.endm

#endif
