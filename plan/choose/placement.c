/* SPDX-License-Identifier: MIT */
/*
 * placement: what one process makes of a plan. A plan is a value: it says what can be, and
 * does not change. In a placement stand the ids, stubs and islands of this very process,
 * and what it has no room for is given up.
 */
#include <string.h>

#include "plan/impl.h"

/* A probe's sites and their instructions lie in one block (fill.c). */
static size_t block_size(const struct probe *p)
{
	size_t size = p->nsites * sizeof(struct site);

	for (size_t i = 0; i < p->nsites; i++)
		size += p->sites[i].ninsns * sizeof(struct site_insn);
	return ALIGN_UP(size, sizeof(uint64_t));
}

static void copy_block(const struct probe *from, char *block, struct probe *to)
{
	struct site *sites = (struct site *)block;
	struct site_insn *insns = (struct site_insn *)(sites + from->nsites);

	*to = *from;
	to->sites = from->nsites ? sites : NULL;
	for (size_t i = 0; i < from->nsites; i++) {
		const struct site *s = &from->sites[i];

		sites[i] = *s;
		sites[i].insns = insns;
		memcpy(insns, s->insns, s->ninsns * sizeof(*insns));
		insns += s->ninsns;
	}
}

struct probe *plan_placement(const struct plan *plan)
{
	size_t head = ALIGN_UP((plan->nprobes + 1) * sizeof(struct probe), sizeof(uint64_t));
	size_t size = head;

	for (size_t i = 0; i < plan->nprobes; i++)
		size += block_size(&plan->probes[i]);
	char *all = malloc(size), *block = all ? all + head : NULL;

	for (size_t i = 0; all && i < plan->nprobes; i++) {
		copy_block(&plan->probes[i], block, (struct probe *)all + i);
		block += block_size(&plan->probes[i]);
	}
	return (struct probe *)all;
}

static void keep_entry(struct probe *p)
{
	struct site *s = p->sites;

	*s = p->sites[p->nsites - 1];
	p->nsites = 1;
	p->entry_only = REFUSED_EXIT_NO_ROOM;
	s->exits = 0;
	s->leaves = false;
	s->nexits = 0;
	s->stub = 0;
}

/* The window stays, of which one instruction's first bytes are written. */
static void become_trap(const struct probe *p, struct site *s)
{
	s->tactic = TACTIC_TRAP;
	s->jump.len = p->trap_size;
	s->kept = s->prefix = 0;
	s->island = 0;
}

void plan_give_up(struct probe *p, struct site *s)
{
	if (s->tactic == TACTIC_TRAP)
		return;
	if (s->tactic == TACTIC_PUN && p->trap_size)
		become_trap(p, s);
	else if (s->entry || p->linked)
		p->refusal = REFUSED_OUT_OF_REACH;
	else
		keep_entry(p);
}
