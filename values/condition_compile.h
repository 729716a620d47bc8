/* SPDX-License-Identifier: MIT */
/*
 * condition_compile: which operations tell whether a call of this function passes?
 *
 * condition_parse.c	from text to a tree: syntax alone
 * condition_types.c	what is each operand, and do they go together?
 * condition_names.c	which value has this name, or this path of members?
 * condition_reads.c	which operation of the plan brings it? If none does, one is added.
 * condition_emit.c	the operations
 */
#ifndef VALUES_CONDITION_COMPILE_H
#define VALUES_CONDITION_COMPILE_H

#include "values/condition.h"
#include "values/signature.h"

struct condition_error {
	size_t column;		/* in the text, from 0: bytes */
	char what[200];
	bool unnamed;		/* the function has no argument that is called so, if no more */
};

/* What is known of the process, not of the function. */
struct condition_names {
	/* Where the code is of the functions that are called so (a glob): at most `room` ranges.
	 * 0, -ENOENT (there are none), -E2BIG (more than there is room for) or another error. NULL:
	 * it is not known of any. */
	int (*ranges)(void *ctx, const char *glob, struct condition_range *v, size_t room,
		      size_t *n);
	void *ctx;
	/* What reads where a call returns to, if it is asked outside of the process; else NULL. */
	const struct read_op *link;
};

/*
 * The condition of one function. Without a signature none of its values is known. Operations that
 * the plan lacks are added to it, and they show in no text; if there is no room, some that are only
 * shown are given up, so that a plan that was good before is good after.
 *
 * 0; -EINVAL: the text is wrong, whatever the function (*err says what); -ENOENT: this function has
 * no such value, or one that does not go with the rest: another one may have it (*err, too);
 * -ENOSPC: the plan, or the condition, has no room left (*err, too). Nothing has changed then.
 */
int condition_compile(const char *expr, const struct signature *, struct read_plan *,
		      const struct condition_names *, struct condition *ret,
		      struct condition_error *err);

/* Two lines that stand below a message: the text, and what points at the column. The second one's
 * end is left to what prints them. Returns what snprintf would. */
size_t condition_error_text(const char *expr, const struct condition_error *, char *buf,
			    size_t size);

#endif
