/* SPDX-License-Identifier: MIT */
#include "injector/patch/slots.h"

#include <errno.h>
#include <string.h>

#include "injector/patch/order.h"

enum slot_kind site_kind(const struct site *s)
{
	return s->place ? SLOT_PLACE : s->entry ? SLOT_ENTRY : s->host ? SLOT_HOLE : SLOT_EXIT;
}

/* Once others that stand around it are gone, a jump still leads where it did only if it
 * is whole and by itself. */
static bool goes_last(const struct placed_probe *probe, const struct site *site)
{
	return probe->finds && site->entry && !site->level &&
		(site->tactic == TACTIC_JUMP || site->tactic == TACTIC_SITE);
}

struct slot slot_of(const struct module *m, const struct placed_probe *probe,
		    const struct placed_site *placed, const struct patch *patch)
{
	const struct site *site = &placed->site;
	bool jump = patch == &site->jump;
	struct slot ret = {
		.addr = patch->pc + m->bias, .stub = placed->stub + m->bias, .func = probe->id,
		.stub_size = placed->stub_size, .kind = jump ? site_kind(site) : SLOT_HOLE,
		.len = patch->len, .window = site->window, .state = SLOT_FREE,
		.level = site->level, .finds = goes_last(probe, site),
		.island = jump && placed->island ? (int32_t)(placed->island - site->pc) : 0,
	};

	memcpy(ret.old, patch->old, sizeof(patch->old));
	memcpy(ret.new_, jump ? placed->new_jump : placed->new_hole, sizeof(placed->new_jump));
	return ret;
}

struct change slot_change(const struct slot *s, uint32_t i)
{
	struct change ret = { .addr = s->addr, .len = s->len, .rank = order_rank(s),
			      .finds = s->finds, .slot = i, .func = s->func };

	memcpy(ret.from, s->old, sizeof(ret.from));
	memcpy(ret.to, s->new_, sizeof(ret.to));
	return ret;
}

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
	vec_sort(ret->by_addr, n, by_slot_addr);
	return 0;
}

void slot_index_clear(struct slot_index *index)
{
	free(index->by_addr);
	*index = (struct slot_index){ 0 };
}

uint32_t slot_index_first(const struct slot_index *x, raddr_t addr)
{
	return vec_prefix(x->n, i, x->slots[x->by_addr[i]].addr < addr);
}

int64_t slot_index_find(const struct slot_index *x, raddr_t addr, enum slot_kind kind)
{
	for (uint32_t i = slot_index_first(x, addr);
	     i < x->n && x->slots[x->by_addr[i]].addr == addr; i++)
		if (x->slots[x->by_addr[i]].kind == kind)
			return x->by_addr[i];
	return -1;
}
