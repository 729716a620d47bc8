/* SPDX-License-Identifier: MIT */
/*
 * condition: which calls are of interest?
 *
 *	len > 4096 && str(key) == "user:42" || retval < 0
 *
 * The language is in docs/conditions.md. A condition is compiled for one function, by its
 * signature and read plan, into a list of operations, which the payload executes at the entry and
 * at the exit of each call: they work on a stack, one behind the other, without a jump.
 *
 * It is plain data of fixed size, without types and without pointers. condition_check says whether
 * it is of this form; and condition_run reads and writes nothing but what it is given, whatever the
 * bytes of a condition are, for the program may write over them.
 *
 * What is not known. A term has one of three values: false, true and unknown, as its value may not
 * be readable. At the entry some terms are open: they will be known at the exit only. So what is on
 * the stack is the set of the values that a term may come to have.
 */
#ifndef VALUES_CONDITION_H
#define VALUES_CONDITION_H

#include "values/reads.h"

enum {
	CONDITION_OPS = 64,
	CONDITION_POOL = 256,	/* bytes of literals */
	CONDITION_RANGES = 16,	/* of addresses, for `caller` */
	CONDITION_STACK = 6,	/* values that wait for an operation */
};

/* Facts of a call that are not among its values. */
enum condition_need {
	CONDITION_TID = 1,
	CONDITION_PID = 2,
	CONDITION_CPU = 4,
	CONDITION_COMM = 8,
	CONDITION_CALLER = 16,
	CONDITION_DEPTH = 32,
	CONDITION_DURATION = 64,
};

enum condition_code {
	/* Terms: a boolean is pushed. */
	CONDITION_TEST,		/* the number in a result, with `number` */
	CONDITION_TEST_FACT,	/* fact `index`, with `number` */
	CONDITION_TEXTS,	/* two texts */
	CONDITION_FLOATS,	/* two numbers, one of which is a float */
	CONDITION_CALLED,	/* the caller is in one of `bits` ranges, from `shift` on */
	CONDITION_SAMPLE,	/* one in `number` */
	CONDITION_CONSTANT,	/* `index`: a set of values (enum condition_value) */
	/* Numbers are pushed. */
	CONDITION_NUMBER,	/* `number` */
	CONDITION_VALUE,	/* of a result */
	CONDITION_FACT,		/* `index` */
	CONDITION_NOTHING,	/* it is unknown */
	/* Two numbers are popped, and one is pushed. */
	CONDITION_ADD, CONDITION_SUB, CONDITION_MUL, CONDITION_DIV, CONDITION_MOD,
	CONDITION_AND, CONDITION_OR, CONDITION_XOR, CONDITION_SHL, CONDITION_SHR,
	/* One is popped, and one is pushed. */
	CONDITION_NEGATE, CONDITION_COMPLEMENT,
	/* Numbers are popped, and a boolean is pushed. */
	CONDITION_COMPARE,	/* two */
	CONDITION_TRUTH,	/* one: it is not 0 */
	/* Booleans are popped, and one is pushed. */
	CONDITION_BOTH, CONDITION_EITHER, CONDITION_NOT,
	CONDITION_ELSE,		/* the first; but if it is unknown the second */
	CONDITION_GIVEN,	/* the set `index` if the one is true, else unknown */
	CONDITION_CODES,
};

/* Of booleans, as a set: which it may be. */
enum condition_value {
	CONDITION_FALSE = 1,
	CONDITION_TRUE = 2,
	CONDITION_UNKNOWN = 4,
	CONDITION_ANY = 7,
};

enum condition_relation {
	RELATION_LT, RELATION_LE, RELATION_GT, RELATION_GE, RELATION_EQ, RELATION_NE,
};

enum condition_fact {
	FACT_DURATION,		/* at the exit; before that, how long it takes at least */
	FACT_TID,
	FACT_PID,
	FACT_CPU,
	FACT_DEPTH,
	FACT_CALLER,
	FACTS,
};

