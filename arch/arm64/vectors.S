/* SPDX-License-Identifier: MIT */
/*
 * vectors: what is in the vector registers that pass arguments and results; and how are those kept
 * that a system call changes? The only code of the payload that touches them.
 */
	.arch	armv8.2-a+sve
	.text

/* Stores alone. */
	.globl	values_vectors, values_vectors_all, values_x87
	.hidden	values_vectors, values_vectors_all, values_x87
	.type	values_vectors_all, %function
	.balign	16
values_vectors_all:
	stp	q8, q9, [x0, #128]
	stp	q10, q11, [x0, #160]
	stp	q12, q13, [x0, #192]
	stp	q14, q15, [x0, #224]
	stp	q16, q17, [x0, #256]
	stp	q18, q19, [x0, #288]
	stp	q20, q21, [x0, #320]
	stp	q22, q23, [x0, #352]
	stp	q24, q25, [x0, #384]
	stp	q26, q27, [x0, #416]
	stp	q28, q29, [x0, #448]
	stp	q30, q31, [x0, #480]
	.type	values_vectors, %function
values_vectors:
	stp	q0, q1, [x0]
	stp	q2, q3, [x0, #32]
	stp	q4, q5, [x0, #64]
	stp	q6, q7, [x0, #96]
values_x87:				/* there are none */
	ret
	.size	values_vectors, . - values_vectors
	.size	values_vectors_all, . - values_vectors_all

/* The Z registers, the predicates, and the first-fault register, by way of a predicate. */
	.globl	vectors_keep, vectors_restore
	.hidden	vectors_keep, vectors_restore
	.type	vectors_keep, %function
	.balign	16
vectors_keep:
	addvl	x1, x0, #31
	addvl	x1, x1, #1
	.irp	n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
	str	z\n, [x0, #\n, mul vl]
	str	p\n, [x1, #\n, mul vl]
	.endr
	.irp	n, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
	str	z\n, [x0, #\n, mul vl]
	.endr
	rdffr	p0.b
	str	p0, [x1, #16, mul vl]
	ldr	p0, [x1]
	ret
	.size	vectors_keep, . - vectors_keep

	.type	vectors_restore, %function
	.balign	16
vectors_restore:
	addvl	x1, x0, #31
	addvl	x1, x1, #1
	ldr	p0, [x1, #16, mul vl]
	wrffr	p0.b
	.irp	n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
	ldr	z\n, [x0, #\n, mul vl]
	ldr	p\n, [x1, #\n, mul vl]
	.endr
	.irp	n, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
	ldr	z\n, [x0, #\n, mul vl]
	.endr
	ret
	.size	vectors_restore, . - vectors_restore

	.section .note.GNU-stack, "", %progbits
