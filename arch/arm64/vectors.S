/* SPDX-License-Identifier: MIT */
/*
 * vectors: what is in the vector registers that pass arguments and results? The only code of the
 * payload that touches them; it stores, and no more.
 */
	.text

/* Stores alone. */
	.globl	values_vectors, values_x87
	.hidden	values_vectors, values_x87
	.type	values_vectors, %function
	.balign	16
values_vectors:
	stp	q0, q1, [x0]
	stp	q2, q3, [x0, #32]
	stp	q4, q5, [x0, #64]
	stp	q6, q7, [x0, #96]
values_x87:				/* there are none */
	ret
	.size	values_vectors, . - values_vectors

	.section .note.GNU-stack, "", %progbits
