/* SPDX-License-Identifier: MIT */
/* ground_make: the ground of a module, from its symbols and its branches. */
#include <errno.h>

#include "plan/text/ground.h"

/* Memory in which nothing is noted is never touched, and costs nothing. */
static int lay_out(struct plan_impl *p)
{
	const struct symbols *syms = p->symbols;

	p->grounds = calloc(syms->ntexts + 1, sizeof(*p->grounds));
	if (!p->grounds)
		return fail(ENOMEM, "plan %s", syms->base);
	p->texts.start = UINT64_MAX;
	for (; p->ngrounds < syms->ntexts; p->ngrounds++) {
		struct ground *g = &p->grounds[p->ngrounds];

		g->text = &syms->texts[p->ngrounds];
		p->texts.start = MIN(p->texts.start, g->text->range.start);
		p->texts.end = MAX(p->texts.end, g->text->range.end);
		for (int i = 0; i < PLANES; i++) {
			g->planes[i] = calloc(range_size(g->text->range) / 64 + 1,
					      sizeof(uint64_t));
			if (!g->planes[i]) {
				p->ngrounds++;
				return fail(ENOMEM, "plan %s", syms->base);
			}
		}
	}
	return 0;
}

static void fix(struct plan_impl *p, raddr_t a, bool start)
{
	const struct ground *g = ground_at(p, a);

	/* Where instructions are aligned nothing runs that is not. */
	if (!g || a % p->arch->align)
		return;
	bit_set(g->planes[PLANE_FIXED], a - g->text->range.start);
	if (start)
		bit_set(g->planes[PLANE_START], a - g->text->range.start);
}

/* What is known before any code is looked at. */
static void note_known(struct plan_impl *p)
{
	const struct symbols *syms = p->symbols;

	for (size_t i = 0; i < syms->nfuncs; i++) {
		const struct func *f = &syms->funcs[i];

		fix(p, f->range.start, !(f->flags & FUNC_FRAGMENT) && !piece_is_likely(f));
	}
	for (size_t i = 0; i < syms->npointers; i++) {
		if (runtimes_is_number(p, syms->pointers[i]))
			continue;
		fix(p, syms->pointers[i], false);
		piece_note_called(p, syms->pointers[i]);
	}
}

int ground_make(struct plan_impl *p)
{
	int err = lay_out(p);

	if (!err)
		err = pieces_expect(p);
	if (err)
		return err;
	note_known(p);
	err = sweep_all(p);
	if (!err)
		err = sweep_again(p, false);
	if (err)
		return err;
	for (size_t i = 0; i < p->ngrounds; i++)
		ground_revive_all(&p->grounds[i]);
	base_sort(p->hidden, p->nhidden, sizeof(*p->hidden));
	base_sort(p->edges, p->nedges, sizeof(*p->edges));
	return pieces_settle(p);
}
