/* SPDX-License-Identifier: MIT */
/* probes, continued: stubs of earlier visits, used again for the same site. */
#include <errno.h>
#include <string.h>

#include "injector/blobs.h"
#include "injector/islands.h"
#include "injector/probes.h"

enum { STUB_MAX = 2048 };

static const struct slot *sorting;	/* qsort has no context argument */

static int by_slot_addr(const void *a, const void *b)
{
	uint64_t x = sorting[*(const uint32_t *)a].addr, y = sorting[*(const uint32_t *)b].addr;

	return x < y ? -1 : x > y;
}

int slot_index_make(const struct slot *slots, uint32_t n, struct slot_index *ret)
{
	*ret = (struct slot_index){ slots, calloc((size_t)n + 1, sizeof(uint32_t)), n };
	if (!ret->by_addr)
		return fail(ENOMEM, "read the journal");
	for (uint32_t i = 0; i < n; i++)
		ret->by_addr[i] = i;
	sorting = slots;
	qsort(ret->by_addr, n, sizeof(*ret->by_addr), by_slot_addr);
	return 0;
}

void slot_index_clear(struct slot_index *index)
{
	free(index->by_addr);
	*index = (struct slot_index){ 0 };
}

int64_t slot_index_find(const struct slot_index *x, raddr_t addr, enum slot_kind kind)
{
	uint32_t lo = 0, hi = x->n;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (x->slots[x->by_addr[mid]].addr < addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	for (; lo < x->n && x->slots[x->by_addr[lo]].addr == addr; lo++)
		if (x->slots[x->by_addr[lo]].kind == kind)
			return x->by_addr[lo];
	return -1;
}

enum slot_kind site_kind(const struct site *s)
{
	return s->entry ? SLOT_ENTRY : s->host ? SLOT_HOLE : SLOT_EXIT;
}

struct routines arena_routines(const struct arena *a, const struct module *m)
{
	raddr_t base = a->base - m->bias;

	return (struct routines){ base + (raddr_t)(hot_entry - hot_begin),
				  base + (raddr_t)(hot_exit - hot_begin),
				  base + (raddr_t)(hot_mark - hot_begin) };
}

struct adopting {
	const struct target *target;
	const struct session *old;
	struct slot_index index;
};

static const struct arena *arena_of(const struct session *s, raddr_t stub)
{
	for (uint32_t i = 0; i < s->narenas; i++)
		if (stub >= s->arenas[i].base && stub < s->arenas[i].base + s->arenas[i].used)
			return &s->arenas[i];
	return NULL;
}

/* Does `code` stand at `at`, byte for byte? */
static bool stands(const struct adopting *ad, raddr_t at, const uint8_t *code, size_t n)
{
	uint8_t now[STUB_MAX];

	if (target_read(ad->target, at, now, n) < 0) {
		fail_clear();
		return false;
	}
	return memcmp(now, code, n) == 0;
}

/* And the island that leads there, if it does. */
static void adopt_island(struct adopting *ad, const struct module *m, struct site *site,
			 const struct slot *slot)
{
	raddr_t at = slot->addr + (raddr_t)(int64_t)slot->island;
	uint8_t code[ARCH_JUMP_MAX];

	if (!slot->island)
		return;
	site->island = at - m->bias;
	int size = island_code(site, code);

	if (size < 0 || !stands(ad, at, code, (size_t)size))
		site->island = 0;
}

static void adopt_site(struct adopting *ad, const struct module *m, const struct probe *probe,
		       struct site *site)
{
	int64_t at = slot_index_find(&ad->index, site->jump.pc + m->bias, site_kind(site));
	raddr_t stub = at < 0 ? 0 : ad->index.slots[at].stub;
	const struct arena *a = stub ? arena_of(ad->old, stub) : NULL;
	struct site with = *site;
	uint8_t code[STUB_MAX];
	size_t there;

	if (!a)
		return;
	struct routines r = arena_routines(a, m);
	with.stub = stub - m->bias;
	if (plan_place(arch_host(), probe, &with, symbols_text(m->symbols, site->pc, &there), &r,
		       code, sizeof(code)) == 0 &&
	    stands(ad, stub, code, with.stub_size)) {
		*site = with;
		adopt_island(ad, m, site, &ad->index.slots[at]);
	}
	fail_clear();
}

static void adopt_probe(struct adopting *ad, const struct module *m, struct probe *probe)
{
	const struct site *entry = &probe->sites[probe->nsites - 1];
	int64_t at = slot_index_find(&ad->index, entry->jump.pc + m->bias, SLOT_ENTRY);

	if (at < 0 || !ad->index.slots[at].func || ad->index.slots[at].func >= ad->old->nfuncs)
		return;
	probe->id = ad->index.slots[at].func;
	for (size_t i = 0; i < probe->nsites; i++)
		adopt_site(ad, m, probe, &probe->sites[i]);
}

int probes_adopt(const struct target *t, const struct old_session *old, struct selection *sel)
{
	struct adopting ad = { .target = t, .old = &old->s };
	int err = slot_index_make(old->slots, old->s.nslots, &ad.index);

	for (size_t i = 0; i < sel->n && !err; i++)
		for (size_t j = 0; j < sel->v[i].plan->nprobes; j++)
			if (sel->v[i].plan->probes[j].refusal == REFUSED_NONE)
				adopt_probe(&ad, sel->v[i].module, &sel->v[i].plan->probes[j]);
	slot_index_clear(&ad.index);
	return err;
}
