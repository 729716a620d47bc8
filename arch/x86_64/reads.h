/* SPDX-License-Identifier: MIT */
/*
 * x86_64/reads: how does a call get recorded of which values are read, if all of these are in
 * registers?
 *
 * Entry and exit of hot.S, with an EXT_REGISTERS before the record, for which the same cmpxchg has
 * reserved room. Its header is written behind its body, and then the record. A siglongjmp in
 * between leaves a hole where the record is to be, by which the reader knows that these registers
 * are no other call's. What hot.S says of signals is so here, too.
 *
 * All that is pushed beside `pushes` is %r8; so the registers are where they are, or on the stack.
 */
#ifndef ARCH_X86_64_READS_H
#define ARCH_X86_64_READS_H

#define READ 8			/* bytes that are pushed here beside `pushes` */
#define READ_S (S + READ)

	.macro	read_pushes
	keep	r8
	pushes
	.endm

	.macro	read_pops
	pops
	unkeep	r8
	.endm

	.macro	read_done
	read_pops
	back
	.cfi_restore_state
	.endm

	.macro	read_slow where
	read_pops
	onward	\where
	.cfi_restore_state
	.endm

/* Word \i of \n: a register that lies at \at. */
	.macro	put_pushed n, i, at
	mov	\at(%rsp), %r8
	shl	$8, %r8
	add	$VALUES_LOW, %r8
	mov	%r8, 8 * (\i + 1)(%rax)
	movzbl	\at + 7(%rsp), %r8d
	mov	%r8b, 8 * (\n + 1) + 1 + \i(%rax)
	.endm

	.macro	put_r9 n, i
	mov	%r9, %r8
	shl	$8, %r8
	add	$VALUES_LOW, %r8
	mov	%r8, 8 * (\i + 1)(%rax)
	mov	%r9, %r8
	shr	$56, %r8
	mov	%r8b, 8 * (\n + 1) + 1 + \i(%rax)
	.endm

/* The first \n of those that pass arguments: arch.h has their order. */
	.macro	put_arguments n
	put_pushed \n, 0, KEPT_RDI
	.if	\n > 1
	put_pushed \n, 1, KEPT_RSI
	.endif
	.if	\n > 2
	put_pushed \n, 2, KEPT_RDX
	.endif
	.if	\n > 3
	put_pushed \n, 3, KEPT_RCX
	.endif
	.if	\n > 4
	put_pushed \n, 4, KEPT_R8
	put_r9	\n, 5
	.endif
	.endm

	.macro	put_results n
	put_pushed \n, 0, KEPT_RAX
	.if	\n > 1
	put_pushed \n, 1, KEPT_RDX
	.endif
	.endm

/* \n of them with \what, the header, and the record. %rax: the words' place, %rdx: the time. */
	.macro	put_read what, n
	movq	$VALUES_LOW, 8 * (\n + 1)(%rax)
	put_\what \n
	movabs	$(REC_EXT | EXT_REGISTERS << REC_FUNC_SHIFT | (\n + 1) << REC_WORDS_SHIFT), %r8
	add	%rdx, %r8
	mov	%r8, (%rax)
	add	WORD(%rsp), %rdx
	mov	%rdx, 8 * (\n + 2)(%rax)
	.endm

	.macro	read_entering how, n
	.balign 64
\how\()_read\n\()_entry:
	.cfi_startproc
	read_pushes
	\how
1:	cursor	8*(\n+3)
	one_more READ
	clock
	reserve	8*(\n+3)
	put_read arguments, \n
	lea	READ_S(%rsp), %rdx
	frame
	read_done
6:	full
	one_more READ
	lose	RING_LOST_ENTRIES
	lea	READ_S - 7(%rsp), %rdx
	frame
	read_done
7:	shl	$2, %rdi		/* as in hot.S */
	and	$1, %edx
	lea	(%rdi, %rdx, SETTLE_LOST), %rdi
	mov	%rdi, WORD(%rsp)
	read_slow ARENA_SLOW_ENTRY
8:	read_slow ARENA_SLOW_VALUES_ENTRY
	.cfi_endproc
	.endm

	.macro	read_exiting how, n, what
	.balign 64
\how\()_read\n\()_\what\():
	.cfi_startproc
	arrive
	read_pushes
	\how
1:	cursor	8*(\n+3)
	lea	READ_S(%rsp), %rax
	mov	THREAD_TOP(%rsi), %rdi
	cmp	%rax, (%rsi, %rdi)
	jne	8f
	clock
	reserve	8*(\n+3)
	put_read results, \n
	unframe
	read_done
6:	lose_exit READ
	read_done
7:	shl	$2, %rdi
	mov	%rdi, WORD(%rsp)
	read_slow ARENA_SLOW_EXIT
8:	read_slow ARENA_SLOW_VALUES_EXIT
	.cfi_endproc
	.endm

	.macro	reading how
	.irp	n, 1, 2, 3, 4, 6
	read_entering \how, \n
	.endr
	.irp	n, 1, 2
	read_exiting \how, \n, exit
	.endr
	.endm

	.macro	read_leaving how
	.irp	n, 1, 2
	read_exiting \how, \n, leave
	.endr
	.endm

#endif
