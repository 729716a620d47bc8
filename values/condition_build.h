/* SPDX-License-Identifier: MIT */
/* condition_build: what the files share that make operations of a tree. */
#ifndef VALUES_CONDITION_BUILD_H
#define VALUES_CONDITION_BUILD_H

#include "values/condition_tree.h"

/*
 * While it is built, operations that are added to the plan stand behind all others, those of the
 * entry, too, so that no index changes; reads_finish puts them in their order.
 */
struct building {
	const struct tree *t;
	bool deeper_first;	/* where the order is free, operands that are made of more */
	const struct signature *s;		/* NULL: none */
	const struct condition_names *names;	/* NULL: none */
	struct condition_error *err;
	struct condition *c;
	struct planned {
		struct read_op op;
		bool used;	/* the condition needs it */
		bool gone;	/* it was given up */
	} ops[2 * READS_MAX];
	unsigned int nops, left;	/* left: of bytes */
	size_t npool;
};

static inline const struct node *node_at(const struct building *b, int i)
{
	return &b->t->v[i];
}

static inline const char *node_name(const struct building *b, const struct node *n)
{
	return b->t->text + n->at;
}

/* ---- condition_reads.c --------------------------------------------------- */

/* Bytes of a result. */
struct read_bytes {
	uint8_t op;
	bool at_exit;
	uint16_t at;
};

/*
 * What brings these bytes, which an operation like `op` would: one that is there, or that is
 * added. -ENOSPC: there is no room.
 */
int reads_get(struct building *, const struct read_op *op, struct read_bytes *ret);
/* The same; false if none is there. */
bool reads_find(struct building *, const struct read_op *op, struct read_bytes *ret);
void reads_begin(struct building *, const struct read_plan *);
/* All operations in their order. */
void reads_finish(struct building *, struct read_plan *ret);

/* ---- condition_names.c --------------------------------------------------- */

/* A value: where its bytes are, of which nothing is read yet. */
struct value {
	uint32_t type;
	bool own;		/* bytes of a parameter; else of memory behind a pointer */
	bool gone;		/* nothing is known of it but its type */
	bool at_exit;		/* read at the exit */
	uint8_t param;		/* READS_RESULT: the result */
	bool counted;		/* `pointer` is bytes of it, no pointer: `span` of them, if there
				 * are so many */
	struct read_bytes pointer;
	struct read_op only;	/* if_mask is not 0: it is there only if its condition holds */
	int64_t at;		/* in the parameter, or from where the pointer leads */
	uint16_t span;		/* bytes that are there, of what a pointer leads to, if they are
				 * few */
	uint8_t bit, bits;	/* of a bit field; 0 bits: it is none */
};

void names_begin(const struct building *, uint8_t param, struct value *ret);
/* Is it a name, or a path of names, members and elements? */
bool node_is_path(const struct node *);
/* The value of a path. 0, -ENOENT, -EINVAL or -ENOSPC, and *err. */
int names_value(struct building *, int node, struct value *ret);
/* The parameter of that name, or READS_NONE. */
uint8_t names_param(const struct building *, const char *name);
/* What a pointer leads to; a null one brings nothing. `column` is for errors. */
int names_behind(struct building *, size_t column, struct value *);
/* So many bytes of it. */
int names_bytes(struct building *, size_t column, const struct value *, uint32_t size,
		struct read_bytes *ret);
/* An operation for that value, of which source, place and length are given. */
struct read_op names_op(const struct value *, bool at_exit, struct read_op op);
/* reads_get, with *err. */
int names_get(struct building *, size_t column, const struct read_op *, struct read_bytes *ret);
/* The number of an enumerator, of that type if it has one of that name; else of any. */
bool names_enumerator(const struct building *, const char *name, uint32_t type, int64_t *ret);
/* There is no such name. -ENOENT */
int names_missing(struct building *, const struct node *);

/* ---- condition_types.c --------------------------------------------------- */

enum operand_kind {
	OPERAND_NUMBER,
	OPERAND_TIME,
	OPERAND_FLOAT,
	OPERAND_TEXT,
	OPERAND_BOOLEAN,
};

enum operand_from {
	FROM_ITSELF,		/* a literal: `number`, `real`, or the node's text */
	FROM_VALUE,
	FROM_FACT,		/* `fact`; of a text: the thread's name */
	FROM_OPERATION,		/* it is computed */
};

struct operand {
	uint8_t kind, from;
	bool is_signed;		/* its 64 bits have a sign; else it is never below 0 */
	bool is_unsigned;	/* its type says that it is never below 0 */
	bool single;		/* of a float's literal: it has 32 bits */
	uint8_t fact;
	uint64_t number;
	double real;
	struct value value;
	uint32_t enumeration;	/* the type, if it is an enum */
	int node;		/* a text: of its literal, or its str() */
};

/* What is it? `enumeration`: of which enum its name may be one. */
int types_of(struct building *, int node, uint32_t enumeration, struct operand *ret);
/* Of a comparison: both operands, which go together. */
int types_compared(struct building *, const struct node *, struct operand *left,
		   struct operand *right);

/* ---- condition_texts.c --------------------------------------------------- */

/* A comparison of two texts. */
int texts_emit(struct building *, const struct node *, const struct operand *left,
	       const struct operand *right);

/* ---- condition_pool.c ---------------------------------------------------- */

int build_op(struct building *, size_t column, const struct condition_op *);
int build_pool(struct building *, size_t column, const void *bytes, size_t n, uint16_t *ret);
int build_wrong(struct building *, size_t column, int err, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

#endif
