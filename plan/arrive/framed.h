/* SPDX-License-Identifier: MIT */
/* framed: may a function go by a word of its frame that another register reaches? */
#ifndef PLAN_FRAMED_H
#define PLAN_FRAMED_H

#include "plan/flow/value.h"

/* Of one function, wherever in it. */
struct framed {
	uint32_t bases;				/* registers by which it goes by words of memory */
	uint32_t copies[ARCH_REGISTERS_MAX];	/* what is put into others, or a sum with it */
};

/* Does it go by a word of memory, and by no linkage slot? */
bool framed_by_memory(const struct insn *);
/* The next instruction, of which `glance` tells: true if it may. The stack's own register and the
 * frame's are asked of elsewhere. */
bool framed_pass(struct framed *, const struct arch *, const struct insn *, const uint8_t *bytes,
		 size_t left, unsigned int glance);

#endif
