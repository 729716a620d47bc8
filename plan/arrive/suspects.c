/* SPDX-License-Identifier: MIT */
/*
 * suspects: which functions of a module have anything that is to be proved? They are judged by
 * several threads, for nothing that is found of one is asked when another is judged.
 */
#include "plan/arrivals.h"

#include <errno.h>

#include "plan/text/crew.h"
#include "plan/text/ground.h"

enum {
	SHARE = 16,		/* functions that one thread judges in one go */
	GAPS_FIRST = 1 << 16,	/* bytes of code that no function has; then as many again */
};

/* What goes by an address may stand behind what could not be read. What was read twice, as data are
 * that its own code names, is known, too, if the other reading changes nothing of that. */
static int doubt_unread(struct plan_impl *p, const struct body *b, unsigned int suspects)
{
	bool unread = b->entry_only == REFUSED_UNREADABLE && !b->runtime->newer &&
		(b->parted && !b->hides_making ? suspects & SUSPECT_GOAL : suspects);

	return unread ? arrivals_doubt(p, b->func->range.start, UNPROVED_UNREAD) : 0;
}

/* `ends`: calls that never come back end what they stand in. */
static int judge_func(struct plan_impl *p, const struct func *f, bool ends)
{
	uint8_t suspects = p->suspects[f - p->symbols->funcs];
	struct body b;
	int err = body_read(p, f, &b);

	if (err)
		return err;
	err = doubt_unread(p, &b, suspects);
	if (b.has_data)
		p->suspects[f - p->symbols->funcs] |= SUSPECT_DATA;
	if (ends)
		noreturn_mark(p, &b);
	if (!err)
		err = arrivals_judge(p, &b, suspects);
	body_clear(&b);
	return err;
}

#define JUDGED(X) X(verdicts) X(doubts) X(tables) X(places) X(bases)

struct judging {
	const uint32_t *suspects;	/* indices in funcs, */
	size_t n;
	bool *again;			/* and by their order: it leaves a doubt */
};

static void begin_share(struct plan_impl *own)
{
#define X(list) crew_empty(own, list);
	JUDGED(X)
#undef X
}

static void drop_share(struct plan_impl *own, size_t part, void *ctx)
{
	(void)part, (void)ctx;
#define X(list) free(own->list);
	JUDGED(X)
#undef X
}

static int judge_share(struct plan_impl *own, size_t part, void *ctx)
{
	struct judging *j = ctx;
	const struct func *funcs = own->symbols->funcs;
	size_t end = MIN((part + 1) * SHARE, j->n);
	int err = 0;

	for (size_t i = part * SHARE; i < end && !err; i++) {
		size_t doubts = own->ndoubts, verdicts = own->nverdicts;

		err = judge_func(own, &funcs[j->suspects[i]], false);
		if (own->ndoubts == doubts)
			continue;
		own->ndoubts = doubts;
		own->nverdicts = verdicts;
		j->again[i] = true;
	}
	return err;
}

static int join_share(struct plan_impl *p, struct plan_impl *own, size_t part, void *ctx)
{
	int err = 0;

	(void)part, (void)ctx;
#define X(list) err = err ? err : crew_append(p, own, list);
	JUDGED(X)
#undef X
	return err;
}

/* A function that leaves a doubt is judged once more, without the ways behind calls that never
 * come back: what is known of one call says something of others, so one thread does that. */
static int judge_suspects(struct plan_impl *p, const uint32_t *suspects, size_t n)
{
	auto_free bool *again = calloc(n + 1, sizeof(*again));
	struct judging j = { suspects, n, again };
	const struct crew_work work = { begin_share, judge_share, join_share, drop_share, &j,
					SIZE_MAX };

	if (!again)
		return fail(ENOMEM, "plan %s", p->symbols->base);
	int err = crew_run(p, &work, (n + SHARE - 1) / SHARE);

	for (size_t i = 0; i < n && !err; i++)
		if (again[i])
			err = judge_func(p, &p->symbols->funcs[suspects[i]], true);
	return err;
}

/* The functions in which something is to be proved, as indices in funcs; their number. */
static size_t list_suspects(struct plan_impl *p, uint32_t *ret)
{
	const struct symbols *syms = p->symbols;
	size_t n = 0;

	for (size_t i = 0; i < syms->nfuncs; i++) {
		const struct func *f = &syms->funcs[i];

		if (f->flags & FUNC_FRAGMENT && f->parent >= 0)
			p->suspects[f->parent] |= p->suspects[i];
	}
	for (size_t i = 0; i < syms->nfuncs; i++) {
		const struct func *f = &syms->funcs[i];

		if (p->suspects[i] && !(f->flags & FUNC_FRAGMENT && f->parent >= 0))
			ret[n++] = (uint32_t)i;
	}
	return n;
}

/* A run of what no function has. */
struct gap {
	uint64_t size;		/* sorted by it */
	raddr_t at;
};

struct gaps {
	const struct gap *end;	/* behind the largest, which is judged first */
	size_t early;		/* ways that were known before tables were read */
};

static int judge_gap(struct plan_impl *own, size_t part, void *ctx)
{
	const struct gaps *gaps = ctx;

	return unowned_judge(own, gaps->end[-1 - (ptrdiff_t)part].at, gaps->early);
}

