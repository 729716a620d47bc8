/* SPDX-License-Identifier: MIT */
/*
 * arm64/tight: how does a stub record where no stack is left?
 *
 * Under the stack pointer of a function of Go's that does not ask for room there may be nothing
 * but the frame pointer of its caller: what is kept meanwhile has to lie elsewhere. A thread has
 * spill frames for that, one below the other, in memory of its own, and a word among its
 * own ones (cpu_thread_base) with the address behind the next one. A stub takes a spill frame and
 * gives it back, as from a stack. Two registers are free where a function of Go's begins and
 * where it ends: x27, which Go's assembler takes for itself wherever it needs one, and which
 * the runtime does not keep when it preempts a goroutine; and x18, which Go never uses, for it
 * may be the platform's, and which C keeps for no other function. (arm64_spares tells the
 * functions that C calls, and that keep x27 for it.)
 *
 *	mov x27, gate; ldrb w27, [x27]; cbz w27, done
 *	mrs x18, tpidr_el0; cbnz x18, 1f
 *	cbz x28, done; ldr x18, [x28, #G_M]; cbz x18, done
 * 1:	mov w27, SPILLS; add x18, x18, w27, sxtw
 *	ldr x27, [x18]; cbz x27, first
 *	sub x27, x27, #STEP; str x27, [x18]
 *	str x18, [x27, #SPILL_AT]; stp x16, x17, [x27]; str x30, [x27, #SPILL_X30]
 *	mov x16, x27; mov x17, word | G; str x17, [x16, #SPILL_WORD]
 *	bl tight_x
 *	mov x27, x16; ldr x30, [x27, #SPILL_X30]; ldp x16, x17, [x27]
 *	ldr x18, [x27, #SPILL_AT]; add x27, x27, #STEP; str x27, [x18]
 *	b done
 * first:	adrp x27, arena; ldr x27, [x27, #ARENA_STACKS]
 * 2:	ldaxr w18, [x27]; cbnz w18, 3f; stxr w18, w27, [x27]; cbnz w18, 2b
 *	str x30, [x27, #SHARED_X30]; str KIND, [x27, #SHARED_EXIT]
 *	adrp x18, arena; ldr x18, [x18, #ARENA_SLOW_FIRST]; blr x18
 *	ldr x30, [x27, #SHARED_X30]; stlr wzr, [x27]
 *	cbz x18, done; b the first instruction
 * 3:	ldrsw x18, [x27, #SHARED_NEXT]; add x27, x27, x18; b 2b
 * done:
 *
 * - A signal handler that comes between any two of these, and records, takes a spill frame
 *   and gives it back: what it finds free is free again when it returns. Before the
 *   spill frame is taken nothing is in it; before it is given back nothing is left in it.
 * - A thread without spill frames (the word is 0) takes one of a few stacks that all threads
 *   share, for as long as it takes to find a spill area: a handler that comes meanwhile takes
 *   another one.
 * - Nothing here changes a flag.
 */
#ifndef ARCH_ARM64_TIGHT_H
#define ARCH_ARM64_TIGHT_H

#define TIGHT_SIZE 212		/* bytes, from the first instruction to `done` */
#define G_M 48			/* in a g of Go's: what has the thread that runs it */

/* In a spill frame. Below it the slow path has room, up to the next one. */
#define SPILL_X16 0
#define SPILL_X30 16
#define SPILL_AT 24		/* the address of the thread's word */
#define SPILL_WORD 32
#define SPILL_G 40
#define SPILL_X0 48
#define SPILL_X2 64
#define SPILL_X4 80
#define SPILL_SP 88		/* the application's */

/* Behind each of the shared stacks. */
#define SHARED_TAKEN 0		/* 32 bits; 0: it is free */
#define SHARED_NEXT 4		/* 32 bits: so far away is the next one's */
#define SHARED_X30 8
#define SHARED_EXIT 16		/* 0: an entry is to be recorded */
#define SHARED_SP 24
#define SHARED_BACK 32

#endif
