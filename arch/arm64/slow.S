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

	.text

	.macro	keep2 one, other, at
	stp	\one, \other, [sp, #\at]
	.cfi_rel_offset \one, \at
	.cfi_rel_offset \other, \at + 8
	.endm

	.macro	unkeep2 one, other, at
	ldp	\one, \other, [sp, #\at]
	.cfi_restore \one
	.cfi_restore \other
	.endm

#define SAVED 176

/* What C may change, but x16 and x17; below it a record of frame pointers, for what samples
 * the thread may walk them. */
	.macro	pushes
	stp	x29, x30, [sp, #-SAVED]!
	.cfi_adjust_cfa_offset SAVED
	.cfi_rel_offset x29, 0
	.cfi_rel_offset x30, 8
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
	.cfi_rel_offset x18, 144
	mrs	x0, nzcv
	str	x0, [sp, #152]
	.endm

	.macro	pops
	ldr	x0, [sp, #152]
	msr	nzcv, x0
	ldr	x18, [sp, #144]
	.cfi_restore x18
	unkeep2	x14, x15, 128
	unkeep2	x12, x13, 112
	unkeep2	x10, x11, 96
	unkeep2	x8, x9, 80
	unkeep2	x6, x7, 64
	unkeep2	x4, x5, 48
	unkeep2	x2, x3, 32
	unkeep2	x0, x1, 16
	ldp	x29, x30, [sp], #SAVED
	.cfi_restore x29
	.cfi_restore x30
	.cfi_adjust_cfa_offset -SAVED
	.endm

	.macro	slow name, handler
	.globl	\name
	.hidden	\name
	.type	\name, %function
	.balign	16
\name:
	.cfi_startproc
	pushes
	mov	x0, x16
	add	x1, sp, #(SAVED + RECORD_PUSHED)
	mov	x2, x28			/* g, if this is a function of Go's */
	bl	\handler
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

/* No stub records where hardly any stack is left (struct arch has no g_place): nothing
 * leads here. */
	.globl	slow_tight, slow_first, slow_first_end
	.hidden	slow_tight, slow_first, slow_first_end
slow_tight:
slow_first:
slow_first_end:
	brk	#0

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