/* Those with code that something leads to; their number. */
static size_t list_gaps(struct plan_impl *p, struct gap *ret)
{
	raddr_t done = 0;
	size_t n = 0;

	base_sort(p->loners, p->nloners, sizeof(*p->loners));
	for (size_t i = 0; i < p->nloners; i++) {
		if (p->loners[i] < done)
			continue;
		struct range gap = arrivals_gap(p, p->loners[i]);

		ret[n++] = (struct gap){ gap.end - gap.start, p->loners[i] };
		done = gap.end;
	}
	base_sort(ret, n, sizeof(*ret));
	return n;
}

/* What no function has, each run of it once. Small ones first: they may leave so much in doubt that
 * the others are looked at in a hurry. */
static int judge_loners(struct plan_impl *p, size_t early)
{
	auto_free struct gap *gaps = calloc(p->nloners + 1, sizeof(*gaps));
	struct gaps ctx = { .early = early };
	const struct crew_work work = { begin_share, judge_gap, join_share, drop_share, &ctx,
					SIZE_MAX };
	int err = 0;

	if (!gaps || (p->nloners && lives_find(p)))
		return fail(ENOMEM, "plan %s", p->symbols->base);
	size_t n = list_gaps(p, gaps);
	uint64_t seen = GAPS_FIRST;

	for (size_t i = 0, first; i < n && !err; ) {
		uint64_t size = 0;

		p->hurried = p->ndoubts > DOUBTS_MANY;
		for (first = i; i < n && (i == first || p->hurried ||
					  size + gaps[i].size <= seen); i++)
			size += gaps[i].size;
		seen += size;
		ctx.end = gaps + i;
		err = crew_run(p, &work, i - first);
	}
	return err;
}

/* Of the ways that were found since, those to code that was alive before are nothing new. */
static void drop_known_ways(struct plan_impl *p, size_t early)
{
	size_t kept = early;

	for (size_t i = early; i < p->nways; i++)
		if (!ground_is_live(p, p->ways[i]))
			p->ways[kept++] = p->ways[i];
	p->nways = kept;
}

/* Each once. */
static void sort_doubts(struct plan_impl *p)
{
	size_t kept = 0;

	base_sort(p->doubts, p->ndoubts, sizeof(*p->doubts));
	for (size_t i = 0; i < p->ndoubts; i++)
		if (!kept || p->doubts[kept - 1].pc != p->doubts[i].pc)
			p->doubts[kept++] = p->doubts[i];
	p->ndoubts = kept;
}

/* Code that was found after what it stands in had been judged: is something to be proved there?
 * Not in data, as the file's sections say. */
static int doubt_hidden(struct plan_impl *p, const struct hidden *found, size_t n)
{
	int err = 0;

	for (size_t i = 0; i < n && !err; i++) {
		const struct func *f = symbols_func_at(p->symbols, found[i].at);

		if (found[i].kind != HIDDEN_DOUBTFUL &&
		    (f ? p->suspects[f - p->symbols->funcs] : found[i].kind == HIDDEN_GOAL &&
		     !symbols_is_data(p->symbols, found[i].at, NULL)))
			err = arrivals_doubt(p, found[i].at, UNPROVED_UNREAD);
	}
	return err;
}

/* In functions in which data stand: something that was not known then may lead into the middle of
 * what was read behind them. */
static int doubt_data(struct plan_impl *p)
{
	const struct symbols *syms = p->symbols;
	int err = 0;

	for (size_t i = 0; i < syms->nfuncs && !err; i++) {
		struct body b;

		if (!(p->suspects[i] & SUSPECT_DATA))
			continue;
		err = body_read(p, &syms->funcs[i], &b);
		if (err)
			return err;
		err = doubt_unread(p, &b, p->suspects[i] & ~(unsigned int)SUSPECT_DATA);
		body_clear(&b);
	}
	return err;
}

/* Once all is known that leads into text: code that no reading has seen. */
static int find_hidden(struct plan_impl *p)
{
	size_t n = p->nhidden;
	int err = sweep_again(p, true);

	if (!err && p->nhidden > n)
		err = doubt_hidden(p, p->hidden + n, p->nhidden - n);
	base_sort(p->hidden, p->nhidden, sizeof(*p->hidden));
	base_sort(p->edges, p->nedges, sizeof(*p->edges));
	return err;
}

int arrivals_find(struct plan_impl *p)
{
	if (!p->arch->effect)
		return 0;
	auto_free uint32_t *suspects = calloc(p->symbols->nfuncs + 1, sizeof(*suspects));

	if (!suspects)
		return fail(ENOMEM, "plan %s", p->symbols->base);
	base_sort(p->maybes, p->nmaybes, sizeof(*p->maybes));
	base_sort(p->ways, p->nways, sizeof(*p->ways));
	size_t early = p->nways;
	int err = judge_suspects(p, suspects, list_suspects(p, suspects));

	if (!err)
		err = judge_loners(p, early);
	for (size_t i = 0; i < p->nplaces; i++)
		arrivals_lead_to(p, p->places[i]);
	if (!err)
		err = distances_read_all(p);
	if (!err)
		err = above_judge(p);
	if (!err)
		err = words_note(p);
	if (!err)
		err = find_hidden(p);
	if (!err)
		err = doubt_data(p);
	drop_known_ways(p, early);
	if (!err && p->nways > early)
		err = judge_loners(p, early);
	base_sort(p->verdicts, p->nverdicts, sizeof(*p->verdicts));
	sort_doubts(p);
	p->bound = p->ndoubts;
	return err;
}
