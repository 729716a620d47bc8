/* SPDX-License-Identifier: MIT */
/* plan: how is each selected function of a module probed, or why not? Joins
 * the parts: ground, body, choose; see impl.h. */
#include "plan/plan.h"

#include <errno.h>
#include <string.h>

#include "plan/arrivals.h"
#include "plan/text/crew.h"

enum {
	SHARE = 16,		/* functions of which one of several threads makes the bodies */
	AHEAD = 8,		/* times as many are there at a time */
	ROOM_MOST = 1024,	/* steps of each that room is kept for */
	PLACES_MOST = 1 << 29,	/* bytes that are decoded again for places, at most */
};

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

static bool is_elsewhere(const struct plan_options *o, size_t i)
{
	return o->places && o->places[i] == PLAN_ELSEWHERE;
}

/* Functions that overlap are decoded again and again. A real file is decoded
 * about twice, and a function anew for each place in it that is selected; a file that was made to
 * keep us busy comes to an end. */
static uint64_t decoding_budget(const struct symbols *syms, const struct plan_options *o,
				const struct func *const *selected, size_t nselected)
{
	uint64_t n = 1 << 20, places = 0;

	for (size_t i = 0; i < syms->ntexts; i++)
		n += 16 * range_size(syms->texts[i].range);
	for (size_t i = 0; i < nselected && o->places && places < PLACES_MOST; i++)
		places += o->places[i] && !is_elsewhere(o, i) ?
			4 * range_size(selected[i]->range) : 0;
	return n + MIN(places, (uint64_t)PLACES_MOST);
}

static int impl_make(const struct arch *arch, const struct symbols *syms,
		     const struct plan_options *o, uint64_t *budget, struct plan_impl *p)
{
	*p = (struct plan_impl){ .arch = arch, .symbols = syms,
				 .caught = o->caught, .budget = budget,
				 .threads = o->threads, .span = symbols_span(syms) };
	p->suspects = calloc(syms->nfuncs + 1, sizeof(*p->suspects));
	p->comes_back = calloc(syms->nfuncs + 1, sizeof(*p->comes_back));
	if (!p->suspects || !p->comes_back)
		return fail(ENOMEM, "plan %s", syms->base);
	int err = ground_make(p);

	runtimes_open(p);
	for (size_t i = 0; i < o->ntaken && !err; i++)
		ground_take(p, o->taken[i].start, range_size(o->taken[i]));
	for (size_t i = 0; i < o->narrivals && !err; i++)
		ground_add_target(p, o->arrivals[i]);
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
	body_room_free(&p->spare);
	free(p->picks);
	free(p->suspects);
	free(p->comes_back);
	free(p->loners);
	free(p->ways);
	free(p->hidden);
	free(p->highs);
	free(p->handings);
	free(p->maybes);
	free(p->verdicts);
	free(p->doubts);
	free(p->tables);
	free(p->bases);
	free(p->places);
}

/*
 * What a pass may do that the ones before it may not, and whether it is wanted. Passes keep
 * padding for those that have most need of it: in a bound module, where no padding is used, what
 * a pun may keep is placed in one.
 */
static int list_passes(const struct plan_impl *p, const struct plan_options *o,
		       struct choice passes[4])
{
	struct choice c = { .entry_only = o->entry_only, .may_host = o->hosts,
			    .space = o->space };
	bool one = p->bound && o->puns;
	int n = 0;

	if (!one)
		passes[n++] = c;
	c.may_short = true;
	if (!one)
		passes[n++] = c;
	c.may_pun = o->puns;
	if (o->puns)
		passes[n++] = c;
	c.may_trap = true;
	if (o->traps)
		passes[n++] = c;
	passes[n - 1].last = true;
	return n;
}

/* What is to be placed in one pass, in order, and the bodies of some of it, which are made
 * ahead. */
