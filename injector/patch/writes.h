/* SPDX-License-Identifier: MIT */
/*
 * writes: which change writes over a place? No two write over the same.
 */
#ifndef INJECTOR_WRITES_H
#define INJECTOR_WRITES_H

#include "injector/ptrace/text.h"

struct writes {
	const struct change **v;	/* by address; owned. The changes are not, and stay */
	size_t n;
};

int writes_make(const struct change *, size_t n, struct writes *ret);
/* What is written over `a`; NULL: nothing. */
const struct change *writes_at(const struct writes *, raddr_t a);
void writes_clear(struct writes *);

#endif
