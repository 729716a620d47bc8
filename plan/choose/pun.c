/* SPDX-License-Identifier: MIT */
/*
 * pun: where no jump has room, what can one keep of the bytes that follow?
 *
 * A jump is longer than its window, and its last bytes are those that stand
 * behind the window already: code that is not ours, or that a jump leads to. They are not
 * written; a thread that arrives there finds what it always found. But they are the high bytes
 * of the jump's distance, so it leads to few places, and memory has to be made there: an
 * island, from which a jump leads on to the stub. Which places can be is said here; which are
 * free, a process knows.
 *
 * If another site's jump stands behind the window, its bytes are kept as they
 * will be: see injector/islands/islands.c.
 */
#include <errno.h>
#include <string.h>

#include "plan/impl.h"
#include "plan/placement.h"

#define SIGN 0x80000000u

/* Distances in the order of the addresses, all of them positive. */
static uint64_t biased(const struct jump_set *s, raddr_t a)
{
	return a - s->base + SIGN;
}

/*
 * The lowest d >= `least` of which the bits in `mask` are `value`: as `least`
 * down to the highest bit where a given one differs. If it is larger there, all
 * free bits below are zero; if smaller, the free bits above are counted up.
 */
static bool next_masked(uint32_t mask, uint32_t value, uint32_t least, uint32_t *ret)
{
	uint32_t d = (least & ~mask) | value, differ = d ^ least;

	if (differ) {
		uint32_t below = UINT32_MAX >> __builtin_clz(differ);
		uint64_t up = (uint64_t)(least | mask | below) + 1;

		if (d > least)
			d = (d & ~below) | (value & below);
		else if (up > UINT32_MAX)
			return false;
		else
			d = ((uint32_t)up & ~mask) | value;
	}
	*ret = d;
	return true;
}

bool jump_set_next(const struct jump_set *s, raddr_t from, raddr_t *ret)
{
	int64_t least = (int64_t)biased(s, from);
	uint32_t d;

	if (least > UINT32_MAX)
		return false;
	/* Flipping the sign bit makes signed order that of addresses. */
	if (!next_masked(s->mask, s->value ^ (s->mask & SIGN), (uint32_t)MAX(least, 0), &d))
		return false;
	*ret = s->base - SIGN + d;
	return true;
}

bool jump_set_has(const struct jump_set *s, raddr_t a)
{
	uint64_t d = biased(s, a);

	return d <= UINT32_MAX && (((uint32_t)d ^ SIGN) & s->mask) == s->value;
}

int plan_pun(const struct arch *arch, const struct placed_site *s, size_t prefix,
	     const uint8_t *p, uint16_t given, struct jump_set *ret)
{
	size_t size = prefix + arch->jump_size;

	if (prefix > arch->pun_prefixes || size > (size_t)s->site.jump.len + s->site.kept)
		return -ENOTSUP;
	return arch->pun_set(s->site.pc, prefix, p, given, ret);
}

/* How many of `n` bytes from `pc` on are text that the program itself never
 * rewrites? */
static size_t lasting(const struct body *b, raddr_t pc, size_t n)
{
	const struct plan_impl *p = b->impl;
	size_t left, i = 0;

	if (!symbols_text(p->symbols, pc, &left))
		return 0;
	while (i < MIN(n, left) && !plan_in_sled(p->arch, p->symbols, pc + i))
		i++;
	return i;
}

size_t pun_room(const struct body *b, const struct window *w, size_t *kept)
{
	const struct arch *arch = b->impl->arch;
	raddr_t pc = b->steps[w->first].insn.pc;
	size_t most = lasting(b, pc, (size_t)arch->jump_size + arch->pun_prefixes);
	/* What is written lies in one page; what is kept need not. */
	size_t room = MIN((size_t)w->size + w->dead, PAGE - pc % PAGE);

	room = window_room(b, w->first, w->last, MIN(room, (size_t)arch->jump_size));
	room = w->stays ? MIN(room, w->stays) : room;
	if (most < arch->jump_size)
		return 0;
	*kept = most - room;
	return room;
}

/* Bytes behind the window as the file has them, but for those that other sites
 * will write. */
static uint16_t given_bytes(const struct body *b, raddr_t pc, size_t room, size_t n)
{
	uint16_t given = 0;

	for (size_t i = room; i < n; i++)
		if (!ground_any(b->impl, LAYER_TAKEN, pc + i, 1))
			given |= 1u << i;
	return given;
}

/* Is there anywhere to lead to? */
static bool leads(const struct body *b, const struct window *w, struct range space)
{
	const struct arch *arch = b->impl->arch;
	raddr_t pc = b->steps[w->first].insn.pc, at;
	size_t kept, left, room = pun_room(b, w, &kept);
	const uint8_t *p = symbols_text(b->impl->symbols, pc, &left);
	struct jump_set set;

	if (!room)
		return false;
	uint16_t given = given_bytes(b, pc, room, room + kept);

	for (size_t n = 0; n + arch->jump_size <= room + kept; n++)
		if (!arch->pun_set(pc, n, p, given, &set) &&
		    (!range_size(space) ||
		     (jump_set_next(&set, space.start, &at) && range_has(space, at))))
			return true;
	return false;
}

/* From the entry on, as far as nothing stands in the way. */
bool pun_entry(struct body *b, struct range space, struct window *ret)
{
	struct window w = { 0 };

	for (size_t last = b->entry; last < b->nsteps && w.size < b->impl->arch->jump_size;
	     last++) {
		if (window_pun(b, b->entry, last, &w))
			break;
		*ret = w;
	}
	return w.size && leads(b, ret, space);
}

/* Back from an exit, and on behind one that may not be taken. */
bool pun_exit(struct body *b, size_t exit, struct range space, struct window *ret)
{
	size_t want = b->impl->arch->jump_size;
	struct window w = { 0 };

	for (size_t first = exit + 1; first-- > 0 && w.size < want; ) {
		if (window_pun(b, first, exit, &w))
			break;
		*ret = w;
	}
	for (size_t last = exit + 1; w.size && last < b->nsteps && ret->size < want; last++) {
		if (window_pun(b, ret->first, last, &w))
			break;
		*ret = w;
	}
	return w.size && leads(b, ret, space);
}
