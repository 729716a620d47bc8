/* SPDX-License-Identifier: MIT */
#include "injector/patch/stuck.h"

#include <errno.h>

#include "arch/arch.h"
#include "payload/abi.h"

enum { MOST_FUNCS = 1 << REC_FUNC_BITS };

static uint32_t func_of(const struct change *c)
{
	return c->func & (MOST_FUNCS - 1);	/* the journal's word */
}

/* May one be a pun that keeps bytes of the other? Those are written at the same
 * time, and so are of one page and rank. */
static bool may_share(const struct change *a, const struct change *b)
{
	raddr_t apart = a->addr > b->addr ? a->addr - b->addr : b->addr - a->addr;

	return a->rank == b->rank && a->addr / PAGE == b->addr / PAGE && apart < ARCH_JUMP_MAX;
}

/* Neighbours in the text are neighbours in the list. */
static bool shares_with_stuck(const struct change *c, size_t n, const uint8_t *fate, size_t i)
{
	for (size_t k = i + 1; k < n && may_share(&c[i], &c[k]); k++)
		if (fate[k] == FATE_STAYS)
			return true;
	for (size_t k = i; k-- > 0 && may_share(&c[i], &c[k]);)
		if (fate[k] == FATE_STAYS)
			return true;
	return false;
}

/* Until nothing else has to stay: what a function's stuck jump depends on (its
 * hole, or jumps that would lead into its middle), and what shares its bytes. */
int stuck_spread(const struct change *c, size_t n, uint8_t *fate)
{
	auto_free uint8_t *stuck = calloc(MOST_FUNCS, sizeof(*stuck));
	bool more = true;

	if (!stuck)
		return fail(ENOMEM, "look at the text");
	while (more) {
		more = false;
		for (size_t i = 0; i < n; i++)
			if (fate[i] == FATE_STAYS)
				stuck[func_of(&c[i])] = MAX(stuck[func_of(&c[i])], c[i].rank);
		for (size_t i = 0; i < n; i++)
			if (fate[i] == FATE_GOES && (c[i].rank < stuck[func_of(&c[i])] ||
						     shares_with_stuck(c, n, fate, i))) {
				fate[i] = FATE_STAYS;
				more = true;
			}
	}
	return 0;
}
