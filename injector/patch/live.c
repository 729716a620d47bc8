/* SPDX-License-Identifier: MIT */
#include "injector/patch/live.h"

static bool traps(const struct placed_probe *p)
{
	bool any = false;

	for (size_t i = 0; i < p->nsites; i++)
		any |= p->sites[i].site.tactic == TACTIC_TRAP;
	return any;
}

void live_count(struct live *live, const struct placed_probe *p, int n)
{
	if (p->silent || p->hidden)
		return;
	live->nprobed += (size_t)n;
	live->nentry_only += p->entry_only ? (size_t)n : 0;
	live->ntraps += traps(p) ? (size_t)n : 0;
}

const struct live_site *live_site_at(const struct live *live, raddr_t pc)
{
	/* The last site that starts before pc: at its start a PC may rest. */
	size_t n = vec_prefix(live->nsites, i, live->sites[i].start < pc);

	if (!n || pc >= live->sites[n - 1].start + live->sites[n - 1].size)
		return NULL;
	return &live->sites[n - 1];
}

static bool writes_at(const struct live_site *s, raddr_t addr)
{
	const struct site *site = &s->placed->site;

	addr -= s->module->bias;
	return site->jump.pc == addr || (site->hole.len && site->hole.pc == addr);
}

struct placed_probe *live_probe_at(const struct live *live, raddr_t addr)
{
	for (size_t i = 0; i < live->nsites; i++)
		if (writes_at(&live->sites[i], addr))
			return live->sites[i].probe;
	return NULL;
}

/* Others may have the same id. */
static bool is_of(const struct live *live, const struct slot *slot, const struct placed_probe *p)
{
	return slot->func == p->id && (!p->shared || live_probe_at(live, slot->addr) == p);
}

static bool keeps_of(const struct live_site *ls, const struct placed_probe *p)
{
	const struct symbols *syms = ls->module->symbols;
	const struct site *s = &ls->placed->site;
	const struct func *f = p->planned->func;
	struct range kept = { s->pc + s->jump.len, s->pc + s->jump.len + s->kept };

	if (s->tactic != TACTIC_PUN || f < syms->funcs || f >= syms->funcs + syms->nfuncs)
		return false;
	for (size_t i = 0; i < p->nsites; i++) {
		const struct patch *jump = &p->sites[i].site.jump;

		if (range_overlaps(kept, (struct range){ jump->pc, jump->pc + jump->len }))
			return true;
	}
	return false;
}

static struct placed_probe *pun_on(const struct live *live, const struct placed_probe *p)
{
	for (size_t i = 0; i < live->nsites; i++)
		if (live->sites[i].probe != p && keeps_of(&live->sites[i], p))
			return live->sites[i].probe;
	return NULL;
}

/* Where a mark is missing that copies end at, it is not known how long they take. */
static void drop_ends(struct live *live, uint32_t id)
{
	const struct reader_func *mark = id < live->nfuncs ? &live->funcs[id] : NULL;

	for (size_t i = 0; mark && i < mark->nends; i++)
		if (!mark->ends[i].thrown && mark->ends[i].func < live->nfuncs) {
			live->funcs[mark->ends[i].func].begins = false;
			live->funcs[mark->ends[i].func].entry_only = true;
		}
}

void live_drop(struct live *live, struct infection *inf, struct placed_probe *probe,
	       enum refusal why)
{
	size_t kept = 0;

	probe->refusal = why;
	for (size_t i = 0; i < live->nchanges; i++) {
		struct slot *slot = &inf->map.slots[live->changes[i].slot];

		if (is_of(live, slot, probe))
			slot->state = SLOT_REMOVED;
		else
			live->changes[kept++] = live->changes[i];
	}
	live->nchanges = kept;
	kept = 0;
	for (size_t i = 0; i < live->nsites; i++)
		if (live->sites[i].probe != probe)
			live->sites[kept++] = live->sites[i];
	live->nsites = kept;
	live_count(live, probe, -1);
	drop_ends(live, probe->id);
	for (struct placed_probe *with = probe + 1; with->with; with++) {
		with->refusal = why;
		live_count(live, with, -1);
	}
	for (struct placed_probe *on; (on = pun_on(live, probe)); )
		live_drop(live, inf, on, why);
}

void live_removed(const struct live *live, struct infection *inf)
{
	for (size_t i = 0; i < live->nchanges; i++)
		inf->map.slots[live->changes[i].slot].state = SLOT_REMOVED;
}

void live_clear(struct live *live)
{
	free(live->sites);
	free(live->changes);
	free(live->moves);
	free(live->funcs);
	free(live->ends);
	free(live->with);
	free(live->semaphores);
	*live = (struct live){ 0 };
}
