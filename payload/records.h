/* SPDX-License-Identifier: MIT */
/* records: of what is a ring made, word by word? */
#ifndef PAYLOAD_RECORDS_H
#define PAYLOAD_RECORDS_H

/* Records. One 8-byte word, little-endian, from bit 0 up: kind (2), low 40 bits of the time
 * stamp (40), function or, if extended, subkind and number of words that follow (22). */
#define REC_NONE 0
#define REC_ENTRY 1
#define REC_EXIT 2
#define REC_EXT 3
#define REC_TIME_SHIFT 2
#define REC_TIME_BITS 40
/* For watch_entry, tight_late and values_entry the upper half has in place of the time by how many
 * words the stack pointer is lower than where the function begins (of a place within it: than that
 * place has it), and whether it is timed. */
#define REC_LATE_SHIFT 32
#define REC_LOWERED_MASK 0x1ff
#define REC_UNWATCHED 0x200
#define REC_TIMED 0x10000	/* in its lower: the stub is one of a visit that times calls */
#define REC_TAIL 0x20000	/* in its lower, of an exit: it is a jump to another function, and
				 * what that will return is not known yet */
#define REC_MOVED 0x40000	/* in its lower, where values are read: it is a goroutine's */
#define REC_SPAN 0x80000	/* in its lower, of a mark: from marks the reader makes a call, and
				 * so it is told how long that takes */
#define REC_PLACE 0x100000	/* in its lower, of a mark: it is of a place within a function, and
				 * the stack pointer lower by ZONE than the place has it: stand.h */
#define REC_FRAMED 0x200000	/* and the place has it lower than where its function began: a frame
				 * where the place has it is of a call that was left */
#define REC_FUNC_SHIFT 42
#define REC_FUNC_BITS 22
#define REC_WORDS_SHIFT 48	/* if extended: number of words that follow */

/* By which the stack pointer of a mark is shifted to its place in a body word, and bits from which
 * on the word's data have it. */
#define MARK_SP_SHIFT 31
#define MARK_AT 32
#define MARK_AT_BITS 30

/* Subkinds of REC_EXT, in bits 42..47 of the word; bits 48..51 are the number
 * of body words that follow; bits 52..63 are small data. A body word carries
 * its data shifted left by 2, so that its kind reads REC_NONE and a reader
 * that meets it without its header skips it. */
#define EXT_UNWOUND 1	/* frames above were left without an exit (throw,
			 * longjmp, pthread_exit). One body word: the number of
			 * frames that remain open on this stack, of those whose
			 * entries were recorded and still had room in the
			 * payload's table */
#define EXT_STACK 2	/* the thread goes on on another stack. One body word:
			 * the stack's number within its thread or, with
			 * STACK_SHARED, in the process */
#define EXT_MARK 3	/* an entry of an entry-only function, or a place within one: no exit
			 * will come. One body word: the function and, from MARK_AT on, where on
			 * its stack: bits 3 to 32 of the stack pointer; 0: not told */
#define EXT_LOST 4	/* one body word: entries and exits dropped before here
			 * and not yet told */
#define EXT_BEFORE 5	/* an exit whose entry was not probed yet: it ends none of the
			 * open calls, which may be around it, for probes are not all
			 * put in at once. One body word: the function */
#define EXT_AFTER 6	/* likewise, of a call that EXT_UNWOUND has ended: a fiber's */
#define EXT_VALUES 7	/* what was read of the call whose record follows: captures.h */
#define EXT_CALLERS 8	/* likewise, before that: callers.h */
#define EXT_BEGUN 9	/* a call that was open already is recorded from now on (sieve.h). Two
			 * body words: the function, and the time stamp of its begin */
#define EXT_REGISTERS 10 /* registers as they were at the record that follows, of which values are
			 * made (captures.h). A body word for each has its lower 7 bytes, and one
			 * behind these the eighth of each, all above a byte that is VALUES_LOW */
#define VALUES_LOW 4
#define KEPT_ARGUMENTS 7
#define KEPT_RESULTS 2

/* The stack of a goroutine is one more that any thread may run. Its number is made of
 * where its g is; and as it may move when it grows, its calls are told apart by
 * their depth: bytes from the stack's upper end to the return address. Of an entry
 * or an exit on it that is a body word, behind the record. */
#define STACK_GOROUTINE 0x40000000u
#define GOROUTINE_SHIFT 5	/* lower bits are zero in all */

/* A stack's number with this bit is that of a fiber, which any thread may run:
 * the thread that runs it has its open calls. STACK_FIBERS is where numbers begin anew. */
#define STACK_SHARED 0x80000000u
#define STACK_FIBERS 0x3ffffffeu
/* In a thread's table: another thread is about to have it, or has; or it is free. */
#define STACK_LEAVES 0xfffffffeu
#define STACK_TAKEN 0xffffffffu

#endif
