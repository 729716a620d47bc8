/* SPDX-License-Identifier: MIT */
/*
 * ways: does code that no function has come back into one, if a function jumps there?
 */
#include "plan/arrivals.h"

enum {
	WAYS = 128,		/* that jumps take within code of no function, and */
	LONGEST = 4096,		/* instructions of all of them, until it is given up on */
};

/* What is left to be read of ways out of a function by way of code that has none. */
struct ways {
	raddr_t v[WAYS];
	size_t n;
	bool known;		/* none comes back, as far as they were read */
};

static void add_way(struct ways *w, const struct plan_impl *p, raddr_t to)
{
	const struct func *f = symbols_func_at(p->symbols, to);

	if (f) {
		w->known &= f->range.start == to && !ground_is_fragment(p, f);
		return;
	}
	for (size_t i = 0; i < w->n; i++)
		if (w->v[i] == to)
			return;
	if (w->n == WAYS)
		w->known = false;
	else
		w->v[w->n++] = to;
}

/* One instruction: false if control does not go on behind it. */
static bool pass_way(struct ways *w, const struct plan_impl *p, const struct insn *in)
{
	if (in->kind == INSN_JUMP || in->kind == INSN_BRANCH)
		add_way(w, p, in->dest);
	/* Where effects are not known, whole words leave. */
	if (in->kind == INSN_UNKNOWN || (in->kind == INSN_JUMP_INDIRECT && p->arch->effect &&
					 !(in->flags & INSN_SLOT)))
		w->known = false;
	return !insn_ends(in);
}

bool unowned_leaves(const struct plan_impl *p, raddr_t at)
{
	struct ways w = { .v = { at }, .n = 1, .known = true };
	size_t n = 0, left;

	for (size_t i = 0; i < w.n && w.known; i++) {
		struct insn in;

		for (raddr_t pc = w.v[i]; w.known; pc += in.size) {
			const uint8_t *bytes = symbols_text(p->symbols, pc, &left);

			if (pc != w.v[i] && symbols_func_at(p->symbols, pc)) {
				add_way(&w, p, pc);
				break;
			}
			w.known = bytes && !p->arch->measure(bytes, left, pc, &in) &&
				n++ < LONGEST;
			if (!w.known || !pass_way(&w, p, &in))
				break;
		}
	}
	return w.known;
}
