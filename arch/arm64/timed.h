/* SPDX-License-Identifier: MIT */
/*
 * arm64/timed: how does a call get into the sums of its function?
 *
 * Entry and exit where calls are timed (payload/timing.h). What hot.S says of signals is
 * so here, too. In particular:
 *
 * - The frame is there, and the innermost, before its side is written: a handler in
 *   between uses those behind it. What it does to the choice of stack moves `cur`, and
 *   is settled.
 * - At the exit all is read of the side before the frame goes, and all is added up behind
 *   that: a function that siglongjmp leaves in between has a call too few, and none twice.
 *   The side of the call around it is no handler's while the frame is there, so that an
 *   ordinary store adds to it.
 *
 * As everywhere, what is loaded is an address only if `end` is not 0 afterwards.
 */
#ifndef ARCH_ARM64_TIMED_H
#define ARCH_ARM64_TIMED_H

#define MORE 16			/* bytes that are pushed here beside `pushes` */

	.macro	timed_pushes
	keep2	x5, x6
	pushes
	.endm

	.macro	timed_pops
	pops
	unkeep2	x5, x6
	.endm

	.macro	timed_done
	timed_pops
	ret
	.cfi_restore_state
	.endm

	.macro	timed_slow where
	timed_pops
	onward	\where
	.cfi_restore_state
	.endm

/* x5: the sides of the frames; x6: what is the function's, of those that lie from
 * \first to \end with 1 << \shift bytes each; x0: the cursor. Leaves by 8 if calls of
 * the thread are not timed. */
	.macro	of_function first, end, shift
	ldr	x5, [x17, #THREAD_SIDES]
	ldr	x1, [x17, #\first]
	lsr	x6, x16, #(REC_FUNC_SHIFT - \shift)
	add	x6, x6, x1
	ldr	x1, [x17, #\end]
	sub	x1, x6, x1
	tbz	x1, #63, 8f
	ldr	x0, [x17, #THREAD_CUR]
	ldr	x1, [x17, #THREAD_END]
	sub	x1, x1, #END_TIMED
	cbnz	x1, 8f
	.endm

/* x5: the side of the frame at offset x3. Changes x2. */
	.macro	side_of
	add	x2, x3, x3, lsl #1		/* SIDE_WORDS */
	add	x5, x5, x2
	.endm

/* x1: the number of the bucket of x1 ticks. Changes x2 and x5. */
	.macro	bucket
	ldr	x2, [x17, #THREAD_SCALE]
	lsl	x1, x1, #SCALE_SHIFT
	umulh	x1, x1, x2
	sub	x2, x1, #BUCKETS_FROM
	tbz	x2, #63, 2f
	mov	x1, #(BUCKETS_FROM - 1)
2:	clz	x2, x1
	mov	x5, #62
	sub	x5, x5, x2			/* its highest bit, less one */
	lsr	x1, x1, x5
	add	x1, x1, x5, lsl #1
	sub	x1, x1, #7
	sub	x2, x1, #BUCKETS
	tbnz	x2, #63, 3f
	mov	x1, #(BUCKETS - 1)
3:
	.endm

	.macro	timing how
	.balign 64
\how\()_timed_entry:
	.cfi_startproc
	timed_pushes
	\how
1:	of_function THREAD_COUNTS, THREAD_COUNTED, 3
	one_more MORE
	mrs	x1, cntvct_el0
	reserve	2
	put_frame
	side_of
	str	x1, [x5, #SIDE_BEGIN]
	str	xzr, [x5, #SIDE_INNER]
	lsr	x2, x16, #REC_FUNC_SHIFT
	str	x2, [x5, #SIDE_FUNC]
	plus	x6, #1, x1, w2
	alone
	timed_done
7:	lsl	x16, x3, #2		/* REC_NONE: the frame is to be settled */
8:	timed_slow ARENA_SLOW_ENTRY
	.cfi_endproc

	.balign 64
\how\()_timed_exit:
	.cfi_startproc
	timed_pushes
	\how
1:	of_function THREAD_TIMINGS, THREAD_TIMED, TIMING_SHIFT
	innermost MORE
	sub	x1, x1, x2
	cbnz	x1, 8f
	mrs	x1, cntvct_el0
	reserve	2
	side_of
	ldr	x2, [x5, #SIDE_BEGIN]
	sub	x1, x1, x2
	tbz	x1, #63, 2f
	mov	x1, #0			/* by two processors' clocks */
2:	ldr	x2, [x5, #(SIDE_INNER - SIDE_SIZE)]
	add	x2, x2, x1
	str	x2, [x5, #(SIDE_INNER - SIDE_SIZE)]
	ldr	x2, [x5, #SIDE_INNER]
	sub	x2, x1, x2
	tbz	x2, #63, 3f
	mov	x2, #0
3:	sub	x3, x3, #8
	str	x3, [x17, #THREAD_TOP]
	add	x5, x6, #TIMING_SELF
	plus	x5, x2, x16, w30
	add	x5, x6, #TIMING_TOTAL
	plus	x5, x1, x16, w30
	add	x5, x6, #TIMING_MOST
4:	ldxr	x2, [x5]
	sub	x16, x2, x1
	tbz	x16, #63, 5f
	stxr	w16, x1, [x5]
	cbnz	w16, 4b
5:	bucket
	ldr	x2, [x6, #TIMING_LAST]
	sub	x2, x2, x1
	cbz	x2, 6f
	str	x1, [x6, #TIMING_LAST]
6:	add	x5, x6, x1, lsl #3
	add	x5, x5, #TIMING_BUCKETS
	plus	x5, #1, x1, w2
	alone
	timed_done
7:	lsl	x16, x3, #2
8:	timed_slow ARENA_SLOW_EXIT
	.cfi_endproc
	.endm

#endif
