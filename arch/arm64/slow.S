/* SPDX-License-Identifier: MIT */
/*
 * slow: how does a recording routine that is out of its depth call C?
 *
 * Entered by a jump from hot.S, in the state in which a stub calls hot.S: x16 the word, x30
 * the way back to the stub, sp + RECORD_PUSHED the application's stack pointer. Keeps every
 * register but x16, x17 and x30, and all flags; vector state is not used by the C code
 * (-mgeneral-regs-only). Takes less than 700 bytes of the application's stack, which may be a
 * small one for signals: see tools/payload-check.sh.
 */
#include "arch/arm64/stand.h"
#include "arch/arm64/tight.h"

	.text

/* 1: what is pushed is told to unwinders. */
	.set	told, 1

	.macro	keep2 one, other, at
	stp	\one, \other, [sp, #\at]
	.if	told
	.cfi_rel_offset \one, \at
	.cfi_rel_offset \other, \at + 8
	.endif
	.endm

	.macro	unkeep2 one, other, at
	ldp	\one, \other, [sp, #\at]
	.if	told
	.cfi_restore \one
	.cfi_restore \other
	.endif
	.endm

#define SAVED 176

/* What C may change, but x16 and x17; below it a record of frame pointers, for what samples
 * the thread may walk them. */
	.macro	pushes
	stp	x29, x30, [sp, #-SAVED]!
	.if	told
	.cfi_adjust_cfa_offset SAVED
	.cfi_rel_offset x29, 0
	.cfi_rel_offset x30, 8
	.endif
	mov	x29, sp
	keep2	x0, x1, 16
	keep2	x2, x3, 32
	keep2	x4, x5, 48
	keep2	x6, x7, 64
	keep2	x8, x9, 80
	keep2	x10, x11, 96
	keep2	x12, x13, 112
	keep2	x14, x15, 128
	str	x18, [sp, #144]
	.if	told
	.cfi_rel_offset x18, 144
	.endif
	mrs	x0, nzcv
	str	x0, [sp, #152]
	.endm

	.macro	pops
	ldr	x0, [sp, #152]
	msr	nzcv, x0
	ldr	x18, [sp, #144]
	.if	told
	.cfi_restore x18
	.endif
	unkeep2	x14, x15, 128
	unkeep2	x12, x13, 112
	unkeep2	x10, x11, 96
	unkeep2	x8, x9, 80
	unkeep2	x6, x7, 64
	unkeep2	x4, x5, 48
	unkeep2	x2, x3, 32
	unkeep2	x0, x1, 16
	ldp	x29, x30, [sp], #SAVED
	.if	told
	.cfi_restore x29
	.cfi_restore x30
	.cfi_adjust_cfa_offset -SAVED
	.endif
	.endm

/* The third argument is g, if this is a function of Go's; or, where `held` is 1, where the
 * registers lie, in the order of cpu_held(). Those that C keeps are stored to be read, and not
 * loaded. */
#define KEPT 80

	.macro	slow name, handler, held=0
	.globl	\name
	.hidden	\name
	.type	\name, %function
	.balign	16
\name:
	.cfi_startproc
	pushes
	mov	x0, x16
	add	x1, sp, #(SAVED + RECORD_PUSHED)
	.if	\held
	sub	sp, sp, #KEPT
	.cfi_adjust_cfa_offset KEPT
	stp	x19, x20, [sp]
	stp	x21, x22, [sp, #16]
	stp	x23, x24, [sp, #32]
	stp	x25, x26, [sp, #48]
	stp	x27, x28, [sp, #64]
	mov	x2, sp
	.else
	mov	x2, x28
	.endif
	bl	\handler
	.if	\held
	add	sp, sp, #KEPT
	.cfi_adjust_cfa_offset -KEPT
	.endif
	pops
	ret
	.cfi_endproc
	.size	\name, . - \name
	.endm

	slow	slow_entry, payload_slow_entry
	slow	slow_exit, payload_slow_exit
	slow	slow_mark, payload_slow_mark
	slow	slow_goroutine, payload_slow_goroutine
	slow	slow_count, payload_slow_count
	slow	slow_watch_entry, payload_watch_entry
	slow	slow_watch_exit, payload_watch_exit

	slow	slow_values_entry, payload_values_entry, held=1
	slow	slow_values_exit, payload_values_exit, held=1
	slow	slow_guard, payload_guard, held=1

	.set	told, 0

/*
 * The same for tight_x: x16 the spill frame, x30 the way back, sp the application's. Runs on a
 * stack below the spill frame, and keeps every register but x17.
 */
	.globl	slow_tight
	.hidden	slow_tight
	.type	slow_tight, %function
	.balign	16
slow_tight:
	mov	x17, sp
	str	x17, [x16, #SPILL_SP]
	mov	sp, x16
	pushes
	str	x16, [sp, #160]
	ldr	x0, [x16, #SPILL_WORD]
	mov	x1, x17
	ldr	x2, [x16, #SPILL_G]
	bl	payload_slow_tight
	ldr	x16, [sp, #160]
	pops
	ldr	x17, [x16, #SPILL_SP]
	mov	sp, x17
	ret
	.size	slow_tight, . - slow_tight

/*
 * And for a thread that has no spill frame: x27 is one of the shared stacks, which it has taken,
 * x30 leads to the stub. Keeps every register but x18 and x30. x18: 1 if it has spill frames now.
 * A thread that finds no stack free waits: they are held for as long as it takes to find an area.
 */
	.globl	slow_first, slow_first_end
	.hidden	slow_first, slow_first_end
	.type	slow_first, %function
	.balign	16
slow_first:
	mov	x18, sp
	str	x18, [x27, #SHARED_SP]
	str	x30, [x27, #SHARED_BACK]
	mov	sp, x27
	pushes
	stp	x16, x17, [sp, #160]
	ldr	x0, [x27, #SHARED_EXIT]
	bl	payload_first
	ldp	x16, x17, [sp, #160]
	and	w1, w0, #0xff
	str	x1, [sp, #144]			/* x18's */
	pops
	ldr	x30, [x27, #SHARED_SP]
	mov	sp, x30
	ldr	x30, [x27, #SHARED_BACK]
	ret
slow_first_end:
	.size	slow_first, . - slow_first

/* Each is STACK bytes below what is here, and leads to the next one, the last to the first. */
#define STACKS 16
#define STACK 1024
#define STACK_HEAD 48

	.data
	.balign 16
	.globl	slow_stacks
	.hidden	slow_stacks
	.set	i, 0
	.rept	STACKS
	.fill	STACK - STACK_HEAD, 1, 0
	.if	i == 0
slow_stacks:
	.endif
	.long	0
	.if	i < STACKS - 1
	.long	STACK
	.else
	.long	-STACK * (STACKS - 1)
	.endif
	.fill	STACK_HEAD - 8, 1, 0
	.set	i, i + 1
	.endr
	.text

/*
 * And for an unwinder's question (payload/unwind.c). Entered by a jump from hot.S: x16
 * leads to the stub's copy of where the unwinder's function begins, x30 back to that
 * function's caller. The former is kept in the frame, so that the injector can tell where the
 * thread comes out.
 */
	.globl	slow_find
	.hidden	slow_find
	.type	slow_find, %function
	.balign	16
slow_find:
	.cfi_startproc
	stp	x29, x30, [sp, #-32]!
	.cfi_def_cfa_offset 32
	.cfi_offset x29, -32
	.cfi_offset x30, -24
	mov	x29, sp
	str	x16, [sp, #16]
	mov	x2, x16
	bl	payload_find
	ldp	x29, x30, [sp], #32
	.cfi_restore x29
	.cfi_restore x30
	.cfi_def_cfa_offset 0
	ret
	.cfi_endproc
	.size	slow_find, . - slow_find

	.section .note.GNU-stack, "", %progbits
