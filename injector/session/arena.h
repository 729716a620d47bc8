/* SPDX-License-Identifier: MIT */
/* arena: where is there room for stubs within a jump's reach of a module? */
#ifndef INJECTOR_ARENA_H
#define INJECTOR_ARENA_H

#include "injector/proc/gaps.h"

enum { ARENA_LEAST = 256 << 10 };	/* room for other modules, also later ones */

/*
 * In these gaps a place for `size` bytes from which all of `text` is within `reach`,
 * and the other way round. `after` is where the last try failed (0:
 * first try). -ENOSPC if there is none.
 */
int arena_find(const struct gaps *, struct range text, uint64_t size, int64_t reach,
	       raddr_t after, raddr_t *ret);

#endif
