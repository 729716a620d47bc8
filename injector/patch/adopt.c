/* SPDX-License-Identifier: MIT */
/*
 * adopt: does a site have a stub of an earlier visit, as this visit would make it? Then that is
 * used again, and the function keeps its id: a thread may stand in the stub.
 */
#include <errno.h>
#include <string.h>

#include "injector/islands/islands.h"
#include "injector/patch/probes.h"
#include "injector/patch/shared_ids.h"
#include "injector/patch/slots.h"

struct adopting {
	const struct target *target;
	const struct session *old;
	struct slot_index index;
	struct shared_ids ids;
	bool *taken;		/* by id: a probe of this visit has it */
	const struct adopt_ids *ids_of;	/* NULL: it may have any */
};

static const struct arena *arena_of(const struct session *s, raddr_t stub)
{
	for (uint32_t i = 0; i < s->narenas; i++)
		if (stub >= s->arenas[i].base && stub < s->arenas[i].base + s->arenas[i].used)
			return &s->arenas[i];
	return NULL;
}

/* Does `code` stand at `at`, byte for byte? */
static bool adopt_stands(const struct adopting *ad, raddr_t at, const uint8_t *code, size_t n)
{
	uint8_t now[STUB_MAX];

	if (target_read(ad->target, at, now, n) < 0) {
		fail_clear();
		return false;
	}
	return memcmp(now, code, n) == 0;
}

/* And the island that leads there, if it does. */
static void adopt_island(struct adopting *ad, const struct module *m, struct placed_site *placed,
			 const struct slot *slot)
{
	raddr_t at = slot->addr + (raddr_t)(int64_t)slot->island;
	uint8_t code[ARCH_JUMP_MAX];

	if (!slot->island)
		return;
	placed->island = at - m->bias;
	int size = island_code(placed, code);

	if (size < 0 || !adopt_stands(ad, at, code, (size_t)size))
		placed->island = 0;
}

/* Would the stub of a slot (NULL: none) be made anew byte for byte? The site is
 * as placed there. */
static bool same_stub(const struct adopting *ad, const struct module *m,
		      const struct placed_probe *probe, struct placed_site *placed,
		      const struct slot *slot)
{
	const struct arena *a = slot && slot->stub ? arena_of(ad->old, slot->stub) : NULL;
	uint8_t code[STUB_MAX];
	size_t there;

	if (!a)
		return false;
	struct routines r = arena_routines(ad->old, a, m, probe);
	placed->stub = slot->stub - m->bias;
	int err = plan_place(arch_host(), probe, placed,
			     symbols_text(m->symbols, placed->site.pc, &there), &r, code,
			     sizeof(code));
	fail_clear();
	return !err && adopt_stands(ad, slot->stub, code, placed->stub_size);
}

/*
 * A site's slots, one for each stub that it has had: the one with the highest stub
 * below `limit`, or NULL. Stubs that were made together stand in the order of the
 * sites.
 */
static const struct slot *old_slot(const struct adopting *ad, const struct module *m,
				   const struct site *site, raddr_t limit)
{
	const struct slot_index *x = &ad->index;
	raddr_t addr = site->jump.pc + m->bias;
	const struct slot *best = NULL;

	for (uint32_t i = slot_index_first(x, addr); i < x->n; i++) {
		const struct slot *s = &x->slots[x->by_addr[i]];

		if (s->addr != addr)
			break;
		if ((s->kind == site_kind(site) || s->kind == SLOT_STUB) && s->stub < limit &&
		    (!best || s->stub > best->stub))
			best = s;
	}
	return best;
}

static void adopt_site(struct adopting *ad, const struct module *m,
		       const struct placed_probe *probe, struct placed_site *placed)
{
	const struct slot *slot = old_slot(ad, m, &placed->site, UINT64_MAX);

	for (; slot; slot = old_slot(ad, m, &placed->site, slot->stub)) {
		struct placed_site with = *placed;

		if (!same_stub(ad, m, probe, &with, slot))
			continue;
		*placed = with;
		adopt_island(ad, m, placed, slot);
		return;
	}
}

/* Those that were made with this one of the entry's. */
static bool same_stubs(const struct adopting *ad, const struct module *m,
		       struct placed_probe *probe, const struct slot *entry)
{
	bool same = true;

	for (size_t i = 0; i < probe->nsites; i++)
		same &= same_stub(ad, m, probe, &probe->sites[i],
				  old_slot(ad, m, &probe->sites[i].site, entry->stub + 1));
	return same;
}

