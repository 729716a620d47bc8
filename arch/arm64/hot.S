/* SPDX-License-Identifier: MIT */
/*
 * hot: what does a stub call to record that a function began or ended?
 *
 * Everything from hot_begin to hot_end is copied to the start of each arena.
 * It begins with a struct arena_header, which the injector fills in, and
 * refers to nothing else but that, the thread's struct thread and its ring. (The
 * payload has one copy that is never run, for what .cfi says of it: unwind.c.) All is
 * there twice, and differs in how a thread finds its struct: hot_x by a thread-local
 * word, seek_x by what every thread of glibc and musl has, where a loader of libraries
 * is missing, and with it room for such a word.
 *
 * A stub whose gate is open does what arm64_record() writes, so that here x16 is the
 * constant part of the record, x30 the way back, and sp + RECORD_PUSHED the application's
 * stack pointer S, which is the same at a function's entry and at its exits. What is below S is
 * free but for 16 bytes, which are left alone (stand.h); nothing at or above S is touched. All
 * registers but x16, x17 and x30 are kept, which the stub has pushed; no flag is changed, and
 * vector state is never used.
 *
 * Where the ring is full the routine does the same with a loss: it is counted
 * instead of recorded, without a time. `cur` is then an odd number that moves
 * with every loss, so that what follows about `cur` holds for both.
 *
 * A routine that cannot do its work undoes its pushes and goes on at the
 * payload's slow_x, as if the stub had called that: see slow.S.
 *
 * Signals. A handler may interrupt anywhere, call probed functions on the same
 * struct thread, on this stack or on its own, and return or siglongjmp away.
 *
 * - Up to the stxr nothing is written. Whatever a handler records, loses
 *   for want of room, or changes in the choice of stack, moves `cur`: then the
 *   comparison fails and all that was read is read again. Between ldxr and stxr any handler
 *   makes the stxr fail, for the return from an exception clears the monitor (Arm ARM,
 *   B2.9.1). So the time stamps of a ring never go back, and stack, sub-buffer and
 *   epoch belong together. No other thread writes `cur` (others send this one to the
 *   slow path, by `end`, which costs the pair one more turn at most): what the pair is for
 *   is this thread alone, and needs no order; and there is nothing that the atomics of
 *   newer processors would make better.
 * - Between stxr and store the reserved word is 0, and readers stop there.
 *   A handler's words go behind it, and are later. siglongjmp leaves a hole.
 * - The frame is written into a piece of the table that is this stack's alone,
 *   in a slot that a handler on the same stack may have used in between and
 *   one on another stack may have made not the current one. Both recorded
 *   something: `cur` has moved, and slow_x settles the frame (a word of kind
 *   REC_NONE, with the offset that the frame's top is to have).
 * - A siglongjmp between store and frame leaves a call without a frame, or a
 *   frame too many: the next call further up finds out by its S.
 *
 * Order (docs/order.md). A record of one word is one store: its reader sees all of it or none.
 * Of two words the header is stored last. Each such store has release: a reader that sees a
 * record sees the ones before it, without which the copy of a ring that no reader empties would
 * have holes (injector/reader/ring_snapshot.c). So has the store of a frame's offset, for the
 * thread that takes the stack of a fiber over (payload/fibers.c).
 *
 * Time. The counter is read without a barrier: a processor may read it early. Whatever
 * ends a sub-buffer reads it with barriers (cpu_clock), and so no record is earlier than the
 * sub-buffer that holds it.
 */
#include "payload/abi.h"
#include "arch/arm64/hot.h"
#include "arch/arm64/timed.h"
#include "arch/arm64/sifted.h"
#include "arch/arm64/reads.h"

	.section .rodata
	.globl hot_begin, hot_end, hot_table
	.balign 64
hot_begin:
	.fill	ARENA_HEADER, 1, 0

/* A child that a signal handler forks right here finds all zeros in the thread: what is
 * loaded from it is an address only if `end`, looked at later, is not; of what is counted,
 * the end of the counters. */

