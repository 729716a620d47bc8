/* SPDX-License-Identifier: MIT */
/*
 * pick: one value of a call, as a user names it.
 *
 *	fd  arg3  retval  req.method  req->method  this.size  p[2].x  *count
 *
 * A member of what a pointer leads to is named as one of a structure: by "." or "->". Which value
 * that is depends on the signature alone, so that it is found once for each function.
 */
#ifndef VALUES_PICK_H
#define VALUES_PICK_H

#include "values/capture.h"

enum { PICK_STEPS = 24 };

enum pick_way {
	PICK_INTO,		/* bytes `at` on within the value */
	PICK_BEHIND,		/* what the pointer leads to that lies `at` bytes on in a value of
				 * type `type` */
};

struct pick {
	uint8_t param;		/* READS_RESULT: the result */
	uint8_t nsteps;
	bool exit;		/* it is known at the exit only */
	uint32_t type;		/* of what was picked */
	const struct member *bits;	/* it is this bit field, of the signature; or NULL */
	struct { uint8_t way; uint32_t type, at; } steps[PICK_STEPS];
};

/* 0; -ENOENT: the function has no such value. Any text may be given. */
int pick_find(const struct signature *, const char *name, struct pick *ret);
/* Is it the name of a value, whatever function that may be of? */
bool pick_is_name(const char *name);

/* Where its bytes are in a capture. HELD_UNREADABLE, HELD_CUT, HELD_NOT: not there; so it is if a
 * pointer on the way is NULL, then *null is set. */
enum held pick_spot(const struct capture *, const struct pick *, struct spot *ret, bool *null);

#endif
