/* SPDX-License-Identifier: MIT */
/*
 * record_callers: what are the addresses called that stacks are made of?
 *
 * A recording is to explain itself, so each address is asked for when it is first seen, and the
 * metadata have its name from the next flush on.
 */
#include "trace/write/record_impl.h"

#include <errno.h>

enum { CALLERS_NAMED = 1 << 18 };	/* addresses; what comes later stays without a name */

static uint32_t *slot_of(const struct record *r, uint64_t address)
{
	size_t i = (address * 0x9e3779b97f4a7c15ull >> 32) & (r->slots_cap - 1);

	while (r->slots[i] && r->callers[r->slots[i] - 1].address != address)
		i = (i + 1) & (r->slots_cap - 1);
	return &r->slots[i];
}

static int grow_slots(struct record *r)
{
	size_t cap = MAX(r->slots_cap * 2, (size_t)1024);
	uint32_t *slots = calloc(cap, sizeof(*slots));

	if (!slots)
		return -ENOMEM;
	free(r->slots);
	r->slots = slots;
	r->slots_cap = cap;
	for (size_t i = 0; i < r->ncallers; i++)
		*slot_of(r, r->callers[i].address) = (uint32_t)i + 1;
	return 0;
}

static int note(struct record *r, uint64_t address)
{
	const struct caller_names *names = r->options.names;
	struct caller *c;

	if (r->ncallers * 2 >= r->slots_cap && grow_slots(r))
		return -ENOMEM;
	if (*slot_of(r, address) || r->ncallers >= CALLERS_NAMED)
		return 0;
	c = vec_push(r->callers, r->ncallers, r->callers_cap);
	if (!c)
		return -ENOMEM;
	names->find(names->ctx, address, c);
	*slot_of(r, address) = (uint32_t)r->ncallers;
	return 0;
}

int record_note_callers(struct record *r, const struct event *e, size_t *n, uint8_t *cut)
{
	int err = 0;

	*n = e->ncallers;
	*cut = e->cut;
	if (r->options.names)
		*n = callers_sound(r->options.names, e->callers, *n, cut);
	for (size_t i = 0; r->options.names && i < *n && !err; i++)
		err = note(r, e->callers[i]);
	return err ? fail(ENOMEM, "record callers") : 0;
}

static int by_address(const void *a, const void *b)
{
	const struct caller *x = a, *y = b;

	return x->address < y->address ? -1 : x->address > y->address;
}

int record_sort_callers(const struct record *r, struct caller **ret)
{
	struct caller *v = calloc(r->ncallers + 1, sizeof(*v));

	if (!v)
		return fail(ENOMEM, "name callers");
	for (size_t i = 0; i < r->ncallers; i++)
		v[i] = r->callers[i];
	vec_sort(v, r->ncallers, by_address);
	*ret = v;
	return 0;
}
