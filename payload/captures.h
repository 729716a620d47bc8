/* SPDX-License-Identifier: MIT */
/*
 * captures: what is read of calls, in the session?
 *
 * Where values are captured, the record of an entry, exit or mark stands behind an EXT_VALUES, with
 * nothing between them but what is said of stacks and losses. Its number of body words is in bits
 * 48 to 63. The first has, as its data, how many bytes were read, and from bit VALUES_FUNC_SHIFT on
 * the function. Each of the others has VALUES_BYTES of these bytes, above one of VALUES_LOW.
 *
 * Where a plan reads nothing but registers that a recording routine can keep, that is all that the
 * target does: the record stands behind an EXT_REGISTERS, and the reader executes the plan.
 */
#ifndef PAYLOAD_CAPTURES_H
#define PAYLOAD_CAPTURES_H

#include "values/condition_early.h"
#include "values/reads.h"

#define VALUES_FUNC_SHIFT 16
#define VALUES_BYTES 7

/*
 * What is to be read of a function's calls. At plans_off are two lists by function id (uint32_t),
 * one behind the other, of which session.plans_at says which holds: where its plan is, from
 * plans_off on, in units of 8 bytes; 0: none. [release] of the injector, behind the plan. Of the
 * plan's operations only those are there which it has.
 *
 * Plans change while threads run (verb_filter.c of the injector): new ones are written where
 * nothing refers to, the other list behind them, and then plans_at. So a call has the plan and the
 * condition of its entry to its end, if something was read there; and a place that is used again
 * has another number.
 */
struct capture_plan {
	uint64_t kept;		/* bit i: the exit needs what operation i of the entry has read */
	struct condition_early early;	/* by which a routine refuses calls, before C is asked */
	uint32_t vectors;	/* enum capture_vectors: which of these registers are read */
	uint32_t x87;		/* 1: these are */
	uint32_t condition;	/* where the struct condition is that calls have to pass, as the
				 * list says of plans; 0: there is none */
	uint32_t number;	/* of the change that has made it; 0: it was there from the begin */
	uint32_t renamed;	/* 1: what is told of a call are the results that have another
				 * number than READS_NONE here, by that number and not by that of
				 * their operation */
	uint32_t pad;
	uint8_t told[READS_MAX];
	struct read_plan plan;
};

enum capture_vectors {
	VECTORS_NONE = 0,
	VECTORS_FIRST = 1,	/* those that pass arguments and results: CAPTURE_VECTORS */
	VECTORS_ALL = 2,
};

enum { CAPTURE_VECTORS = 8 };

/* Of a thread: what it puts together, and behind that what pending calls have read (sieve.h), of
 * the stack that it was born with, and of each other. */
#define CAPTURE_TAKEN 32768
#define CAPTURE_HELD 32768
#define CAPTURE_OTHER 1024
#define CAPTURE_SIZE (CAPTURE_TAKEN + CAPTURE_HELD + 32 * CAPTURE_OTHER)

/* A plan in the session, in the units of its lists (0: none); and its number when it was chosen. */
struct plan_ref {
	uint32_t at, number;
};

/* What a pending call has read at its entry, in CAPTURE_HELD or CAPTURE_OTHER of its stack, from
 * where the frame's side says on. */
struct held_call {
	uint64_t sp;
	uint32_t func, n;	/* bytes */
	struct plan_ref by;
	uint8_t bytes[];
};

/* What a system call changes of a thread's vector registers, which a function may expect to be kept
 * where its probe stands; bits. */
enum call_changes {
	CALL_CHANGES_LONG = 1,	/* what is longer than 16 bytes of them, and predicates */
	CALL_CHANGES_MODE = 2,	/* the mode in which they are all longer: no call is made in it */
};

/* May memory be read at addresses that come from the program? */
enum reads_allowed {
	READS_NOTHING = 0,	/* only where it is certain to be mapped: the kernel may not be
				 * asked */
	READS_BY_CALL = 1,	/* by process_vm_readv */
};

/* At the entry of a function by which a process may put itself under a filter the payload is asked
 * first (`guards`). If its word is of kind REC_EXT, that is all, and nothing is recorded. */

#endif
