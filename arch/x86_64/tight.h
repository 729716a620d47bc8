/* SPDX-License-Identifier: MIT */
/*
 * x86_64/tight: how does a stub record where eight bytes of stack are all there is?
 *
 * Under the stack pointer of a function of Go's that does not ask for room, or of one
 * of OCaml's, there may be no more than the place of one return address: what is kept
 * meanwhile has to lie elsewhere. A thread has spill frames for that, one below the other, in
 * memory of its own, and a word in its thread-local storage with the address behind the
 * next one. A stub takes a spill frame and gives it back, as from a stack:
 *
 *	push %rax; movabs gate, %al; movzbl %al, %eax; xchg %rax, %rcx; jrcxz closed
 *	mov %fs:SPILLS, %rcx; jrcxz first
 *	lea -STEP(%rcx), %rcx; mov %rcx, %fs:SPILLS
 *	mov %rax, SPILL_RCX(%rcx); pop SPILL_RAX(%rcx)
 *	movl $word >> 32, SPILL_WORD + 4(%rcx)
 *	mov %fs:G, %rax; call tight_x		(not of Go: mov $0, %rax)
 *	push SPILL_RAX(%rcx); mov SPILL_RCX(%rcx), %rax
 *	lea STEP(%rcx), %rcx; mov %rcx, %fs:SPILLS
 * closed:
 *	xchg %rax, %rcx; pop %rax; jmp done
 * first:
 *	xchg %rax, %rcx; movabs $..., %rax; lahf; seto %al; jmp tight_first
 * done:
 *
 * - A signal handler that comes between any two of these, and records, takes a spill frame
 *   and gives it back: what it finds free is free again when it returns. Before the
 *   spill frame is taken nothing is in it; before it is given back nothing is left in it.
 * - Nothing here changes a flag, and a thread without spill frames (the word is 0) has but
 *   one register for what it needs: the flags in its lower 16 bits, and above them
 *   where the stub is, from tight_first on. The highest bit says that it is an exit.
 *   It comes back to the first instruction, if it has spill frames by then, else to `done`.
 */
#ifndef ARCH_X86_64_TIGHT_H
#define ARCH_X86_64_TIGHT_H

#define TIGHT_SIZE 121		/* bytes, from the first instruction to `done` */
#define TIGHT_PLACE_SHIFT 16
#define TIGHT_EXIT_BIT 63

/* In a spill frame. Below it the slow path has room, up to the next one. */
#define SPILL_RAX 0
#define SPILL_RCX 8
#define SPILL_RDX 16
#define SPILL_RSI 24
#define SPILL_RDI 32
#define SPILL_R8 40
#define SPILL_WORD 48
#define SPILL_G 56
#define SPILL_FLAGS 64
#define SPILL_SP 72		/* the application's, less the way back's place */
#define SPILL_BACK 80		/* to the stub */

#endif
