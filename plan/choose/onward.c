/* SPDX-License-Identifier: MIT */
/* onward: in which other functions does a function go on, by exits that are jumps? */
#include "plan/plan.h"

static void add_goal(struct onward *o, raddr_t to)
{
	for (size_t i = 0; i < o->n; i++)
		if (o->to[i] == to)
			return;
	if (o->n < ONWARD_MOST)
		o->to[o->n++] = to;
}

static void see_exit(const struct plan *plan, raddr_t pc, struct onward *ret)
{
	struct insn in;
	size_t left;
	const uint8_t *code = symbols_text(plan->symbols, pc, &left);

	if (code && !plan->arch->measure(code, left, pc, &in) &&
	    (in.kind == INSN_JUMP || in.kind == INSN_BRANCH))
		add_goal(ret, in.dest);
}

void plan_onward(const struct plan *plan, const struct probe *p, struct onward *ret)
{
	*ret = (struct onward){ .n = 0 };
	for (size_t i = 0; i < p->nsites; i++) {
		const struct site *s = &p->sites[i];

		for (unsigned int k = 0; k < s->ninsns; k++)
			if (s->exits >> k & 1)
				see_exit(plan, s->pc + s->insns[k], ret);
		if (s->leaves)
			see_exit(plan, s->pc + s->window, ret);
	}
}
