/* SPDX-License-Identifier: MIT */
/*
 * vectors: what is in the vector registers that pass arguments and results, and in those of the
 * x87? The only code of the payload that touches them; it stores, and no more.
 */
	.text

/* Stores alone, which change neither these registers nor what the processor knows of them. */
	.globl	values_vectors, values_vectors_all, values_x87
	.hidden	values_vectors, values_vectors_all, values_x87
	.type	values_vectors_all, @function
	.balign	16
values_vectors_all:
	.irp	n, 8, 9, 10, 11, 12, 13, 14, 15
	movups	%xmm\n, 16 * \n(%rdi)
	.endr
	.type	values_vectors, @function
values_vectors:
	.irp	n, 0, 1, 2, 3, 4, 5, 6, 7
	movups	%xmm\n, 16 * \n(%rdi)
	.endr
	ret
	.size	values_vectors, . - values_vectors
	.size	values_vectors_all, . - values_vectors_all

/* fxsave asks no exception that is pending, and leaves all registers as they are (Intel SDM, 2A).
 * Those of the x87 are at 32, one in 16 bytes. */
	.type	values_x87, @function
	.balign	16
values_x87:
	fxsave64 (%rsi)
	.irp	n, 0, 1, 2, 3, 4, 5, 6, 7
	mov	32 + 16 * \n(%rsi), %rax
	mov	%rax, 10 * \n(%rdi)
	mov	40 + 16 * \n(%rsi), %ax
	mov	%ax, 8 + 10 * \n(%rdi)
	.endr
	ret
	.size	values_x87, . - values_x87

	.section .note.GNU-stack, "", %progbits
