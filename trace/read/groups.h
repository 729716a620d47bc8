/* SPDX-License-Identifier: MIT */
/*
 * groups: calls of one function in which the same values are the same, taken together.
 *
 * Several places of one name are one function, also where each has its values elsewhere.
 *
 * A group is shown as a function of its own, whose name has the values: read(fd=3). How many there
 * are is bounded, for a recording may hold a value that never comes twice: what comes when there
 * is no room is in a last group of its function, read(others). So what a group has is all that
 * there was of it, or, if it has come late, it is no group.
 */
#ifndef TRACE_GROUPS_H
#define TRACE_GROUPS_H

#include "trace/format/about.h"
#include "trace/read/frames.h"

enum {
	GROUPS_MOST = 10000,
	GROUPS_BYTES = 1 << 24,	/* of their texts, together */
	GROUPS_BY = 8,		/* values by which calls may be told */
};

struct group {
	const struct reader_func *func;	/* as it is, without values, */
	uint32_t id;			/* and its place in the table */
	/* What stands behind its name: "(fd=3) = 8", or "(others)". */
	const char *shown;
	/* The text of each value, one behind the other, each with its NUL: "" where the function
	 * has none, or one that was not recorded: then "?". NULL: the others. */
	const char *texts;
};

struct groups;

/* The names of values as pick.h has them. `ended`: calls are asked for once they have ended; else
 * only what is known at the entry counts. 0 or -ENOMEM. All that is given stays. */
int groups_new(const struct about *, const char *const *by, size_t n, bool ended,
	       struct groups **ret);
void groups_free(struct groups *);	/* NULL is legal */
/* All functions and groups: with those of the recording first, the one for functions that are not
 * known among them. *n: how many there are by now, less one. The table stays where it is. */
const struct reader_func *groups_funcs(const struct groups *, size_t *n);
/* The one that a call is in: a place in that table, which is the function's own, by which its calls
 * are counted, if it has none of the values. */
const struct reader_func *groups_of(struct groups *, const struct call *);
/* What is known of a place in the table; NULL: it is no group. */
const struct group *groups_at(const struct groups *, const struct reader_func *);
/* How many functions there may be at most. */
size_t groups_room(const struct groups *);
/* At the end: 0, or -EINVAL and a message if one of the values was in no call. */
int groups_check(const struct groups *);
/* Is there a value that calls had no group of their own for? */
bool groups_full(const struct groups *);

#endif
