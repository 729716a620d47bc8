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
 * A stub whose gate is open does
 *
 *	push %rcx; push %rax; movabs $word, %rax; call hot_x; pop %rax; pop %rcx
 *
 * so that here %rax is the constant part of the record, (%rsp) the way back,
 * 8(%rsp) the application's %rax, then its %rcx, and %rsp + 24 its stack pointer S,
 * which points at its return address at a function's entry as well as at its exits.
 * What is below S is free (no red zone is alive at these points); nothing at
 * or above S is touched. All registers but these two and all flags are kept, and
 * vector state is never used. pushf costs as much as the clock: hence lahf.
 *
 * Where the ring is full the routine does the same with a loss: it is counted
 * instead of recorded, without a time. `cur` is then an odd number that moves
 * with every loss, so that what follows about `cur` holds for both.
 *
 * An exit that is a plain return the routine makes itself, for every jump and call in a
 * stub is one more that a processor has to know where thousands of functions are called.
 * There the stub does
 *
 *	...; lea 1f(%rip), %rcx; movabs $word, %rax; jmp hot_leave; 1: pop %rax; pop %rcx; ret
 *
 * and hot_leave pushes %rcx: so all is as if it had been called, for the payload, for unwinders
 * and for an injector that looks where threads come out, until it returns.
 *
 * A routine that cannot do its work undoes its pushes and goes on at the
 * payload's slow_x, as if the stub had called that: see slow.S.
 *
 * Signals. A handler may interrupt anywhere, call probed functions on the same
 * struct thread, on this stack or on its own, and return or siglongjmp away.
 *
 * - Up to the cmpxchg nothing is written. Whatever a handler records, loses
 *   for want of room, or changes in the choice of stack, moves `cur`: then the
 *   cmpxchg fails and all that was read is read again. So the time stamps of
 *   a ring never go back, and stack, sub-buffer and epoch belong together. A
 *   plain cmpxchg suffices: no other thread writes to this struct.
 * - Between cmpxchg and store the reserved word is 0, and readers stop there.
 *   A handler's words go behind it, and are later. siglongjmp leaves a hole.
 * - The frame is written into a piece of the table that is this stack's alone,
 *   in a slot that a handler on the same stack may have used in between and
 *   one on another stack may have made not the current one. Both recorded
 *   something: `cur` has moved, and slow_x settles the frame (a word of kind
 *   REC_NONE, with the offset that the frame's top is to have).
 * - A siglongjmp between store and frame leaves a call without a frame, or a
 *   frame too many: the next call further up finds out by its S.
 */
#include "payload/abi.h"
#include "arch/x86_64/hot.h"
#include "arch/x86_64/tight.h"
#include "arch/x86_64/timed.h"
#include "arch/x86_64/sifted.h"
#include "arch/x86_64/reads.h"

	.section .rodata
	.globl hot_begin, hot_end, hot_table
	.balign 64
hot_begin:
	.fill	ARENA_HEADER, 1, 0

/* A child that a signal handler forks right here finds all zeros in the thread: what is
 * loaded from it is an address only if `end`, looked at later, is not; of what is counted,
 * the end of the counters. */

/* Record a mark and be done; leaves by 8. Of two words the header is written last. If it
 * has a place on the stack (`on`), the word says which. */
	.macro	put_word on, word:vararg
	movabs	$(REC_EXT | EXT_MARK << REC_FUNC_SHIFT | 1 << REC_WORDS_SHIFT), %rdi
	add	%rdi, %rdx
	reserve	16
	mov	\word, %rdi
	shr	$REC_FUNC_SHIFT - 2, %rdi
	.if	\on
	lea	S(%rsp), %rcx
	shl	$MARK_SP_SHIFT, %rcx
	or	%rcx, %rdi
	.endif
	mov	%rdi, 8(%rax)
	mov	%rdx, (%rax)
	.endm

	.macro	put_mark on
	clock
	put_word \on, WORD(%rsp)
	done
	.endm

/* The goroutine, whose g is in %r14, is the one told to the reader; leaves by 8. */
	.macro	on_goroutine
	cmp	THREAD_GOROUTINE(%rsi), %r14
	jne	8f
	.endm

/*
 * The same for goroutines, which any thread runs, and whose stacks move. No frames
 * are kept of them: a record has a second word, written first, with the depth.
 */
	.macro	goroutine how, what, losses
	.balign 64
\how\()_go_\what\():
	.cfi_startproc
	arrive
	pushes
	\how
1:	cursor	16
	on_goroutine
	mov	8(%r14), %rdi		/* g.stack.hi */
	lea	S(%rsp), %rax
	sub	%rax, %rdi
	shl	$REC_TIME_SHIFT, %rdi
	clock
	add	WORD(%rsp), %rdx
	reserve	16
	mov	%rdi, 8(%rax)
	mov	%rdx, (%rax)
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
 * Where calls are counted, that is all: one instruction adds to the thread's counter,
 * so that handlers, which have the same one, do not matter. Nor does it matter what runs on
 * which stack, so that this serves goroutines, too.
 */
	.macro	counting how
	.balign 64
\how\()_count:
	.cfi_startproc
	.ifc	\how, seek
	keep	rdx
	keep	rdi
	.endif
	keep	rsi
	push_word
	lahf
	seto	%al
	\how
	mov	(%rsp), %rcx
	shr	$REC_FUNC_SHIFT - 3, %rcx
	add	THREAD_COUNTS(%rsi), %rcx
	cmp	THREAD_COUNTED(%rsi), %rcx
	jae	8f
	incq	(%rcx)
	add	$0x7f, %al
	sahf
	.cfi_remember_state
	lea	8(%rsp), %rsp
	.cfi_adjust_cfa_offset -8
	uncount	\how
	ret
	.cfi_restore_state
8:	add	$0x7f, %al
	sahf
	pop_word
	uncount	\how
	jmp	*hot_begin+ARENA_SLOW_COUNT(%rip)
	.cfi_endproc
	.endm

	.macro	uncount how
	unkeep	rsi
	.ifc	\how, seek
	unkeep	rdi
	unkeep	rdx
	.endif
	.endm

/*
 * What records where hardly any stack is left: %rcx is a spill frame, which has %rax, %rcx
 * and the word but for its kind, %rax is g, and (%rsp) the way back: see tight.h. All
 * else is kept in the spill frame, whose address is in %r8 meanwhile, and then in %rcx again.
 */
	.macro	to_spill kind
	movl	$\kind, SPILL_WORD(%rcx)
	mov	%rdx, SPILL_RDX(%rcx)
	mov	%rsi, SPILL_RSI(%rcx)
	mov	%rdi, SPILL_RDI(%rcx)
	mov	%r8, SPILL_R8(%rcx)
	mov	%rax, SPILL_G(%rcx)
	mov	%rcx, %r8
	lahf
	seto	%al
	mov	%rax, SPILL_FLAGS(%r8)
	.endm

	.macro	from_spill
	mov	%r8, %rcx
	mov	SPILL_FLAGS(%rcx), %rax
	add	$0x7f, %al
	sahf
	mov	SPILL_RDX(%rcx), %rdx
	mov	SPILL_RSI(%rcx), %rsi
	mov	SPILL_RDI(%rcx), %rdi
	mov	SPILL_R8(%rcx), %r8
	.endm

/* %rdi: the depth in the stack of g, which is the goroutine told to the reader.
 * Leaves by 8 if there is no g, another one, or the stack is none of its own. */
	.macro	depth
	mov	SPILL_G(%r8), %rdi
	test	%rdi, %rdi
	jz	8f
	cmp	THREAD_GOROUTINE(%rsi), %rdi
	jne	8f
	lea	8(%rsp), %rax
	cmp	(%rdi), %rax		/* g.stack.lo */
	jb	8f
	mov	8(%rdi), %rdi		/* g.stack.hi */
	sub	%rax, %rdi
	jbe	8f
	shl	$REC_TIME_SHIFT, %rdi
	.endm

/* The way out of all of them. Calls that are no goroutine's have frames, also where they are lost,
 * and these are the slow path's. */
	.macro	unkept losses
	from_spill
	ret
6:	depth
	full
	lose	\losses
	from_spill
	ret
8:	from_spill
	jmp	*hot_begin+ARENA_SLOW_TIGHT(%rip)
	.endm

	.macro	tight how, what, kind, losses
	.balign 64
\how\()_tight_\what\():
	to_spill \kind
	\how
1:	cursor	16
	depth
	clock
	add	SPILL_WORD(%r8), %rdx
	reserve	16
	mov	%rdi, 8(%rax)
	mov	%rdx, (%rax)
	unkept	\losses
	.endm

	.macro	tight_mark how
	.balign 64
\how\()_tight_mark:
	to_spill REC_NONE
	\how
1:	cursor	16
	depth
	clock
	put_word 0, SPILL_WORD(%r8)
	unkept	RING_LOST_ENTRIES
	.endm

	.macro	tight_counting how
	.balign 64
\how\()_tight_count:
	to_spill REC_EXT
	\how
	mov	SPILL_WORD(%r8), %rcx
	shr	$REC_FUNC_SHIFT - 3, %rcx
	add	THREAD_COUNTS(%rsi), %rcx
	cmp	THREAD_COUNTED(%rsi), %rcx
	jae	8f
	incq	(%rcx)
	from_spill
	ret
8:	from_spill
	jmp	*hot_begin+ARENA_SLOW_TIGHT(%rip)
	.endm

	.macro	exiting how, what
	.balign 64
\how\()_\what\():
	.cfi_startproc
	arrive
	pushes
	\how
1:	cursor	8
	lea	S(%rsp), %rax
	mov	THREAD_TOP(%rsi), %rdi
	cmp	%rax, (%rsi, %rdi)
	jne	8f
	clock
	add	WORD(%rsp), %rdx
	reserve	8
	mov	%rdx, (%rax)
	unframe
	done
6:	lose_exit
	done
7:	shl	$2, %rdi
	mov	%rdi, WORD(%rsp)
8:	slow	ARENA_SLOW_EXIT
	.cfi_endproc
	.endm

/* There is no frame to keep in a mark. The calls are open whose frames are not below S and `more`:
 * of a place within a function its own frame may be where the place has the stack pointer. */
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
	tight \how, entry, REC_ENTRY, RING_LOST_ENTRIES
	tight \how, exit, REC_EXIT, RING_LOST_EXITS
	tight_mark \how

	.balign 64
\how\()_entry:
	.cfi_startproc
	pushes
	\how
1:	cursor	8
	one_more
	clock
	add	WORD(%rsp), %rdx
	reserve	8
	mov	%rdx, (%rax)
	lea	S(%rsp), %rdx
	frame
	done
6:	full
	one_more
	lose	RING_LOST_ENTRIES
	lea	S-7(%rsp), %rdx
	frame
	done
7:	shl	$2, %rdi		/* REC_NONE: the frame is to be settled */
	and	$1, %edx		/* it is odd if the entry was lost */
	lea	(%rdi, %rdx, SETTLE_LOST), %rdi
	mov	%rdi, WORD(%rsp)
8:	slow	ARENA_SLOW_ENTRY
	.cfi_endproc

	exiting	\how, exit

	marking	\how, mark, 0
	marking	\how, place, (ZONE-8)
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

	.set	leaving, 1
	exiting	hot, leave
	exiting	seek, leave
	goroutine hot, leave, RING_LOST_EXITS
	goroutine seek, leave, RING_LOST_EXITS
	timed_exiting hot, leave
	timed_exiting seek, leave
	sifted_exiting hot, leave
	sifted_exiting seek, leave
	read_leaving hot
	read_leaving seek
	.set	leaving, 0

/* An entry that is recorded where something is on the stack already. */
tight_late:
	movl	$REC_ENTRY, SPILL_WORD(%rcx)
	mov	%rax, SPILL_G(%rcx)
	jmp	*hot_begin+ARENA_SLOW_TIGHT(%rip)

/* A thread that has no spill frame: where its stub is becomes an address. */
	.balign 16
tight_first:
	add	hot_begin+ARENA_FIRST(%rip), %rax
	jmp	*hot_begin+ARENA_SLOW_FIRST(%rip)
tight_first_end:

/* Of watched functions and of those whose values are read all is done in C, and of entries that
 * are recorded where something is on the stack already. */
	.balign 64
watch_entry:
	.cfi_startproc
	jmp	*hot_begin+ARENA_SLOW_WATCH_ENTRY(%rip)
watch_exit:
	jmp	*hot_begin+ARENA_SLOW_WATCH_EXIT(%rip)
values_entry:
	jmp	*hot_begin+ARENA_SLOW_VALUES_ENTRY(%rip)
values_exit:
	jmp	*hot_begin+ARENA_SLOW_VALUES_EXIT(%rip)
guard:
	jmp	*hot_begin+ARENA_SLOW_GUARD(%rip)
	.cfi_endproc

/* Where the registers lie that pass arguments: arch.h has their order. */
arguments:
	.byte	KEPT_RDI, KEPT_RSI, KEPT_RDX, KEPT_RCX, KEPT_R8, KEPT_R9

/* An unwinder looks up a frame: (%rsp) leads to the stub's copy of its function, which
 * 8(%rsp) has called. See stand.S. */
	.balign 16
hot_find:
	.cfi_startproc
	.cfi_def_cfa_offset 16
	jmp	*hot_begin+ARENA_SLOW_FIND(%rip)
	.cfi_endproc

	.balign 16
hot_end:
	.size	hot_begin, . - hot_begin

/* Where each of them begins: struct hot_table. */
	.macro	at routines:vararg
	.irp	routine, \routines
	.long	\routine - hot_begin
	.endr
	.endm
	.macro	sets how
	at	\how\()_entry, \how\()_exit, \how\()_mark, \how\()_count, \how\()_leave
	at	\how\()_go_entry, \how\()_go_exit, \how\()_go_mark, \how\()_count
	at	\how\()_go_leave
	at	\how\()_tight_entry, \how\()_tight_exit, \how\()_tight_mark
	at	\how\()_tight_count, hot_begin
	at	\how\()_timed_entry, \how\()_timed_exit, \how\()_mark, \how\()_count
	at	\how\()_timed_leave
	at	\how\()_sifted_entry, \how\()_sifted_exit, \how\()_mark, \how\()_count
	at	\how\()_sifted_leave
	.endm

	.macro	reads how
	at	\how\()_read1_entry, \how\()_read2_entry, \how\()_read3_entry
	at	\how\()_read4_entry, \how\()_read6_entry, \how\()_read6_entry
	at	hot_begin
	at	\how\()_read1_exit, \how\()_read2_exit, \how\()_read1_leave, \how\()_read2_leave
	.endm

	.balign 4
hot_table:
	sets	hot
	sets	seek
	at	watch_entry, watch_exit, values_entry, values_exit, guard, hot_find
	at	tight_late, tight_first, tight_first_end
	reads	hot
	reads	seek
	at	hot_asking_entry, hot_asking_exit, seek_asking_entry, seek_asking_exit
	at	hot_place, hot_place, seek_place, seek_place
	.section .note.GNU-stack, "", %progbits
