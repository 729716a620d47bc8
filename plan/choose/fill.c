/* SPDX-License-Identifier: MIT */
/* fill: what are the sites of a probe, when its windows are picked? */
#include <errno.h>
#include <string.h>

#include "plan/choose/pick.h"

static void fill_patch(const struct body *b, raddr_t pc, uint8_t len,
		       struct patch *ret)
{
	size_t left;

	*ret = (struct patch){ .pc = pc, .len = len };
	memcpy(ret->old, symbols_text(b->impl->symbols, pc, &left), len);
}

static void fill_insns(const struct body *b, const struct window *w,
		       bool with_exits, uint8_t *insns, struct site *s)
{
	for (size_t i = w->first; i <= w->last; i++) {
		const struct step *step = &b->steps[i];
		bool exit = with_exits && step->exit;

		s->exits |= (uint16_t)(exit << s->ninsns);
		s->nexits += exit;
		insns[s->ninsns++] = step->insn.pc - s->pc;
	}
}

static enum tactic tactic_of(const struct body *b, const struct pick *k, bool entry)
{
	if (k->trap)
		return TACTIC_TRAP;
	if (k->pun)
		return TACTIC_PUN;
	if (k->hole)
		return TACTIC_SHORT;
	return entry && !b->place && compiled_is_site(b, &k->window) ? TACTIC_SITE : TACTIC_JUMP;
}

/* How many bytes are written; *kept are what a pun needs behind them. */
static size_t written(const struct body *b, const struct pick *k, enum tactic t, size_t *kept)
{
	const struct arch *arch = b->impl->arch;

	switch (t) {
	case TACTIC_TRAP: return arch->trap_size;
	case TACTIC_PUN: return pun_room(b, &k->window, kept);
	case TACTIC_SHORT: return arch->short_size;
	default: return arch->jump_size;
	}
}

static void fill_site(const struct body *b, const struct pick *k, bool entry,
		      bool with_exits, uint8_t *insns, struct site *s)
{
	enum tactic tactic = tactic_of(b, k, entry);

	*s = (struct site){ .pc = window_pc(b, &k->window),
			    .window = k->window.size, .dead = k->window.dead,
			    .tactic = tactic,
			    .entry = entry, .place = entry && b->place,
			    .leaves = with_exits && k->leaves,
			    .host = k->host, .insns = insns,
			    .level = k->window.level };
	if (entry)
		s->lowered = b->lowered;
	if (entry && b->place)
		s->check = b->steps[b->entry].insn.pc - s->pc;
	else if (entry && b->ncheck)
		s->check = b->steps[b->ncheck].insn.pc - s->pc;
	fill_insns(b, &k->window, with_exits, insns, s);
	s->nexits += s->leaves;
	size_t kept = 0, len = written(b, k, tactic, &kept);

	fill_patch(b, s->pc, len, &s->jump);
	s->kept = kept;
	if (k->hole)
		fill_patch(b, k->hole, b->impl->arch->jump_size, &s->hole);
	s->stub_most = place_bound(b, &k->window, s);
}

/* One block for all sites of a probe, and for their instructions. */
static struct site *alloc_sites(const struct picks *ks)
{
	size_t ninsns = 0;

	for (size_t i = 0; i < ks->n; i++)
		ninsns += ks->v[i].window.last - ks->v[i].window.first + 1;
	return calloc(1, ks->n * sizeof(struct site) + ninsns);
}

int pick_fill(const struct body *b, const struct picks *ks, struct probe *probe)
{
	bool with_exits = !probe->entry_only;
	struct site *sites = alloc_sites(ks);

	if (!sites)
		return fail(ENOMEM, "plan %s", b->func->name);
	uint8_t *insns = (uint8_t *)(sites + ks->n);

	for (size_t i = 0; i < ks->n; i++) {
		/* The entry's, which was picked first, comes last. */
		struct site *s = &sites[i ? i - 1 : ks->n - 1];

		fill_site(b, &ks->v[i], i == 0, with_exits, insns, s);
		insns += s->ninsns;
	}
	for (size_t i = 0; i < ks->n; i++)
		probe->linked |= b->loops || ks->v[i].window.level;
	probe->sites = sites;
	probe->nsites = ks->n;
	return 0;
}
