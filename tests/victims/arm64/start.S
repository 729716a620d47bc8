/* SPDX-License-Identifier: MIT */
/* start: where a program begins all of whose code is guarded by landing pads; the C library's own
 * beginning has none. */
	.text
	.globl	_start
	.type	_start, %function
_start:
	bti	c
	mov	x29, #0
	mov	x30, #0
	mov	x5, x0			/* what the loader wants called at the end */
	ldr	x1, [sp]
	add	x2, sp, #8
	mov	x6, sp
	adrp	x0, main
	add	x0, x0, #:lo12:main
	mov	x3, #0
	mov	x4, #0
	bl	__libc_start_main
	bl	abort
	.size	_start, . - _start

/* So this may run where they are enforced: GNU_PROPERTY_AARCH64_FEATURE_1_AND, BTI. */
	.section .note.gnu.property, "a"
	.balign	8
	.long	4, 16, 5
	.asciz	"GNU"
	.long	0xc0000000, 4, 1, 0

	.section .note.GNU-stack, "", %progbits
