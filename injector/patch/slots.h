/* SPDX-License-Identifier: MIT */
/*
 * slots: the journal tells of each place of text that is to change. A slot is a placed
 * site, serialised: whatever inject, of whatever build, finds it later makes the change from
 * it, or the change back. A change is made of a slot, by every inject.
 */
#ifndef INJECTOR_SLOTS_H
#define INJECTOR_SLOTS_H

#include "injector/modules/select.h"
#include "injector/ptrace/text.h"
#include "injector/session/session.h"

/* What a site's jump is in the journal. */
enum slot_kind site_kind(const struct site *);
/* Of one patch of a placed site, its jump or its hole. Not planned yet: SLOT_FREE. */
struct slot slot_of(const struct module *, const struct placed_probe *,
		    const struct placed_site *, const struct patch *);
/* The change that slot `i` tells of, but `kept`. */
struct change slot_change(const struct slot *, uint32_t i);

/* The journal's slots by address: where has a place been patched before? */
struct slot_index {
	const struct slot *slots;
	uint32_t *by_addr;	/* sorted; owned */
	uint32_t n;
};

int slot_index_make(const struct slot *, uint32_t n, struct slot_index *ret);
void slot_index_clear(struct slot_index *);
/* The first, in by_addr, of a place or beyond. */
uint32_t slot_index_first(const struct slot_index *, raddr_t addr);
/* The slot of a place and a kind, or -1. */
int64_t slot_index_find(const struct slot_index *, raddr_t addr, enum slot_kind);

#endif
