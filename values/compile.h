/* SPDX-License-Identifier: MIT */
/* compile: what has to be read, to print the values of this signature? */
#ifndef VALUES_COMPILE_H
#define VALUES_COMPILE_H

#include "values/reads.h"
#include "values/signature.h"

struct compile_options {
	uint16_t text;		/* bytes of a text or buffer; 0: COMPILE_TEXT */
	uint8_t deep;		/* pointers that are followed, one behind the other */
};

enum { COMPILE_TEXT = 64, COMPILE_DEEP = 1 };

/*
 * The plan of a signature whose places are settled. It is within its limits: what has no room
 * is not read, and is printed as a pointer, or as cut off. reads_check finds it good.
 */
void reads_compile(const struct signature *, const struct compile_options *,
		   struct read_plan *ret);

#endif