/* Two words of a record, whose cursor is x0: x3 and, behind that for its readers, x1. */
	.macro	store2
	str	x3, [x0, #8]
	stlr	x1, [x0]
	.endm

/* Record a mark and be done; leaves by 8. Of two words the header is written last. If it
 * has a place on the stack (`on`), the word says which. */
	.macro	put_mark on
	clock
	number	x3, (REC_EXT | EXT_MARK << REC_FUNC_SHIFT | 1 << REC_WORDS_SHIFT)
	add	x1, x1, x3
	reserve	16
	lsr	x3, x16, #(REC_FUNC_SHIFT - 2)
	.if	\on
	add	x2, sp, #S
	orr	x3, x3, x2, lsl #MARK_SP_SHIFT
	.endif
	store2
	done
	.endm

/* The goroutine, whose g is in x28, is the one told to the reader; leaves by 8. */
	.macro	on_goroutine
	ldr	x2, [x17, #THREAD_GOROUTINE]
	sub	x2, x2, x28
	cbnz	x2, 8f
	.endm

/*
 * The same for goroutines, which any thread runs, and whose stacks move. No frames
 * are kept of them: a record has a second word, written first, with the depth.
 */
	.macro	goroutine how, what, losses
	.balign 64
\how\()_go_\what\():
	.cfi_startproc
	pushes
	\how
1:	cursor	16
	on_goroutine
	ldr	x3, [x28, #8]		/* g.stack.hi */
	add	x2, sp, #S
	sub	x3, x3, x2
	lsl	x3, x3, #REC_TIME_SHIFT
	clock
	add	x1, x1, x16
	reserve	16
	store2
	done
6:	full
	lose	\losses
	done
8:	slow	ARENA_SLOW_GOROUTINE
	.cfi_endproc
	.endm

	.macro	goroutine_mark how
	.balign 64
\how\()_go_mark:
	.cfi_startproc
	pushes
	\how
1:	cursor	16
	on_goroutine
	put_mark 0
6:	full
	lose	RING_LOST_ENTRIES
	done
8:	slow	ARENA_SLOW_GOROUTINE
	.cfi_endproc
	.endm

/*
 * Where calls are counted, that is all: one word is added to, and handlers, which have
 * the same one, make that begin again. Nor does it matter what runs on which stack, so that
 * this serves goroutines, too.
 */
	.macro	counting how
	.balign 64
\how\()_count:
	.cfi_startproc
	.ifc	\how, seek
	keep2	x3, x4
	keep2	x2, x5
	.endif
	keep2	x0, x1
	\how
	lsr	x0, x16, #(REC_FUNC_SHIFT - 3)
	ldr	x1, [x17, #THREAD_COUNTS]
	add	x0, x0, x1
	ldr	x1, [x17, #THREAD_COUNTED]
	sub	x1, x0, x1
	tbz	x1, #63, 8f
	plus	x0, #1, x1, w16
	.cfi_remember_state
	uncount	\how
	ret
	.cfi_restore_state
8:	uncount	\how
	onward	ARENA_SLOW_COUNT
	.cfi_endproc
	.endm

	.macro	uncount how
	unkeep2	x0, x1
	.ifc	\how, seek
	unkeep2	x2, x5
	unkeep2	x3, x4
	.endif
	.endm

/*
 * What records where no stack is left: x16 is a spill frame, which has x16, x17, x30 and the
 * word, but that where the kind will be it says where from the thread pointer g is, 0: there is
 * none (tight.h). sp is the application's. x30 stays as it is; the rest is kept in the frame.
 * g goes there too, and the kind into the word.
 */
	.macro	to_spill kind
	stp	x0, x1, [x16, #SPILL_X0]
	stp	x2, x3, [x16, #SPILL_X2]
	str	x4, [x16, #SPILL_X4]
	spill_word \kind
	.endm

/* Changes x0 to x3. Where no thread has a thread pointer g is in x28. */
	.macro	spill_word kind
	ldr	x0, [x16, #SPILL_WORD]
	sxtw	x1, w0
	mov	x2, x1
	cbz	x1, 0f
	mrs	x3, tpidr_el0
	mov	x2, x28
	cbz	x3, 0f
	ldr	x2, [x3, x1]
0:	str	x2, [x16, #SPILL_G]
	lsr	x0, x0, #32
	lsl	x0, x0, #32
	add	x0, x0, #\kind
	str	x0, [x16, #SPILL_WORD]
	.endm

	.macro	from_spill
	ldp	x0, x1, [x16, #SPILL_X0]
	ldp	x2, x3, [x16, #SPILL_X2]
	ldr	x4, [x16, #SPILL_X4]
	.endm

/* x3: the depth in the stack of g, which is the goroutine told to the reader.
 * Leaves by 8 if there is no g, another one, or the stack is none of its own. */
	.macro	depth
	ldr	x2, [x16, #SPILL_G]
	cbz	x2, 8f
	ldr	x3, [x17, #THREAD_GOROUTINE]
	sub	x3, x3, x2
	cbnz	x3, 8f
	ldr	x3, [x2]		/* g.stack.lo */
	mov	x1, sp
	sub	x3, x1, x3
	tbnz	x3, #63, 8f
	ldr	x3, [x2, #8]		/* g.stack.hi */
	sub	x3, x3, x1
	sub	x1, x3, #1
	tbnz	x1, #63, 8f
	lsl	x3, x3, #REC_TIME_SHIFT
	.endm

/* The ways out of all of them. A full ring is the slow path's. */
	.macro	unkept
	from_spill
	ret
6:
8:	from_spill
	onward	ARENA_SLOW_TIGHT
	.endm

	.macro	tight how, what, kind
	.balign 64
\how\()_tight_\what\():
	to_spill \kind
	\how
1:	cursor	16
	depth
	clock
	ldr	x2, [x16, #SPILL_WORD]
	add	x1, x1, x2
	advance	16, w2
	store2
	unkept
	.endm

	.macro	tight_mark how
	.balign 64
\how\()_tight_mark:
	to_spill REC_NONE
	\how
1:	cursor	16
	depth
	clock
	number	x3, (REC_EXT | EXT_MARK << REC_FUNC_SHIFT | 1 << REC_WORDS_SHIFT)
	add	x1, x1, x3
	advance	16, w2
	ldr	x3, [x16, #SPILL_WORD]
	lsr	x3, x3, #(REC_FUNC_SHIFT - 2)
	store2
	unkept
	.endm

	.macro	tight_counting how
	.balign 64
\how\()_tight_count:
	to_spill REC_EXT
	\how
	ldr	x0, [x16, #SPILL_WORD]
	lsr	x0, x0, #(REC_FUNC_SHIFT - 3)
	ldr	x1, [x17, #THREAD_COUNTS]
	add	x0, x0, x1
	ldr	x1, [x17, #THREAD_COUNTED]
	sub	x1, x0, x1
	tbz	x1, #63, 8f
	plus	x0, #1, x1, w2
	unkept
	.endm

/* There is no frame to keep in a mark. The calls are open whose frames are not below S and `more`:
 * of a place within a function its own frame may be where the place has the stack pointer; or, if
 * the function has lowered that, one is there that a call from it has left (REC_FRAMED). */
	.macro	marking how, what, more
	.balign 64
\how\()_\what\():
	.cfi_startproc
	pushes
	\how
1:	cursor	16
	on_stack \more
	put_mark 1
6:	full
	on_stack \more
	lose	RING_LOST_ENTRIES
	done
8:	slow	ARENA_SLOW_MARK
	.cfi_endproc
	.endm

	.macro	routines how
	goroutine \how, entry, RING_LOST_ENTRIES
	goroutine \how, exit, RING_LOST_EXITS
	goroutine_mark \how
	tight \how, entry, REC_ENTRY
	tight \how, exit, REC_EXIT
	tight_mark \how

	.balign 64
\how\()_entry:
	.cfi_startproc
	pushes
	\how
1:	cursor	8
	one_more
	clock
	add	x1, x1, x16
	reserve	8
	stlr	x1, [x0]
	frame
	done
6:	full
	one_more
	lose	RING_LOST_ENTRIES
	sub	x2, x2, #7
	frame
	done
7:	and	x2, x2, #1		/* REC_NONE: the frame is to be settled; */
	lsl	x16, x3, #2		/* it is odd if the entry was lost */
	add	x16, x16, x2, lsl #2	/* SETTLE_LOST */
8:	slow	ARENA_SLOW_ENTRY
	.cfi_endproc

	.balign 64
\how\()_exit:
	.cfi_startproc
	pushes
	\how
1:	cursor	8
	innermost
	sub	x1, x1, x2
	cbnz	x1, 8f
	clock
	add	x1, x1, x16
	reserve	8
	stlr	x1, [x0]
	unframe
	done
6:	lose_exit
	done
7:	lsl	x16, x3, #2
8:	slow	ARENA_SLOW_EXIT
	.cfi_endproc

	marking	\how, mark, 0
	marking	\how, place, (ZONE-8)
	marking	\how, framed, ZONE
	.endm

	routines hot
	routines seek
	counting hot
	counting seek
	tight_counting hot
	tight_counting seek
	timing hot
	timing seek
	sifting hot
	sifting seek
	asking hot
	asking seek
	reading hot
	reading seek

/* An entry that is recorded where something is on the stack already. */
	.balign 16
tight_late:
	to_spill REC_ENTRY
	from_spill
	onward	ARENA_SLOW_TIGHT

/* Of watched functions, and of those whose values are read, all is done in C. */
	.balign 64
watch_entry:
	.cfi_startproc
	onward	ARENA_SLOW_WATCH_ENTRY
watch_exit:
	onward	ARENA_SLOW_WATCH_EXIT
values_entry:
	onward	ARENA_SLOW_VALUES_ENTRY
values_exit:
	onward	ARENA_SLOW_VALUES_EXIT
guard:
	onward	ARENA_SLOW_GUARD
	.cfi_endproc

/* An unwinder looks up a frame: x16 leads to the stub's copy of its function, which
 * x30 has called. See stand.S. */
	.balign 16
hot_find:
	.cfi_startproc
	onward	ARENA_SLOW_FIND
	.cfi_endproc

	.balign 16
hot_end:
	.size	hot_begin, . - hot_begin

/* Where each of them begins: struct hot_table. There are none that return for the stub; and what
 * a thread without spill frames calls is found by where the arena begins. */
	.macro	at routines:vararg
	.irp	routine, \routines
	.long	\routine - hot_begin
	.endr
	.endm
	.macro	sets how
	at	\how\()_entry, \how\()_exit, \how\()_mark, \how\()_count, hot_begin
	at	\how\()_go_entry, \how\()_go_exit, \how\()_go_mark, \how\()_count, hot_begin
	at	\how\()_tight_entry, \how\()_tight_exit, \how\()_tight_mark
	at	\how\()_tight_count, hot_begin
	at	\how\()_timed_entry, \how\()_timed_exit, \how\()_mark, \how\()_count, hot_begin
	at	\how\()_sifted_entry, \how\()_sifted_exit, \how\()_mark, \how\()_count, hot_begin
	.endm

	.macro	reads how
	at	\how\()_read1_entry, \how\()_read2_entry, \how\()_read3_entry
	at	\how\()_read4_entry, \how\()_read5_entry, \how\()_read6_entry
	at	\how\()_read7_entry
	at	\how\()_read1_exit, \how\()_read2_exit, hot_begin, hot_begin
	.endm

	.balign 4
hot_table:
	sets	hot
	sets	seek
	at	watch_entry, watch_exit, values_entry, values_exit, guard, hot_find
	at	tight_late, hot_begin, hot_begin
	reads	hot
	reads	seek
	at	hot_asking_entry, hot_asking_exit, seek_asking_entry, seek_asking_exit
	at	hot_place, hot_framed, seek_place, seek_framed
	.section .note.GNU-stack, "", %progbits
