/* SPDX-License-Identifier: MIT */
/*
 * slow: how does a recording routine that is out of its depth call C?
 *
 * Entered by a jump from hot.S, in the state in which a stub calls hot.S:
 * %rax the word, (%rsp) the way back to the stub, 8(%rsp) the application's
 * %rax and then its %rcx, %rsp + 24 its stack pointer. Keeps every register but these
 * two, and all flags; vector state is not used by the C code (-mgeneral-regs-only). Takes
 * less than 700 bytes of the application's stack, which may be a small one
 * for signals: see tools/payload-check.sh.
 */
#include "arch/x86_64/tight.h"

	.text

/* Does unwind information tell what is pushed? Not where the stack is another one. */
	.set	told, 1

	.macro	popped
	.if	told
	.cfi_adjust_cfa_offset -8
	.endif
	.endm

	.macro	keep reg
	push	%\reg
	.if	told
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset \reg, 0
	.endif
	.endm

	.macro	unkeep reg
	pop	%\reg
	popped
	.if	told
	.cfi_restore \reg
	.endif
	.endm

/* The flags that code relies on, as they were pushed, without popf: a thread that a debugger
 * steps through here has pushed the flag that makes each instruction a trap. popf would keep
 * that flag, and the thread die of it when the debugger is gone. Uses %rax. */
	.macro	flags
	pop	%rax
	popped
	test	$0x400, %eax		/* DF */
	jz	1f
	std
1:	xchg	%al, %ah		/* SF, ZF, AF, PF and CF */
	and	$0x08, %al		/* OF */
	add	$0x78, %al
	sahf
	.endm

/* What C may change, but %rax and %rcx; and what the stack pointer is kept in. */
	.macro	pushes
	keep	rdx
	keep	rsi
	keep	rdi
	keep	r8
	keep	r9
	keep	r10
	keep	r11
	keep	rbx
	.endm

	.macro	pops
	unkeep	rbx
	unkeep	r11
	unkeep	r10
	unkeep	r9
	unkeep	r8
	unkeep	rdi
	unkeep	rsi
	unkeep	rdx
	.endm

/* The third argument is g, if this is a function of Go's; or, where `held` is 1, where the
 * registers lie, in the order of cpu_held(). Those that C keeps are pushed to be read, and not
 * popped. */
	.macro	slow name, handler, held=0
	.globl	\name
	.hidden	\name
	.type	\name, @function
	.balign	16
\name:
	.cfi_startproc
	pushf
	.cfi_adjust_cfa_offset 8
	pushes
	mov	%rsp, %rbx
	.cfi_def_cfa_register rbx
	mov	%rax, %rdi
	lea	96(%rsp), %rsi		/* nine pushes, and 24 */
	.if	\held
	.irp	reg, r15, r14, r13, r12, rbp
	push	%\reg
	.endr
	mov	%rsp, %rdx
	.else
	mov	%r14, %rdx
	.endif
	and	$-16, %rsp
	cld
	call	\handler
	mov	%rbx, %rsp
	.cfi_def_cfa_register rsp
	pops
	flags
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
 * The same for tight_x: %rcx the spill frame, (%rsp) the way back, %rsp + 8
 * the application's stack pointer. Runs on a stack in the spill frame, and keeps every register but
 * %rax. The way back stands there, too, for an injector that looks where a thread comes out.
 */
	.globl	slow_tight
	.hidden	slow_tight
	.type	slow_tight, @function
	.balign	16
slow_tight:
	mov	(%rsp), %rax
	mov	%rax, SPILL_BACK(%rcx)
	mov	%rsp, SPILL_SP(%rcx)
	mov	%rcx, %rsp
	pushf
	push	%rcx
	pushes
	mov	%rsp, %rbx
	mov	SPILL_WORD(%rcx), %rdi
	mov	SPILL_SP(%rcx), %rsi
	add	$8, %rsi
	mov	SPILL_G(%rcx), %rdx
	and	$-16, %rsp
	cld
	call	payload_slow_tight
	mov	%rbx, %rsp
	pops
	pop	%rcx
	flags
	mov	SPILL_SP(%rcx), %rsp
	ret
	.size	slow_tight, . - slow_tight

/*
 * And for tight_first: (%rsp) has the application's %rax; in %rax are the flags, above
 * them where the stub is, and in the highest bit whether it records an exit. Neither
 * stack nor register is free, so one of a few stacks is taken that all threads share.
 * A thread that finds none waits: they are held for as long as it takes to find a room.
 */
#define STACKS 32
#define STACK 1024

	.globl	slow_first, slow_first_end
	.hidden	slow_first, slow_first_end
	.type	slow_first, @function
	.balign	16
slow_first:
	.set	i, 0
	.rept	STACKS
	lock btsl $0, taken + 4 * i(%rip)
	jc	1f
	mov	%rsp, slow_stacks + STACK * (i + 1) - 8(%rip)
	lea	slow_stacks + STACK * (i + 1) - 8(%rip), %rsp
	call	first
	mov	(%rsp), %rsp
	movl	$0, taken + 4 * i(%rip)
	ret
1:
	.set	i, i + 1
	.endr
	pause
	jmp	slow_first

/* Puts the way on where the application's %rax was, and that into %rax. All else is
 * as it was, the flags as %rax has them. */
first:
	push	%rax
	push	%rcx
	pushes
	pushf
	mov	%rsp, %rbx
	mov	%rax, %rdi
	shr	$TIGHT_EXIT_BIT, %rdi
	add	%rax, %rax
	shr	$TIGHT_PLACE_SHIFT + 1, %rax
	push	%rax
	and	$-16, %rsp
	cld
	call	payload_first
	mov	-8(%rbx), %rdx
	lea	TIGHT_SIZE(%rdx), %rcx
	test	%al, %al
	cmovz	%rcx, %rdx
	mov	96(%rbx), %rcx		/* the application's stack pointer: behind
					 * eleven pushes and the way back */
	xchg	%rdx, (%rcx)
	mov	80(%rbx), %rax
	mov	%rdx, 80(%rbx)
	mov	%rbx, %rsp
	pop	%rdx
	test	$0x400, %edx		/* DF: see flags */
	jz	1f
	std
1:	add	$0x7f, %al
	sahf
	pops
	pop	%rcx
	pop	%rax
	ret
slow_first_end:
	.size	slow_first, . - slow_first

	.local	taken
	.comm	taken, 4 * STACKS, 4
	.globl	slow_stacks
	.hidden	slow_stacks
	.comm	slow_stacks, STACK * STACKS, 16

/*
 * And for an unwinder's question (payload/unwind.c). Entered by a jump from hot.S: (%rsp)
 * leads to the stub's copy of where the unwinder's function begins, 8(%rsp) back to that
 * function's caller. The former stays where it is, so that the injector can tell where the
 * thread comes out.
 */
	.globl	slow_find
	.hidden	slow_find
	.type	slow_find, @function
	.balign	16
slow_find:
	.cfi_startproc
	.cfi_def_cfa_offset 16
	mov	(%rsp), %rdx
	call	payload_find
	lea	8(%rsp), %rsp
	.cfi_def_cfa_offset 8
	ret
	.cfi_endproc
	.size	slow_find, . - slow_find

	.section .note.GNU-stack, "", %progbits
