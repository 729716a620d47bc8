/* SPDX-License-Identifier: MIT */
/*
 * reads: what is to be read at a function's entry and exit, as a list of operations?
 *
 * A read plan is plain data of fixed size, without types: what executes it, in the target, only
 * knows registers, memory and lengths; what makes text of the result knows the signature, too.
 * It may stand in a recording, and is executed for bytes of strangers: each index is of an
 * earlier operation, each length has a limit, and reads_check says whether that is so.
 */
#ifndef VALUES_READS_H
#define VALUES_READS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	READS_MAX = 64,		/* operations of a plan */
	READS_BYTES_MAX = 1024,	/* that the operations of a plan may bring, together */
	READS_NONE = 0xff,	/* an index that is none */
	READS_RESULT = 0xff,	/* read_op.param: the function's result */
};

enum read_source {
	READ_GENERAL = 0,	/* register `index`, by its number in DWARF: cap bytes of it,
				 * from its byte `offset` on */
	READ_VECTOR = 1,	/* vector register `index` */
	READ_X87 = 2,		/* register `index` of the x87 stack, 10 bytes */
	READ_STACK = 3,		/* memory at `offset` from the entry's stack pointer */
	READ_MEMORY = 4,	/* memory at the pointer which the result of operation `index`
				 * has at `pointer_at`, plus `offset` */
	READ_LITERAL = 5,	/* nothing is read: cap bytes of `offset`, and `high` above it */
	READ_SUM = 6,		/* nor here: the result of operation `index` at pointer_at, plus
				 * that of length_index, if there is one, at length_at, times
				 * `unit`, plus `offset` */
};

enum read_flag {
	READ_AT_EXIT = 1,	/* else at the entry */
	READ_TEXT = 2,		/* ends behind the first NUL: what is brought is without it */
	READ_SIGNED = 4,	/* the length is a signed number; below 0: nothing is read */
	READ_TO_END = 8,	/* the length is an address: that of the end */
};

enum read_role {
	READ_PART = 0,		/* bytes of the value itself, from its byte `at` on */
	READ_POINTER = 1,	/* the pointer to a value that is passed by one */
	READ_BEHIND = 2,	/* what a pointer in another operation's result points to */
	READ_LENGTH = 3,	/* a length that another operation needs, or what a condition
				 * needs, and nothing else: it is in no text */
};

/*
 * One operation. It is executed if its condition holds and, of READ_MEMORY, its pointer was
 * read and is not 0. It brings min(length, cap) bytes; the length is cap unless `length_index`
 * says which result holds it (length_size bytes at length_at, each of `unit` bytes).
 */
struct read_op {
	uint8_t source;		/* enum read_source */
	uint8_t index;
	uint8_t flags;		/* enum read_flag */
	uint8_t role;		/* enum read_role */
	uint8_t param;		/* whose value it is of; READS_RESULT */
	uint8_t length_index;	/* READS_NONE: none */
	uint8_t length_size;	/* 1, 2, 4 or 8 */
	uint8_t if_index;	/* READS_NONE: no condition */
	uint16_t at, pointer_at, length_at, if_at;
	int32_t offset;
	uint16_t cap;		/* bytes, at most READS_BYTES_MAX */
	uint16_t unit;		/* at least 1 */
	uint8_t if_mask, if_value;	/* byte if_at of result if_index, masked, is that */
	uint16_t type;		/* for what makes text: the type whose bytes lead there */
	int32_t high;		/* READ_LITERAL: the upper half */
};

/* Operations of the entry come first, then those of the exit. */
struct read_plan {
	uint16_t nops, nentry;
	uint16_t machine;	/* e_machine */
	uint16_t bytes;		/* that all of them bring at most, without their heads */
	struct read_op ops[READS_MAX];
};

_Static_assert(sizeof(struct read_op) == 32, "it stands in recordings");
_Static_assert(sizeof(struct read_plan) == 8 + 32 * READS_MAX, "it stands in recordings");

enum read_status {
	READ_DONE = 0,
	READ_NOT = 1,		/* not executed: the condition, a pointer that is 0, a length
				 * below 0, or what it depends on was not read */
	READ_FAILED = 2,	/* the memory cannot be read; n bytes of it could */
	READ_CUT = 3,		/* the length was above the cap, or the text goes on */
};

/* What one operation has brought: before its bytes, which are filled up to a multiple of 4. */
struct read_result {
	uint16_t n;
	uint8_t status;		/* enum read_status */
	uint8_t op;		/* its index: a capture is its results in this order */
};

enum {
	READS_CAPTURE_MAX = READS_BYTES_MAX + READS_MAX * ((int)sizeof(struct read_result) + 3),
	READS_GENERAL = 33, READS_VECTOR = 32, READS_X87 = 8,
};

/* 0 or -EINVAL: it is of this form, so that it can be executed whatever it is. */
int reads_check(const struct read_plan *);
/* Reads the plan at the entry, or at the exit, nothing but these registers (by their numbers in
 * DWARF), and needs the exit nothing of the entry? How many of them, from the first on, it needs to
 * have been kept; 0: it reads more, or nothing. */
unsigned int reads_registers(const struct read_plan *, bool at_exit, const uint8_t *registers,
			     unsigned int n);
/* Which operations of the entry have results that operations of the exit need: bit i. */
uint64_t reads_kept(const struct read_plan *);

/* ---- reads_run.c: it calls no library, and allocates nothing ------------- */

struct reads_registers {
	uint64_t general[READS_GENERAL];	/* by their numbers in DWARF */
	uint8_t vector[READS_VECTOR][16];
	uint8_t x87[READS_X87][10];	/* from the top */
	uint64_t stack;			/* the stack pointer at the entry */
};

struct reads_memory {
	/* How many of `n` bytes at an address of the target, from the first on, could be read. */
	size_t (*read)(void *ctx, uint64_t at, void *buf, size_t n);
	void *ctx;
};

/* What was read so far of one call; all zero before the entry. */
struct reads_state {
	struct { uint16_t at, n; uint8_t status, done; } v[READS_MAX];
	uint16_t used;			/* bytes of the capture */
	uint8_t capture[READS_CAPTURE_MAX];
};

/* Execute the operations of the entry, or behind them those of the exit, of a plan that
 * reads_check has found good. The results are added to the capture. */
void reads_run(const struct read_plan *, bool at_exit, const struct reads_registers *,
	       const struct reads_memory *, struct reads_state *);

#endif
