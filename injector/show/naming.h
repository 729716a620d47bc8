/* SPDX-License-Identifier: MIT */
/* naming: which functions of a process do these addresses lie in? */
#ifndef INJECTOR_NAMING_H
#define INJECTOR_NAMING_H

#include "injector/modules/modules.h"
#include "injector/ptrace/target.h"
#include "injector/session/callers.h"
#include "trace/format/callers.h"

struct named;

struct naming {
	/* Set by the caller; alive until naming_end. */
	const struct target *target;
	struct modules *mods;
	const struct callers_tables *callers;

	/* Our own. */
	struct modules *later;	/* as they were at later looks */
	size_t nlater, later_cap;
	unsigned int looks;
	struct layout layout;	/* where code is, of no module that is known, too */
	uint64_t next_list;	/* when it may be made anew */
	struct named *v;	/* by hash of the address */
	size_t n, cap;		/* cap: a power of 2, or 0 */
};

/* For struct caller_names; `ctx` is the struct naming. Names stay until naming_end. */
bool naming_find(void *ctx, uint64_t address, struct caller *ret);
void naming_end(struct naming *);

#endif
