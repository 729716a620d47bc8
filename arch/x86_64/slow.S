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
	.text

	.macro	slow name, handler
	.globl	\name
	.hidden	\name
	.type	\name, @function
	.balign	16
\name:
	pushf
	push	%rdx
	push	%rsi
	push	%rdi
	push	%r8
	push	%r9
	push	%r10
	push	%r11
	push	%rbx
	mov	%rsp, %rbx
	mov	%rax, %rdi
	lea	96(%rsp), %rsi		/* nine pushes, and 24 */
	mov	%r14, %rdx		/* g, if this is a function of Go's */
	and	$-16, %rsp
	cld
	call	\handler
	mov	%rbx, %rsp
	pop	%rbx
	pop	%r11
	pop	%r10
	pop	%r9
	pop	%r8
	pop	%rdi
	pop	%rsi
	pop	%rdx
	popf
	ret
	.size	\name, . - \name
	.endm

	slow	slow_entry, payload_slow_entry
	slow	slow_exit, payload_slow_exit
	slow	slow_mark, payload_slow_mark
	slow	slow_goroutine, payload_slow_goroutine
	slow	slow_count, payload_slow_count
	slow	slow_watch_entry, payload_watch_entry
	slow	slow_watch_exit, payload_watch_exit

	.section .note.GNU-stack, "", %progbits
