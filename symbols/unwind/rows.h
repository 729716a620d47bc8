/* SPDX-License-Identifier: MIT */
/*
 * rows: how does one get from a frame to its caller's, at every place of a file's code?
 *
 * The programs of .eh_frame, and where it has none those of .debug_frame, run to their ends: from
 * each row's place on, up to the next row's, one rule holds. Few rules serve all rows.
 */
#ifndef SYMBOLS_ROWS_H
#define SYMBOLS_ROWS_H

#include "base/base.h"

/* Where the frame's fixed address is, the CFA: above it is what the caller has pushed. */
enum unwind_base {
	UNWIND_NONE,		/* no entry covers the place */
	UNWIND_END,		/* there is no caller */
	UNWIND_STOP,		/* the entry says what no rule can */
	UNWIND_SP,		/* the stack pointer, and `cfa` */
	UNWIND_FP,		/* the frame pointer, and `cfa` */
	UNWIND_FP_AT,		/* what memory holds there */
	UNWIND_PLT,		/* 8 above the stack pointer, 16 from byte `cfa` of 16 on */
	UNWIND_SIGNAL,		/* there is none: a signal has interrupted the caller. From the
				 * stack pointer on are at `cfa` its stack pointer, at `ra` its
				 * program counter, at `fp` and `link` these registers */
};

enum unwind_flag {
	UNWIND_FP_SAME = 1,	/* the frame pointer is the caller's */
	UNWIND_FP_GONE = 2,	/* what the caller had in it is not known */
	UNWIND_FP_BY_FP = 4,	/* `fp` counts from the frame pointer */
	UNWIND_LINKED = 8,	/* the return address is in its register */
};

struct unwind_rule {
	int32_t cfa;
	int32_t ra, fp;		/* from the CFA on: where return address and the caller's frame
				 * pointer are */
	int16_t link;
	uint8_t base;		/* enum unwind_base */
	uint8_t flags;		/* enum unwind_flag */
};

struct unwind_row {
	raddr_t at;		/* link-time: from here on holds */
	uint16_t rule;		/* this one of rules[] */
};

struct unwind_rows {
	struct unwind_row *v;	/* sorted by `at` */
	size_t n, cap;
	struct unwind_rule *rules;	/* no more than UNWIND_RULES */
	size_t nrules, rules_cap;
	uint32_t *slots;	/* by hash: a rule's index and 1 */
	raddr_t first;		/* link-time address of the first byte that is mapped */
};

enum { UNWIND_RULES = 1 << 15 };

/* Of the file behind `fd`, which may be closed afterwards, and of its debug file, below `root`;
 * nothing else of them is read. `mapped`: bytes of it that are mapped to be executed. A file
 * without such entries has no rows. 0, or -errno as symbols_open; -ENOENT if it has no code
 * there. */
int unwind_rows_open(int fd, const char *path, const char *root, struct range mapped,
		     struct unwind_rows *ret);
void unwind_rows_clear(struct unwind_rows *);

#endif
