/* SPDX-License-Identifier: MIT */
/* whole_round: what an address of the stack may be that was rounded: it is lower, or just where it
 * was. */
#include "plan/flow/whole.h"

int32_t whole_high(const struct state *s, int reg)
{
	int32_t at = s->stack.at[reg];

	if (at < STACK_ANEW / 2)
		return at == STACK_LOST ? STACK_NOT : at;
	return s->high == STACK_NOT ? STACK_NOT : at - STACK_ANEW + s->high;
}

/* What was rounded may be where it was: what is written there, or above, is any word there,
 * perhaps. */
bits whole_put_over(const struct whole *w, int64_t end, bool computed, struct state *s)
{
	bits over = 0;

	for (size_t i = 0; i < w->nslots; i++)
		if (w->slots[i] < end - STACK_ANEW + s->high)
			over |= whole_bit(i);
	s->put |= over;
	s->computed |= computed ? over : 0;
	return over;
}

uint16_t whole_rounds(const struct whole *w, uint32_t rounds, const struct state *s, int32_t *most)
{
	uint16_t ret = 0;

	for (rounds &= ~(1u << w->sp); rounds; rounds &= rounds - 1) {
		int i = __builtin_ctz(rounds);
		int32_t high = whole_high(s, i);

		/* Below the way back is its own frame. */
		if (high < -WORD)
			continue;
		ret |= (uint16_t)(1u << i);
		*most = MAX(*most, high);
	}
	return ret;
}
