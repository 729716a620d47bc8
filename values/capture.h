/* SPDX-License-Identifier: MIT */
/* capture: what did the operations of a plan bring, of one call? */
#ifndef VALUES_CAPTURE_H
#define VALUES_CAPTURE_H

#include "values/reads.h"
#include "values/signature.h"

/* It refers to all that it was made of. */
struct capture {
	const struct signature *signature;
	const struct read_plan *plan;
	struct captured {
		const uint8_t *bytes;
		uint16_t n;
		uint8_t status;		/* enum read_status */
		bool there;		/* it was executed, or tried */
	} v[READS_MAX];
	bool has_exit;
};

/* The results of the entry, and of the exit: NULL if there are none yet. 0, or -EBADMSG if they
 * are not this plan's. */
int capture_parse(const struct signature *, const struct read_plan *, const uint8_t *entry,
		  size_t nentry, const uint8_t *exit, size_t nexit, struct capture *ret);

/* Whether bytes of a value are there, and why not. */
enum held {
	HELD,
	HELD_NOT,		/* the compiler keeps them nowhere */
	HELD_CUT,		/* they were too many */
	HELD_UNREADABLE,
	HELD_UNASKED,		/* nothing was to be read: another variant, a length of 0 */
};

/* Bytes of a type: in the pieces of a parameter (READS_RESULT: the result), or what one
 * operation has brought. */
struct spot {
	bool own;
	uint8_t of;		/* the parameter, or the operation */
	uint32_t at;
};

enum held capture_take(const struct capture *, struct spot, uint32_t n, uint8_t *ret);
/* The operation that reads behind the pointer of that type which lies there; READS_NONE: none
 * does. Variants of a value may have pointers in one place: it is one that was executed, if one
 * was. */
uint8_t capture_behind(const struct capture *, struct spot, uint32_t type);

/* The same by the plan alone, whatever was executed: the first one of the entry, or of the exit. */
uint8_t capture_reads(const struct capture *, struct spot, uint32_t type, bool exit);

#endif