struct pass {
	const struct plan *plan;
	struct probe *probes;		/* its own, in the making */
	const struct plan_options *options;
	struct choice choice;
	uint32_t *todo;			/* indices in probes */
	size_t ntodo, nagain;		/* and how many of them only a later pass can place */
	bool first;
	struct body *bodies;		/* a ring: of AHEAD parts; those that are not there
					 * have room for the next in their place */
};

static struct body *body_of(const struct pass *pass, size_t i)
{
	return &pass->bodies[i % (AHEAD * SHARE)];
}

static int make_bodies(struct plan_impl *own, size_t part, void *ctx)
{
	struct pass *pass = ctx;
	size_t end = MIN((part + 1) * SHARE, pass->ntodo);
	struct body_room spare = own->spare;
	int err = 0;

	for (size_t i = part * SHARE; i < end && !err; i++) {
		struct body *b = body_of(pass, i);
		const struct probe *probe = &pass->plan->probes[pass->todo[i]];
		const struct func *f = probe->func;

		own->spare = b->room;
		err = !probe->place && ground_is_fragment(own, f) ? 0 : body_make(own, f, b);
		if (!b->impl || err)
			*b = (struct body){ .room = own->spare };
	}
	own->spare = spare;
	return err;
}

/* For the next body in its place, unless it is too much to be kept. */
static void leave_room(struct body *b)
{
	struct body_room room = b->room;

	if (room.steps_cap > ROOM_MOST)
		room = (struct body_room){ 0 };
	else
		b->room = (struct body_room){ 0 };
	body_clear(b);
	*b = (struct body){ .room = room };
}

/* 1: only later tactics could do more. */
static int place_probe(struct plan_impl *p, const struct choice *c, struct body *b,
		       struct probe *probe)
{
	if (!b->impl) {
		probe->refusal = REFUSED_FRAGMENT;
		return 0;
	}
	b->impl = p;
	if (probe->place)
		body_set_place(b, probe->place);
	if (probe->exit_refusal)
		b->entry_only = probe->exit_refusal;
	int err = choose_sites(b, c, probe);

	leave_room(b);
	return err;
}

static int place_probes(struct plan_impl *p, struct plan_impl *own, size_t part, void *ctx)
{
	struct pass *pass = ctx;
	const struct plan_options *o = pass->options;
	size_t end = MIN((part + 1) * SHARE, pass->ntodo);

	(void)own;
	for (size_t i = part * SHARE; i < end; i++) {
		uint32_t at = pass->todo[i];
		int err = place_probe(p, &pass->choice, body_of(pass, i),
				      &pass->probes[at]);

		if (err < 0)
			return err;
		if (err)
			pass->todo[pass->nagain++] = at;
	}
	if (o->progress && pass->first && part % AHEAD == 0)
		o->progress(o->ctx, end, pass->plan->nprobes);
	return 0;
}

static void drop_bodies(struct plan_impl *own, size_t part, void *ctx)
{
	struct pass *pass = ctx;
	size_t end = MIN((part + 1) * SHARE, pass->ntodo);

	for (size_t i = part * SHARE; i < end; i++) {
		struct body *b = body_of(pass, i);

		if (b->impl)
			leave_room(b);
	}
	body_room_free(&own->spare);
}

/* What a pun keeps stands above it, and its site should be known by then. */
static void reverse(uint32_t *v, size_t n)
{
	for (size_t i = 0; i < n / 2; i++) {
		uint32_t other = v[n - 1 - i];

		v[n - 1 - i] = v[i];
		v[i] = other;
	}
}

static int run_pass(struct plan_impl *p, struct pass *pass)
{
	const struct crew_work work = { NULL, make_bodies, place_probes, drop_bodies, pass,
					AHEAD };

	pass->nagain = 0;
	int err = crew_run(p, &work, (pass->ntodo + SHARE - 1) / SHARE);

	pass->ntodo = pass->nagain;
	return err;
}

