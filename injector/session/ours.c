/* SPDX-License-Identifier: MIT */
#include "injector/session/ours.h"

#include "injector/session/blobs.h"

static struct range routines_of(const struct arena *a)
{
	return (struct range){ a->base, a->base + (raddr_t)(hot_end - hot_begin) };
}

static struct range stubs_of(const struct arena *a)
{
	return (struct range){ routines_of(a).end, a->base + a->size };
}

/* The part of an arena that holds `pc`; empty: none does. */
static struct range part_at(const struct session *s, raddr_t pc,
			    struct range (*part)(const struct arena *))
{
	for (uint32_t i = 0; i < s->narenas && i < SESSION_ARENAS; i++)
		if (range_has(part(&s->arenas[i]), pc))
			return part(&s->arenas[i]);
	return (struct range){ 0, 0 };
}

struct range ours_routines(const struct session *s, raddr_t pc)
{
	return part_at(s, pc, routines_of);
}

struct range ours_stubs(const struct session *s, raddr_t pc)
{
	return part_at(s, pc, stubs_of);
}

bool ours_in_routines(const struct session *s, raddr_t pc)
{
	return range_has(ours_routines(s, pc), pc);
}

bool ours_in_stubs(const struct session *s, raddr_t pc)
{
	return range_has(ours_stubs(s, pc), pc);
}

bool ours_in_payload(const struct session *s, raddr_t pc)
{
	return range_has(payload_range(s->payload), pc);
}

bool ours_has(const struct session *s, raddr_t pc)
{
	return ours_in_stubs(s, pc) || ours_in_routines(s, pc) || ours_in_payload(s, pc);
}