/* Stubs that have jumps into each other: all, or none. */
static int adopt_linked(struct adopting *ad, const struct module *m, struct placed_probe *probe)
{
	const struct site *first = &probe->sites[probe->nsites - 1].site;
	const struct slot *entry = old_slot(ad, m, first, UINT64_MAX);
	size_t size = probe->nsites * sizeof(*probe->sites);
	auto_free struct placed_site *sites = malloc(size);
	struct placed_probe with = *probe;

	if (!sites)
		return fail(ENOMEM, "look for earlier stubs");
	with.sites = sites;
	for (; entry; entry = old_slot(ad, m, first, entry->stub)) {
		memcpy(sites, probe->sites, size);
		same_stubs(ad, m, &with, entry);	/* finds where the jumps lead */
		if (!same_stubs(ad, m, &with, entry))
			continue;
		memcpy(probe->sites, sites, size);
		for (size_t i = 0; i < probe->nsites; i++)
			adopt_island(ad, m, &probe->sites[i],
				     old_slot(ad, m, &probe->sites[i].site, entry->stub + 1));
		break;
	}
	return 0;
}

static bool may_have(const struct adopting *ad, const struct placed_probe *probe, uint32_t id)
{
	return id && id < ad->old->nfuncs && !ad->taken[id] &&
		(!ad->ids_of || ad->ids_of->may(ad->ids_of->ctx, id, probe));
}

/* What the place had for an id, the last time or, where it may not have that, before; 0: none
 * that it may have. */
static uint32_t id_at(const struct adopting *ad, const struct module *m,
		      const struct placed_probe *probe)
{
	const struct site *entry = &probe->sites[probe->nsites - 1].site;
	const struct slot_index *x = &ad->index;
	raddr_t addr = entry->jump.pc + m->bias;
	int64_t at = slot_index_find(x, addr, site_kind(entry));
	uint32_t id = at < 0 ? 0 : x->slots[at].func;

	if (may_have(ad, probe, id))
		return id;
	for (uint32_t i = slot_index_first(x, addr); ad->ids_of && i < x->n; i++) {
		const struct slot *s = &x->slots[x->by_addr[i]];

		if (s->addr != addr)
			break;
		if (s->kind == SLOT_STUB && may_have(ad, probe, s->func))
			return s->func;
	}
	return 0;
}

/* Unless it has come to be another's: what is shared in one visit need not be in the next. */
static int adopt_id(struct adopting *ad, const struct module *m, struct placed_probe *probe,
		    const char *name)
{
	uint32_t others = probe->shared ? shared_id(&ad->ids, probe, name) : 0;
	uint32_t id = others ? others : id_at(ad, m, probe);

	if (!id)
		return 0;
	probe->id = id;
	ad->taken[probe->id] = true;
	return probe->shared ? share_id(&ad->ids, probe, name) : 0;
}

/* In the last visit its exits had no place, which is not known yet of this one. */
static void adopt_alone(struct adopting *ad, const struct module *m,
			const struct placed_probe *probe)
{
	struct placed_site entry, *last = &probe->sites[probe->nsites - 1];

	if (last->stub || probe->entry_only)
		return;
	struct placed_probe alone = plan_alone(probe, &entry);

	adopt_site(ad, m, &alone, &entry);
	last->alone = entry.stub;
}

static int adopt_probe(struct adopting *ad, const struct module *m, struct placed_probe *probe,
		       const char *name)
{
	int err = adopt_id(ad, m, probe, name);

	if (err || !probe->id)
		return err;
	if (probe->planned->linked)
		return adopt_linked(ad, m, probe);
	for (size_t i = 0; i < probe->nsites; i++)
		adopt_site(ad, m, probe, &probe->sites[i]);
	adopt_alone(ad, m, probe);
	return 0;
}

int probes_adopt(const struct target *t, const struct old_session *old, struct selection *sel,
		 const struct adopt_ids *ids)
{
	struct adopting ad = { .target = t, .old = &old->s, .ids_of = ids };
	int err = slot_index_make(old->slots, old->s.nslots, &ad.index);

	ad.taken = calloc(old->s.nfuncs + 1, sizeof(*ad.taken));
	if (!err && !ad.taken)
		err = fail(ENOMEM, "look for earlier stubs");
	for (size_t i = 0; i < sel->n && !err; i++)
		for (size_t j = 0; j < sel->v[i].nprobes && !err; j++) {
			struct placed_probe *p = &sel->v[i].probes[j];

			if (p->refusal == REFUSED_NONE)
				err = adopt_probe(&ad, sel->v[i].module, p, sel->v[i].names[j]);
		}
	slot_index_clear(&ad.index);
	free(ad.ids.v);
	free(ad.taken);
	return err;
}
