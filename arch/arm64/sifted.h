/* SPDX-License-Identifier: MIT */
/*
 * arm64/sifted: how does a call end that does not take long enough to be recorded?
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
#ifndef ARCH_ARM64_SIFTED_H
#define ARCH_ARM64_SIFTED_H

/* x5: the sides of the frames; x0: the cursor. Leaves by 8 if calls of the thread are not
 * sifted. */
	.macro	sides
	ldr	x5, [x17, #THREAD_SIDES]
	ldr	x0, [x17, #THREAD_CUR]
	ldr	x1, [x17, #THREAD_END]
	sub	x1, x1, #END_SIEVE
	cbnz	x1, 8f
	.endm

/* x6: the word's function, in its place. */
	.macro	function
	lsr	x6, x16, #REC_FUNC_SHIFT
	lsl	x6, x6, #REC_FUNC_SHIFT
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
	side_of
	str	x1, [x5, #SIDE_BEGIN]
	str	xzr, [x5, #SIDE_INNER]
	function
	add	x2, sp, #(S + MORE)
	ubfx	x1, x2, #3, #SIDE_OWNER_BITS
	add	x1, x1, x6
	str	x1, [x5, #SIDE_FUNC]
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
	reserve	2
	unframe
	timed_done
7:	function
	add	x16, x6, x3, lsl #2
	timed_slow ARENA_SLOW_EXIT
8:	timed_slow ARENA_SLOW_VALUES_EXIT
	.cfi_endproc
	.endm

#endif
