/* SPDX-License-Identifier: MIT */
/*
 * puns: does each punned jump find, behind the bytes that are
 * written, the bytes that it keeps? It would lead anywhere if it did not.
 *
 * Asked of what is about to be written, not of how the islands were chosen: a
 * function that has dropped out since then may have had a part in it.
 */
#include "injector/patch/probes.h"
#include "injector/patch/writes.h"

/* The byte that will stand at `a` whenever the jump at `pc` does: what another
 * jump's is, that must come and go together with this one. -1: none. */
static int byte_at(const struct writes *w, const struct module *m, raddr_t pc, raddr_t a)
{
	const struct change *pun = writes_at(w, pc);
	const struct change *c = writes_at(w, a);
	size_t left;
	const uint8_t *file = symbols_text(m->symbols, a - m->bias, &left);

	if (c && (!pun || c->rank != pun->rank || c->addr / PAGE != pc / PAGE ||
		  a / PAGE != pc / PAGE))
		return -1;
	return c ? c->to[a - c->addr] : file ? *file : -1;
}

static bool finds(const struct writes *w, const struct live_site *ls)
{
	const struct site *s = &ls->placed->site;
	raddr_t pc = s->pc + ls->module->bias;

	if (!ls->placed->island)
		return false;
	for (size_t i = s->jump.len; i < (size_t)s->jump.len + s->kept; i++)
		if (byte_at(w, ls->module, pc, pc + i) != ls->placed->new_jump[i])
			return false;
	return true;
}

static struct placed_probe *find_broken(const struct writes *w, const struct live *live)
{
	for (size_t i = 0; i < live->nsites; i++)
		if (live->sites[i].placed->site.tactic == TACTIC_PUN && !finds(w, &live->sites[i]))
			return live->sites[i].probe;
	return NULL;
}

int puns_check(struct live *live, struct infection *inf)
{
	struct placed_probe *broken = NULL;

	do {
		struct writes w;
		int err = writes_make(live->changes, live->nchanges, &w);

		if (err)
			return err;
		broken = find_broken(&w, live);
		writes_clear(&w);
		if (broken)
			live_drop(live, inf, broken, REFUSED_OUT_OF_REACH);
	} while (broken);
	return 0;
}