/* Of an operand: bytes of a result, or of the pool. The lower half is the number's size: 1 to 8,
 * of floats also 10, and 0 for 16; or the kind of text. */
enum condition_form {
	FORM_SIZE = 0x0f,
	FORM_INTEGER = 0x10,	/* of a float's operand: it is an integer */
	FORM_AT_EXIT = 0x20,	/* it is there at the exit only */
	FORM_POOL = 0x40,	/* index is of no meaning, and `at` in the pool */
	FORM_SIGNED = 0x80,
};

enum condition_text {
	TEXT_RESULT,		/* what a result has from `at` on, up to `limit` bytes */
	TEXT_UP_TO_NUL,		/* the same, but it ends at a NUL */
	TEXT_SHORT,		/* behind the byte at `at`, whose upper bits are its length */
	TEXT_COMM,		/* the thread's name */
	TEXTS,
};

enum condition_flag {
	/* Which of the operands of a comparison have a sign; else of the operation. */
	CONDITION_SIGNED = 1,
	CONDITION_OTHER_SIGNED = 2,
};

struct condition_op {
	uint8_t code;		/* enum condition_code */
	uint8_t relation;	/* enum condition_relation */
	uint8_t flags;		/* enum condition_flag */
	uint8_t index;		/* of the operation of the read plan */
	uint16_t at;		/* byte of its result */
	uint8_t form;		/* enum condition_form */
	uint8_t shift;		/* of a number: its lowest bit */
	uint8_t bits;		/* and how many */
	uint8_t spare[3];
	uint16_t limit;
	uint8_t other_index, other_form;
	union {
		uint64_t number;
		struct {
			uint16_t other_at, other_limit;
		};
	};
};

struct condition_range {
	uint64_t start, end;	/* half-open */
};

struct condition {
	uint16_t nops;
	uint8_t nranges;
	uint8_t needs;		/* enum condition_need */
	uint8_t at_exit;	/* 1: some term is known at the exit only */
	uint8_t samples;	/* 1: it has a 1 in N */
	uint8_t unknown;	/* 1: a value in it is never known, for it is optimised out */
	uint8_t link;		/* which operation of the entry's has read where the call returns
				 * to, from 1 on, if it is asked outside of the process; else 0 */
	uint64_t kept;		/* bit i: if the entry leaves it open, the exit needs the result
				 * of that operation of the entry's */
	struct condition_op ops[CONDITION_OPS];
	struct condition_range ranges[CONDITION_RANGES];
	uint8_t pool[CONDITION_POOL];
};

_Static_assert(sizeof(struct condition_op) == 24, "it is in shared memory");
_Static_assert(sizeof(struct condition) == 16 + 24 * CONDITION_OPS + 16 * CONDITION_RANGES +
	       CONDITION_POOL, "it is in shared memory");

/* 0 or -EINVAL: it is of this form, and its facts (at_exit, samples, needs) are those of its
 * operations. Operations of the plan that it names and the plan has not are unknown. */
int condition_check(const struct condition *);
/* What a fact (enum condition_fact) takes: enum condition_need, or 0. */
uint8_t condition_needs(uint8_t fact);

/* ---- condition_run.c: it calls no library, and allocates nothing --------- */

/* Of one call. The exit is asked with those of the entry, and the duration; before that duration_ns
 * is how long it has been open, 0 at the entry. */
struct condition_facts {
	uint64_t duration_ns, tid, pid, cpu, depth;
	uint64_t caller;	/* the return address; 0: it is not known */
	uint64_t random;	/* 64 bits, the same ones at the entry and exit of a call */
	char comm[16];		/* "": it is not known */
};

enum verdict { VERDICT_FAILS, VERDICT_PASSES, VERDICT_OPEN };

/*
 * By what was read so far: at the exit by the results of the exit, and those of the entry that
 * are `kept`. VERDICT_OPEN is not of the exit: that will tell. What is still unknown at
 * the exit is no reason to pass.
 */
enum verdict condition_run(const struct condition *, bool at_exit, const struct reads_state *,
			   const struct condition_facts *);

#endif
