/* SPDX-License-Identifier: MIT */
/* compile_impl: what the pieces of a plan's making share: compile.c and compile_follow.c only. */
#ifndef VALUES_COMPILE_IMPL_H
#define VALUES_COMPILE_IMPL_H

#include "values/compile.h"

enum {
	BEHIND_MAX = 64,	/* of what a pointer points to */
	ELEMENTS_MAX = 4,	/* of an array that are followed */
};

/* Only if a byte of an earlier result is that. */
struct if_byte {
	uint8_t index, mask, value;
	uint16_t at;
};

struct compiling {
	const struct signature *s;
	struct compile_options o;
	struct read_plan *plan;
	struct if_byte condition;
	uint8_t param;		/* whose operations are made */
	uint16_t left;		/* bytes */
	bool at_exit;
};

/* Where bytes of a type are: in the results of the parameter's own pieces, or of one operation. */
struct where {
	uint8_t op;		/* READS_NONE: the parameter's own */
	uint32_t at;
};

/* compile_ops.c. One more operation: its index, READS_NONE if there is no room. */
uint8_t compile_add(struct compiling *, struct read_op);
/* Which result has these bytes, and where; false if none has all of them. */
bool compile_find(const struct compiling *, struct where, uint32_t size, uint8_t *op, uint16_t *at);
/* An operation that reads behind the pointer at `w`, of which `type` says what it leads to; false:
 * the pointer is not read. */
bool compile_behind(const struct compiling *, uint32_t type, struct where, uint32_t cap,
		    struct read_op *ret);
/* compile_go.c: of an interface its type's description and name, and the begin of its value. */
void compile_interface(struct compiling *, uint32_t type, struct where);
/* compile_follow.c: all that is to be read of a value of that type beyond its own bytes: behind
 * pointers, so deep. */
void compile_follow(struct compiling *, uint32_t type, struct where, unsigned int deep,
		    unsigned int nested);

#endif
