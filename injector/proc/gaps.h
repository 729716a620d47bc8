/* SPDX-License-Identifier: MIT */
/* gaps: where in a process is memory free, and likely to stay so? */
#ifndef INJECTOR_GAPS_H
#define INJECTOR_GAPS_H

#include <sys/types.h>

#include "base/base.h"

struct mapping;

/* Left free beside every mapping that is not ours, in bytes. */
enum { GAPS_BESIDE = 1 << 16 };

struct gaps {
	struct range *v;	/* ascending, whole pages; owned */
	size_t n, cap;
	size_t mappings;	/* between them */
};

/*
 * What is left to a heap upwards. A language's runtime may map its memory elsewhere: what
 * grows there is that of C code in such a program, whose malloc maps what it finds no room
 * for. Without C there is none (islands_heap).
 */
#define GAPS_HEAP (1ull << 30)
#define GAPS_HEAP_LEAST (1ull << 28)	/* even where there is no other place */
#define GAPS_HEAP_BESIDE (1ull << 24)

/* Is this a mapping that nothing has to be left free beside? */
typedef bool (*gaps_ours)(void *ctx, const struct mapping *);

/* All gaps of a process but what its heap (by so much) or its main stack may grow
 * into, and with a little distance from every mapping but those of ours (NULL: none). */
int gaps_find(pid_t pid, uint64_t heap, gaps_ours ours, void *ctx, struct gaps *ret);
/* What is in `r` is none of them any more. 0 or -ENOMEM. */
int gaps_take(struct gaps *, struct range r);
void gaps_clear(struct gaps *);

#endif
