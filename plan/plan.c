/* SPDX-License-Identifier: MIT */
/* plan: how is each selected function of a module probed, or why not? Joins
 * the parts: ground, body, choose; see impl.h. */
#include "plan/plan.h"

#include <errno.h>

#include "plan/arrivals.h"

enum { PROGRESS = 256 };	/* probes between two reports */

static const char *const words[] = {
#define X(id, word, text) [REFUSED_##id] = word,
	REFUSALS(X)
#undef X
};

static const char *const texts[] = {
#define X(id, word, text) [REFUSED_##id] = text,
	REFUSALS(X)
#undef X
};

const char *refusal_word(enum refusal r)
{
	return (size_t)r < ARRAY_SIZE(words) ? words[r] : "?";
}

const char *refusal_text(enum refusal r)
{
	return (size_t)r < ARRAY_SIZE(texts) ? texts[r] : "?";
}

const char *tactic_word(enum tactic t)
{
	static const char *const tactics[] = {
		[TACTIC_NONE] = "none",
		[TACTIC_SITE] = "site",
		[TACTIC_JUMP] = "jump",
		[TACTIC_SHORT] = "short",
		[TACTIC_PUN] = "pun",
		[TACTIC_TRAP] = "trap",
	};

	return (size_t)t < ARRAY_SIZE(tactics) ? tactics[t] : "?";
}

static int by_parent(const void *a, const void *b, void *funcs)
{
	uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
	const struct func *f = funcs;

	if (f[i].parent != f[j].parent)
		return f[i].parent < f[j].parent ? -1 : 1;
	return i < j ? -1 : i > j;
}

static int list_fragments(struct plan_impl *p)
{
	const struct symbols *syms = p->symbols;

	for (size_t i = 0; i < syms->nfuncs; i++) {
		const struct func *f = &syms->funcs[i];

		if (!(f->flags & FUNC_FRAGMENT) || f->parent < 0)
			continue;
		uint32_t *new = vec_push(p->fragments, p->nfragments,
					 p->fragments_cap);
		if (!new)
			return -ENOMEM;
		*new = i;
	}
	if (p->nfragments)
		qsort_r(p->fragments, p->nfragments, sizeof(*p->fragments),
			by_parent, syms->funcs);
	return 0;
}

/* Functions that overlap are decoded again and again. A real file is decoded
 * about twice; one that was made to keep us busy comes to an end. */
static uint64_t decoding_budget(const struct symbols *syms)
{
	uint64_t n = 1 << 20;

	for (size_t i = 0; i < syms->ntexts; i++)
		n += 16 * range_size(syms->texts[i].range);
	return n;
}

/* In what Go's compiler has made, and nowhere else. */
static int32_t find_g(const struct arch *arch, const struct symbols *syms)
{
	struct range go = syms->go;
	int32_t g = 0;

	for (size_t i = 0; i < syms->ntexts && arch->g_place && !g; i++) {
		struct range r = syms->texts[i].range;

		if (range_overlaps(r, go))
			g = arch->g_place(syms->texts[i].bytes + (MAX(r.start, go.start) - r.start),
					  MIN(r.end, go.end) - MAX(r.start, go.start));
	}
	return g;
}

static int impl_make(const struct arch *arch, const struct symbols *syms,
		     const struct plan_options *o, struct plan_impl *p)
{
	*p = (struct plan_impl){ .arch = arch, .symbols = syms,
				 .caught = o->caught,
				 .budget = decoding_budget(syms) };
	p->suspects = calloc(syms->nfuncs + 1, sizeof(*p->suspects));
	p->comes_back = calloc(syms->nfuncs + 1, sizeof(*p->comes_back));
	if (!p->suspects || !p->comes_back)
		return fail(ENOMEM, "plan %s", syms->base);
	int err = ground_make(p);

	p->g = find_g(arch, syms);
	for (size_t i = 0; i < o->ntaken && !err; i++)
		ground_take(p, o->taken[i].start, range_size(o->taken[i]));
	if (!err)
		compiled_keep_sleds(p);
	if (!err)
		err = list_fragments(p);
	return err ? err : arrivals_find(p);
}

