/* SPDX-License-Identifier: MIT */
/*
 * arm64/reads: how does a call get recorded of which values are read, if all of these are in
 * registers?
 *
 * Entry and exit of hot.S, with an EXT_REGISTERS before the record, for which the same stxr has
 * reserved room. Its header is written behind its body, with release, and then the record, with
 * release as each. A siglongjmp in between leaves a hole where the record is to be, by which the
 * reader knows that these registers are no other call's. What hot.S says of signals is so here,
 * too.
 *
 * x5 and x6 are pushed beside `pushes`, and free; so the registers are all on the stack.
 */
#ifndef ARCH_ARM64_READS_H
#define ARCH_ARM64_READS_H

/* x30: the upper bytes so far. Register \i is the (\i)th of those that were pushed. */
	.macro	put_pushed i
	.if	\i < 5
	ldr	x5, [sp, #(8 * \i)]
	.else
	ldr	x5, [sp, #(PUSHED + 8 * (\i - 5))]
	.endif
	lsl	x6, x5, #8
	add	x6, x6, #VALUES_LOW
	str	x6, [x0, #(8 * (\i + 1))]
	lsr	x5, x5, #56
	bfi	x30, x5, #(8 * (\i + 1)), #8
	.endm

/* The first \n of them, the header, and the record. x0: the words' place, x1: the time. */
	.macro	put_read n
	mov	x30, #VALUES_LOW
	.irp	i, 0, 1, 2, 3, 4, 5, 6
	.if	\i < \n
	put_pushed \i
	.endif
	.endr
	str	x30, [x0, #(8 * (\n + 1))]
	number	x5, (REC_EXT | EXT_REGISTERS << REC_FUNC_SHIFT | (\n + 1) << REC_WORDS_SHIFT)
	add	x5, x5, x1
	stlr	x5, [x0]
	add	x1, x1, x16
	add	x0, x0, #(8 * (\n + 2))
	stlr	x1, [x0]
	.endm

	.macro	read_entering how, n
	.balign 64
\how\()_read\n\()_entry:
	.cfi_startproc
	timed_pushes
	\how
1:	cursor	8*(\n+3)
	one_more MORE
	clock
	reserve	8*(\n+3)
	put_read \n
	frame
	timed_done
6:	full
	one_more MORE
	lose	RING_LOST_ENTRIES
	sub	x2, x2, #7
	frame
	timed_done
7:	and	x2, x2, #1		/* as in hot.S */
	lsl	x16, x3, #2
	add	x16, x16, x2, lsl #2
	timed_slow ARENA_SLOW_ENTRY
8:	timed_slow ARENA_SLOW_VALUES_ENTRY
	.cfi_endproc
	.endm

	.macro	read_exiting how, n
	.balign 64
\how\()_read\n\()_exit:
	.cfi_startproc
	timed_pushes
	\how
1:	cursor	8*(\n+3)
	innermost MORE
	sub	x1, x1, x2
	cbnz	x1, 8f
	clock
	reserve	8*(\n+3)
	put_read \n
	unframe
	timed_done
6:	lose_exit MORE
	timed_done
7:	lsl	x16, x3, #2
	timed_slow ARENA_SLOW_EXIT
8:	timed_slow ARENA_SLOW_VALUES_EXIT
	.cfi_endproc
	.endm

	.macro	reading how
	.irp	n, 1, 2, 3, 4, 5, 6, 7
	read_entering \how, \n
	.endr
	.irp	n, 1, 2
	read_exiting \how, \n
	.endr
	.endm

#endif
