/* SPDX-License-Identifier: MIT */
/* condition_tree: a condition as its text has it, and what the files share that compile it. */
#ifndef VALUES_CONDITION_TREE_H
#define VALUES_CONDITION_TREE_H

#include "values/condition_compile.h"

enum {
	NODES_MAX = 192,
	NESTED_EXPRESSIONS = 32,
	NODE_NONE = -1,
};

enum node_kind {
	NODE_NUMBER,		/* `number`; -1 is a NODE_NEGATE of one */
	NODE_TIME,		/* `number` nanoseconds */
	NODE_REAL,		/* `real` */
	NODE_TEXT,		/* `n` bytes of the tree's text, from `at` on */
	NODE_NAME,		/* the same */
	NODE_MEMBER,		/* the same, of left */
	NODE_ELEMENT,		/* left[number] */
	NODE_BEHIND,		/* *left */
	NODE_STR,		/* str(left), str(left, right) */
	NODE_SAMPLE,		/* 1 in number */
	NODE_NEGATE, NODE_COMPLEMENT, NODE_NOT,
	NODE_COMPUTE,		/* `op`: CONDITION_ADD ... CONDITION_SHR */
	NODE_COMPARE,		/* `op`: enum condition_relation */
	NODE_BOTH, NODE_EITHER,
};

struct node {
	uint8_t kind, op;
	bool minus;		/* of a number, time or float */
	bool single;		/* of a float: it is written with an f */
	int16_t left, right;
	uint16_t column;
	uint16_t at, n;
	union {
		uint64_t number;
		double real;
	};
};

struct tree {
	struct node v[NODES_MAX];
	int n, root;
	char text[2 * CONDITION_POOL];	/* names and texts, without their escapes */
	size_t ntext;
};

/* 0, or -EINVAL and *err. */
int condition_parse(const char *expr, struct tree *ret, struct condition_error *err);

/* Says what is wrong there: -EINVAL. */
int condition_wrong(struct condition_error *, size_t column, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

#endif
