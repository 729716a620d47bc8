/* SPDX-License-Identifier: MIT */
/*
 * arm64/hot: of what are the recording routines made?
 *
 * Macros for the assembler, which hot.S puts together. Where one says that it leaves by
 * a number, it jumps to the next label of that number. No instruction here changes a flag:
 * what is compared is subtracted, and the sign or zero of the difference tested, for no
 * value is 2^63 or more.
 *
 * x16 is the word, x17 the thread, x0 the cursor, x1 the time and then the record, x2 what a
 * frame is to hold, x3 the offset of the innermost frame, x4 the cursor behind the record;
 * x30 is free.
 */
#ifndef ARCH_ARM64_HOT_H
#define ARCH_ARM64_HOT_H

#include "arch/arm64/stand.h"
#include "arch/arm64/tight.h"

#define PUSHED 48		/* bytes pushed here */
#define S (PUSHED + RECORD_PUSHED)	/* the application's stack pointer */

	.macro	number reg, value
	movz	\reg, #((\value) & 0xffff)
	movk	\reg, #((\value) >> 16 & 0xffff), lsl #16
	movk	\reg, #((\value) >> 32 & 0xffff), lsl #32
	movk	\reg, #((\value) >> 48 & 0xffff), lsl #48
	.endm

/* Two registers are pushed, or taken back, and an unwinder is told so. */
	.macro	keep2 one, other
	stp	\one, \other, [sp, #-16]!
	.cfi_adjust_cfa_offset 16
	.cfi_rel_offset \one, 0
	.cfi_rel_offset \other, 8
	.endm

	.macro	unkeep2 one, other
	ldp	\one, \other, [sp], #16
	.cfi_adjust_cfa_offset -16
	.cfi_restore \one
	.cfi_restore \other
	.endm

	.macro	pushes
	stp	x0, x1, [sp, #-PUSHED]!
	.cfi_adjust_cfa_offset PUSHED
	.cfi_rel_offset x0, 0
	.cfi_rel_offset x1, 8
	stp	x2, x3, [sp, #16]
	.cfi_rel_offset x2, 16
	.cfi_rel_offset x3, 24
	stp	x4, x30, [sp, #32]
	.cfi_rel_offset x4, 32
	.cfi_rel_offset x30, 40
	.endm

	.macro	pops
	.cfi_remember_state
	ldp	x4, x30, [sp, #32]
	.cfi_restore x4
	.cfi_restore x30
	ldp	x2, x3, [sp, #16]
	.cfi_restore x2
	.cfi_restore x3
	ldp	x0, x1, [sp], #PUSHED
	.cfi_adjust_cfa_offset -PUSHED
	.cfi_restore x0
	.cfi_restore x1
	.endm

/* x17 becomes the thread; leaves by label 8 if there is none, or it is of a thread that
 * has ended and had the same control block. Threads of Go's runtime alone have no thread
 * pointer, but a struct m: see cpu_thread_base(). Changes x0 and x1. */
	.macro	hot
	mrs	x0, tpidr_el0
	cbnz	x0, 0f
	cbz	x28, 8f
	ldr	x0, [x28, #G_M]
	cbz	x0, 8f
0:	ldr	x1, hot_begin+ARENA_TLS
	ldr	x17, [x0, x1]
	ldr	x1, hot_begin+ARENA_TID
	cbz	x17, 8f
	ldr	w0, [x0, x1]
	ldr	w1, [x17, #THREAD_OWNER]
	sub	w0, w0, w1
	cbnz	w0, 8f
	.endm

/* The same for a thread that is known by its thread pointer and its id: it is
 * near the place that its thread pointer says, or the slow path knows where. Changes x0
 * to x4. */
	.macro	seek
	mrs	x0, tpidr_el0
	ldr	x1, hot_begin+ARENA_TID
	cbz	x0, 8f
	ldr	w1, [x0, x1]
	number	x2, HOME_FACTOR
	mul	x2, x0, x2
	lsr	x2, x2, #32
	ldr	x3, hot_begin+ARENA_HOMES
	mul	x2, x2, x3
	lsr	x2, x2, #32
	ldr	x3, hot_begin+ARENA_THREADS
	add	x17, x3, x2, lsl #THREAD_SHIFT
	ldr	w4, hot_begin+ARENA_PLACES
2:	ldr	x2, [x17, #THREAD_TP]
	sub	x3, x2, x0
	cbnz	x3, 3f
	ldr	w3, [x17, #THREAD_TID]
	sub	w3, w3, w1
	cbz	w3, 4f
3:	cbz	x2, 8f
	add	x17, x17, #(THREAD_SIZE >> 12), lsl #12
	sub	w4, w4, #1
	cbnz	w4, 2b
	b	8f
4:
	.endm

/* The ways out. The payload returns to the stub. */
	.macro	done
	pops
	ret
	.cfi_restore_state
	.endm

	.macro	onward where
	ldr	x17, hot_begin+\where
	br	x17
	.endm

	.macro	slow where
	pops
	onward	\where
	.cfi_restore_state
	.endm

/* x0: the cursor, with room for \bytes; leaves by 6. `end` is loaded behind it. */
	.macro	cursor bytes
	ldr	x0, [x17, #THREAD_CUR]
	ldr	x2, [x17, #THREAD_END]
	add	x1, x0, #(\bytes - 8)
	sub	x2, x1, x2
	tbz	x2, #63, 6f
	.endm

/* There is no room because the ring, x30, is full, and has been since it was
 * found to be, and its reader lives; else leaves by 8. */
	.macro	full
	ldr	x30, [x17, #THREAD_RING]
	ldr	x1, [x17, #THREAD_READER]
	ldr	x2, [x17, #THREAD_END]
	sub	x2, x2, #END_FULL
	cbnz	x2, 8f
	ldrb	w1, [x1, #READER_GONE_BYTE]
	tbnz	w1, #6, 8f			/* READER_GONE_BIT */
	ldr	x1, [x30, #RING_TAIL]
	ldr	x2, [x17, #THREAD_FULL_TAIL]
	sub	x1, x1, x2
	cbnz	x1, 8f
	.endm

/* x2: the application's stack pointer, x3: the offset of the innermost frame, x1: what
 * that holds. So many bytes more are pushed than by `pushes`. */
	.macro	innermost more=0
	add	x2, sp, #(S + \more)
	ldr	x3, [x17, #THREAD_TOP]
	ldr	x1, [x17, x3]
	.endm

/* The stack pointer belongs to this stack and is below its innermost frame; leaves by 8. */
	.macro	on_stack more=0
	innermost \more
	sub	x1, x2, x1
	tbz	x1, #63, 8f
	ldr	x1, [x17, #THREAD_LO]
	sub	x1, x2, x1
	tbnz	x1, #63, 8f
	.endm

/* x1: the record's time, shifted to its place; leaves by 8. Changes x4. */
	.macro	clock
	mrs	x1, cntvct_el0
	ldr	x4, [x17, #THREAD_LIMIT]
	sub	x4, x1, x4
	tbz	x4, #63, 8f
	ldr	x4, [x17, #THREAD_BIAS]
	lsl	x1, x1, #REC_TIME_SHIFT
	sub	x1, x1, x4
	.endm

/* The cursor goes on by \bytes, or all begins again at 1; x4 is then the cursor behind
 * them. A signal handler that comes in between clears the monitor as it ends, so that the
 * store fails: see hot.S. */
	.macro	advance bytes, status
9:	ldxr	x4, [x17]			/* THREAD_CUR */
	sub	x4, x4, x0
	cbnz	x4, 1b
	add	x4, x0, #\bytes
	stxr	\status, x4, [x17]
	cbnz	\status, 9b
	.endm

	.macro	reserve bytes
	advance	\bytes, w30
	.endm

/* Add \what to the word at \at, where only handlers may come between. */
	.macro	plus at, what, word, status
9:	ldxr	\word, [\at]
	add	\word, \word, \what
	stxr	\status, \word, [\at]
	cbnz	\status, 9b
	.endm

/* Count a loss: as reserve, and then in the ring, at \counter. */
	.macro	lose counter
	advance	2, w1
	add	x30, x30, #\counter
	plus	x30, #1, x1, w0
	.endm

/* x3 becomes the offset of one more frame; leaves by 8. */
	.macro	one_more more=0
	on_stack \more
	add	x3, x3, #8
	ldr	x1, [x17, #THREAD_FRAMES_END]
	sub	x1, x3, x1
	tbz	x1, #63, 8f
	.endm

/* Leaves by 7 if a handler has recorded or lost since the cursor moved. */
	.macro	alone
	ldr	x1, [x17, #THREAD_CUR]
	sub	x1, x1, x4
	cbnz	x1, 7f
	.endm

/* The frame x2 is there before its offset x3 says so. Changes x30. */
	.macro	put_frame
	str	x2, [x17, x3]
	add	x30, x17, #THREAD_TOP
	stlr	x3, [x30]
	.endm

/* Write it; leaves by 7 if it is to be settled. */
	.macro	frame
	put_frame
	alone
	.endm

/* Take it away. */
	.macro	unframe
	sub	x3, x3, #8
	str	x3, [x17, #THREAD_TOP]
	alone
	.endm

/* The ring is full: the exit of the innermost call is lost, as its entry was, perhaps, and the
 * frame goes; leaves by 8, and by 7. */
	.macro	lose_exit more=0
	full
	innermost \more
	sub	x1, x2, x1
	cbz	x1, 5f
	sub	x1, x1, #7
	cbnz	x1, 8f
5:	lose	RING_LOST_EXITS
	unframe
	.endm

#endif