/* Those of the passes for what is to be placed. */
static int run_passes(struct plan_impl *p, struct pass *pass, const struct choice *passes,
		      int first, int end)
{
	bool down = false;
	int err = 0;

	for (int i = first; i < end && !err; i++) {
		pass->choice = passes[i];
		pass->first = i == 0;
		if (down != pass->choice.may_pun)
			reverse(pass->todo, pass->ntodo);
		down = pass->choice.may_pun;
		err = run_pass(p, pass);
	}
	return err;
}

/* Functions, or the places within them. */
static void add_todo(struct pass *pass, bool places)
{
	for (size_t i = 0; i < pass->plan->nprobes; i++)
		if (!pass->plan->probes[i].place != places &&
		    pass->plan->probes[i].place != PLAN_ELSEWHERE)
			pass->todo[pass->ntodo++] = (uint32_t)i;
}

/* First full jumps for everything, then short jumps for what is left, then puns, then
 * traps. Before puns, places within functions take what functions have left. */
static int plan_probes(struct plan_impl *p, const struct plan_options *o,
		       const struct plan *plan, struct probe *probes)
{
	auto_free uint32_t *todo = calloc(plan->nprobes + 1, sizeof(*todo));
	auto_free struct body *bodies = calloc(AHEAD * SHARE, sizeof(*bodies));
	struct pass pass = { plan, probes, o, .todo = todo, .bodies = bodies };
	struct choice passes[4];
	int npasses = list_passes(p, o, passes), apart = 0, err = 0;
	size_t left = 0;

	if (!todo || !bodies)
		return fail(ENOMEM, "plan %s", plan->symbols->base);
	while (apart < npasses && !passes[apart].may_pun)
		apart++;
	for (int places = 0; places < 2 && !err; places++) {
		pass.todo = todo + left;
		pass.ntodo = 0;
		add_todo(&pass, places);
		err = run_passes(p, &pass, passes, 0, apart);
		left += pass.ntodo;
	}
	pass.todo = todo;
	pass.ntodo = left;
	err = err ? err : run_passes(p, &pass, passes, apart, npasses);
	for (size_t i = 0; i < AHEAD * SHARE; i++)
		body_room_free(&bodies[i].room);
	return err;
}

int plan_make(const struct arch *arch, const struct symbols *syms,
	      const struct func *const *selected, size_t n,
	      const struct plan_options *o, const struct plan **ret)
{
	static const struct plan_options none;
	struct plan *plan = calloc(1, sizeof(*plan));

	if (!plan)
		return fail(ENOMEM, "plan %s", syms->base);
	if (!o)
		o = &none;
	*plan = (struct plan){ .arch = arch, .symbols = syms };
	struct plan_impl impl;
	uint64_t budget = decoding_budget(syms, o, selected, n);
	int err = impl_make(arch, syms, o, &budget, &impl);
	struct probe *probes = err ? NULL : calloc(n + 1, sizeof(*probes));

	plan->probes = probes;
	if (!err && !probes)
		err = fail(ENOMEM, "plan %s", syms->base);
	for (size_t i = 0; i < n && !err; i++, plan->nprobes++)
		probes[i] = (struct probe){ .func = selected[i],
			.place = o->places ? o->places[i] : 0,
			.entry_only = is_elsewhere(o, i) ? REFUSED_PLACE : REFUSED_NONE,
			.exit_refusal = o->exit_refusals ? o->exit_refusals[i] : REFUSED_NONE,
			.trap_size = o->traps ? arch->trap_size : 0 };
	if (!err)
		err = plan_probes(&impl, o, plan, probes);
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

void plan_free(const struct plan *plan)
{
	if (!plan)
		return;
	for (size_t i = 0; i < plan->nprobes; i++)
		free((void *)plan->probes[i].sites);
	free((void *)plan->probes);
	free((void *)plan->doubts);
	free((void *)plan);
}
