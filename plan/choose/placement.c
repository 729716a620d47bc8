/* SPDX-License-Identifier: MIT */
/* placement: what a process may change of a plan is copied; and what becomes of a probe for which
 * a place is not free. */
#include "plan/placement.h"

struct placed_probe *plan_placement(const struct plan *plan)
{
	size_t nsites = 0;

	for (size_t i = 0; i < plan->nprobes; i++)
		nsites += plan->probes[i].nsites;
	struct placed_probe *ret = calloc(1, (plan->nprobes + 1) * sizeof(*ret) +
					  nsites * sizeof(struct placed_site));

	if (!ret)
		return NULL;
	struct placed_site *sites = (struct placed_site *)(ret + plan->nprobes + 1);

	for (size_t i = 0; i < plan->nprobes; i++) {
		const struct probe *p = &plan->probes[i];

		ret[i] = (struct placed_probe){ .planned = p, .refusal = p->refusal,
						.entry_only = p->entry_only,
						.sites = sites, .nsites = p->nsites };
		for (size_t k = 0; k < p->nsites; k++)
			sites++->site = p->sites[k];
	}
	return ret;
}

struct placed_probe plan_alone(const struct placed_probe *p, struct placed_site *entry)
{
	struct placed_probe ret = *p;

	*entry = p->sites[p->nsites - 1];
	entry->site.exits = 0;
	entry->site.leaves = false;
	entry->site.nexits = 0;
	entry->stub = entry->alone;
	ret.sites = entry;
	ret.nsites = 1;
	ret.entry_only = REFUSED_EXIT_NO_ROOM;
	return ret;
}

static void keep_entry(struct placed_probe *p)
{
	struct placed_site entry, *sites = p->sites;

	*p = plan_alone(p, &entry);
	*sites = entry;
	p->sites = sites;
}

/* The window stays, of which one instruction's first bytes are written. */
static void become_trap(const struct placed_probe *p, struct placed_site *s)
{
	s->site.tactic = TACTIC_TRAP;
	s->site.jump.len = p->planned->trap_size;
	s->site.kept = s->prefix = 0;
	s->island = 0;
}

void plan_give_up(struct placed_probe *p, struct placed_site *s)
{
	if (s->site.tactic == TACTIC_TRAP)
		return;
	if (s->site.tactic == TACTIC_PUN && p->planned->trap_size)
		become_trap(p, s);
	else if (s->site.entry || p->planned->linked)
		p->refusal = REFUSED_OUT_OF_REACH;
	else
		keep_entry(p);
}
