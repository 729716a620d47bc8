/* SPDX-License-Identifier: MIT */
/*
 * callers: which callers has a call, up the stack?
 *
 * The injector makes tables of the unwind information of all code (symbols/unwind/rows.h), from
 * callers_off of the session on; the payload walks the stack by them, and puts what it finds as an
 * EXT_CALLERS before the call's record (and before what is read of the call). Of that the first
 * body word has, as its data, how many callers there are, from bit CALLERS_CUT_SHIFT on why there
 * are no more, and from CALLERS_FUNC_SHIFT on the function; each of the others has an address.
 *
 *	struct callers		one
 *	uint8_t[funcs]		by function id, at funcs_at: enum callers_of
 *	struct callers_module	two lists of `most_modules`, at lists_at, of which one holds; sorted
 *	...			what these refer to
 *
 * All places are bytes from callers_off on, and nothing in here is believed: the program may have
 * written anywhere.
 */
#ifndef PAYLOAD_CALLERS_H
#define PAYLOAD_CALLERS_H

#include <stdint.h>

#define CALLERS_MOST 128
#define CALLERS_CUT_SHIFT 8
#define CALLERS_FUNC_SHIFT 16
/* In an address: it is where a signal has interrupted, and not behind a call. */
#define CALLERS_EXACT (1ull << 61)
#define CALLERS_ADDRESS_BITS 57

/* Whose callers are taken? */
enum callers_of {
	CALLERS_NONE = 0,
	CALLERS_ENTRY = 1,	/* of a function that begins, or ends: its own frame is not there */
	CALLERS_PLACE = 2,	/* of a place within one */
	CALLERS_MOVED = 3,	/* as ENTRY, on a stack that a language's runtime moves */
};

/* Why are there no more? In recordings, too. */
enum callers_cut {
	CALLERS_WHOLE = 0,	/* the last is the outermost one */
	CALLERS_FULL = 1,	/* as many as were asked for */
	CALLERS_NO_TABLE = 2,	/* the last lies in code that no table tells of, and no frame
				 * pointer leads on */
	CALLERS_NO_RULE = 3,	/* the table says what rules do not */
	CALLERS_NO_MEMORY = 4,	/* the stack cannot be read there */
	CALLERS_ODD = 5,	/* what is found is no stack */
};

struct callers {
	uint32_t most;		/* callers of one call */
	uint32_t funcs;		/* how many have a word */
	uint64_t funcs_at, lists_at;
	uint32_t most_modules;
	uint32_t changes;	/* list `changes` % 2 holds [release] of the injector */
	uint32_t modules[2];	/* how many each has */
};

/* A range of code; rows by their distance from its start. */
struct callers_module {
	uint64_t start, end;
	uint64_t rows_at;	/* uint32_t[rows], and behind them uint16_t[rows]: their rules */
	uint64_t rules_at;	/* struct callers_rule[rules] */
	uint32_t rows, rules;
};

/* As struct unwind_rule; 0: no table tells. */
struct callers_rule {
	int32_t cfa, ra, fp;
	int16_t link;
	uint8_t base;		/* enum callers_base */
	uint8_t flags;		/* enum callers_flag */
};

enum callers_base {
	CALLERS_BY_FP = 0,	/* nothing is known: by frame pointer, if that is sound */
	CALLERS_END,
	CALLERS_STOP,		/* `cfa` not 0: for want of a table */
	CALLERS_SP, CALLERS_FP, CALLERS_FP_AT, CALLERS_PLT,
	CALLERS_SIGNAL,
};

enum callers_flag {
	CALLERS_FP_SAME = 1, CALLERS_FP_GONE = 2, CALLERS_FP_BY_FP = 4, CALLERS_LINKED = 8,
};

/* What each ring has besides, at walks_off: for the payload alone. */
#define WALK_SIZE 32768

#endif