static void impl_clear(struct plan_impl *p)
{
	ground_free(p);
	free(p->fragments);
	free(p->spare);
	free(p->suspects);
	free(p->comes_back);
	free(p->loners);
	free(p->ways);
	free(p->numbers);
	free(p->maybes);
	free(p->verdicts);
	free(p->doubts);
	free(p->tables);
}

/* 1: only later tactics could do more. */
static int plan_probe(struct plan_impl *p, const struct choice *c,
		      struct probe *probe)
{
	struct body body;

	if (ground_is_fragment(p, probe->func)) {
		probe->refusal = REFUSED_FRAGMENT;
		return 0;
	}
	int err = body_make(p, probe->func, &body);

	if (err)
		return err;
	if (probe->doubt)
		body.entry_only = probe->doubt;
	err = choose_sites(&body, c, probe);
	body_clear(&body);
	return err;
}

/* What a pun keeps stands above it, and its site should be known by then. */
static size_t probe_at(const struct plan *plan, bool down, size_t i)
{
	return down ? plan->nprobes - 1 - i : i;
}

/* What a pass may do that the ones before it may not, and whether it is wanted. */
static int list_passes(const struct plan_options *o, struct choice passes[4])
{
	int n = 0;

	passes[n++] = (struct choice){ .entry_only = o->entry_only, .may_host = o->hosts,
				       .space = o->space };
	passes[n] = passes[n - 1];
	passes[n++].may_short = true;
	if (o->puns) {
		passes[n] = passes[n - 1];
		passes[n++].may_pun = true;
	}
	if (o->traps) {
		passes[n] = passes[n - 1];
		passes[n++].may_trap = true;
	}
	passes[n - 1].last = true;
	return n;
}

/* First full jumps for everything, then tactic 3 for what is left, then 4, then
 * traps. */
static int plan_probes(struct plan_impl *p, const struct plan_options *o, struct plan *plan)
{
	auto_free bool *again = calloc(plan->nprobes + 1, sizeof(*again));
	struct choice passes[4];
	int npasses = list_passes(o, passes);

	if (!again)
		return fail(ENOMEM, "plan %s", plan->symbols->base);
	for (int pass = 0; pass < npasses; pass++) {
		const struct choice *c = &passes[pass];

		for (size_t i = 0; i < plan->nprobes; i++) {
			size_t at = probe_at(plan, c->may_pun, i);

			if (pass > 0 && !again[at])
				continue;
			int err = plan_probe(p, c, &plan->probes[at]);

			if (err < 0)
				return err;
			again[at] = err == 1;
			if (o->progress && pass == 0 && i % PROGRESS == 0)
				o->progress(o->ctx, i, plan->nprobes);
		}
	}
	return 0;
}

int plan_make(const struct arch *arch, const struct symbols *syms,
	      const struct func *const *selected, size_t n,
	      const struct plan_options *o, struct plan **ret)
{
	static const struct plan_options none;
	struct plan *plan = calloc(1, sizeof(*plan));

	if (!plan)
		return fail(ENOMEM, "plan %s", syms->base);
	if (!o)
		o = &none;
	*plan = (struct plan){ .arch = arch, .symbols = syms };
	struct plan_impl impl;
	int err = impl_make(arch, syms, o, &impl);

	if (!err)
		plan->probes = calloc(n + 1, sizeof(*plan->probes));
	if (!err && !plan->probes)
		err = fail(ENOMEM, "plan %s", syms->base);
	for (size_t i = 0; i < n && !err; i++, plan->nprobes++)
		plan->probes[i] = (struct probe){ .func = selected[i],
			.doubt = o->doubts ? o->doubts[i] : REFUSED_NONE,
			.trap_size = o->traps ? arch->trap_size : 0 };
	if (!err)
		err = plan_probes(&impl, o, plan);
	/* A jump table of which half could not be read would look like a short one. */
	if (!err)
		err = symbols_error(syms);
	plan->doubts = impl.doubts;
	plan->ndoubts = impl.ndoubts;
	impl.doubts = NULL;
	impl_clear(&impl);
	if (err) {
		plan_free(plan);
		return err;
	}
	*ret = plan;
	return 0;
}

void plan_free(struct plan *plan)
{
	if (!plan)
		return;
	for (size_t i = 0; i < plan->nprobes; i++)
		free(plan->probes[i].sites);
	free(plan->probes);
	free(plan->doubts);
	free(plan);
}
