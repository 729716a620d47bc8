/* SPDX-License-Identifier: MIT */
/* needs: how much room do the stubs of a selection take? */
#ifndef INJECTOR_NEEDS_H
#define INJECTOR_NEEDS_H

#include "injector/modules/select.h"

enum { STUB_MAX = 2048 };	/* with its note */

/* Stubs that a module needs. */
struct arena_need {
	struct module *module;
	uint64_t bytes;		/* of stubs, an upper bound */
	int arena;		/* out: index in session.arenas; -1: no room
				 * within reach */
	bool spills;		/* some of it records where hardly any stack is
				 * left */
};

/* Bytes of a site's stub of this size with its note, with what is left over behind it. */
uint64_t needs_of_stub(const struct placed_probe *, const struct placed_site *, uint16_t size);
/* What the probes that are left need: bytes of new stubs per module (owned by
 * the caller, one entry per selected module), and journal slots. */
int needs_list(const struct selection *, struct arena_need **needs, uint32_t *slots);

#endif
