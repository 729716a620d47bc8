/* SPDX-License-Identifier: MIT */
/*
 * spread: how are numbers spread? Counted by powers of two, those below zero as those above it:
 *
 *	-7..-4  -3..-2  -1  0  1  2..3  4..7
 *
 * and of numbers that are no integers [0.5, 1) and (-1, -0.5]. Never more than some thousands of
 * rows, whatever comes.
 */
#ifndef TRACE_SPREAD_H
#define TRACE_SPREAD_H

#include "trace/output/output.h"
#include "values/number.h"

struct spread_row {
	int power;		/* 0: zero itself; else its sign and exponent: spread.c */
	uint64_t n;
};

/* What 2^63 integers of 16 bytes may add up to, signed. */
struct spread_sum {
	unsigned __int128 low;
	int64_t high;
};

/* All zero at first. */
struct spread {
	struct spread_row *rows;	/* sorted; those that have any */
	size_t nrows, cap;
	uint64_t n, nan;	/* without those that are no numbers; these */
	bool real, broken;	/* memory ran out */
	struct number least, most;
	struct spread_sum sum;	/* of integers, */
	double dsum;		/* and of others */
};

void spread_clear(struct spread *);
void spread_add(struct spread *, const struct number *);
/* "; average 5.5, smallest -3, largest 12"; nothing if there is none. */
void spread_print_head(const struct spread *, struct output *);
void spread_print(const struct spread *, struct output *);
/* ,"sum":11,"avg":5.5,"min":-3,"max":12,"buckets":[{"from":8,"to":15,"calls":1}] */
void spread_json(const struct spread *, struct output *);

/* "####" in `bar`, as long as n is of `most`. */
enum { BAR_LENGTH = 40 };
void spread_bar(uint64_t n, uint64_t most, char bar[BAR_LENGTH + 1]);

#endif
