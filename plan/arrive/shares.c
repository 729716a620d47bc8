/* SPDX-License-Identifier: MIT */
/* shares: all text is swept, by several threads. */
#include <errno.h>

#include "plan/arrive/sweep.h"
#include "plan/text/crew.h"

enum { SHARE = 1 << 18 };	/* bytes of text that one of several threads sweeps in one go */

/* What one thread sweeps in one go: functions of a text, and what stands behind them. */
struct share {
	const struct ground *ground;
	size_t first, end;		/* indices in funcs */
	bool begins, ends;		/* as the text does */
};

#define SWEPT(X) X(edges) X(ways) X(loners) X(maybes) X(highs) \
	X(handings)

static void begin_share(struct plan_impl *own)
{
#define X(list) crew_empty(own, list);
	SWEPT(X)
#undef X
}

static void drop_share(struct plan_impl *own, size_t part, void *ctx)
{
	(void)part, (void)ctx;
#define X(list) free(own->list);
	SWEPT(X)
#undef X
}

static int join_share(struct plan_impl *p, struct plan_impl *own, size_t part, void *ctx)
{
	int err = 0;

	(void)part, (void)ctx;
#define X(list) err = err ? err : crew_append(p, own, list);
	SWEPT(X)
#undef X
	return err;
}

static int sweep_share(struct plan_impl *own, size_t part, void *shares)
{
	const struct share *share = (struct share *)shares + part;
	const struct func *f = own->symbols->funcs;
	struct range t = share->ground->text->range;
	struct sweep s = { .impl = own, .ground = share->ground, .from = t.start };
	raddr_t first = share->first < share->end ? f[share->first].range.start : t.end;
	raddr_t end = share->first < share->end ? f[share->end - 1].range.start : t.end;

	ground_warm(share->ground, first, end);
	int err = share->begins ? sweep_to(&s, first) : 0;

	for (size_t i = share->first; i < share->end && !err; i++) {
		bool last = share->ends && i + 1 == share->end;

		sweep_enter(&s, &f[i]);
		err = sweep_to(&s, last ? t.end : f[i + 1].range.start);
	}
	return err;
}

/* The shares of a text: with *v NULL, only their number. */
static size_t sweep_divide(const struct plan_impl *p, const struct ground *g, struct share *v)
{
	const struct symbols *syms = p->symbols;
	struct range t = g->text->range;
	size_t first = vec_prefix(syms->nfuncs, i, syms->funcs[i].range.start < t.start);
	size_t end = vec_prefix(syms->nfuncs, i, syms->funcs[i].range.start < t.end), n = 0;

	for (size_t i = first, next; i < end || !n; i = next, n++) {
		raddr_t from = i < end ? syms->funcs[i].range.start : t.end;

		next = vec_prefix(end, k, k <= i || syms->funcs[k].range.start < from + SHARE);
		next = MIN(next, end);
		if (v)
			v[n] = (struct share){ .ground = g, .first = i, .end = next,
					       .begins = i == first, .ends = next == end };
	}
	return n;
}

int sweep_all(struct plan_impl *p)
{
	size_t n = 0;

	for (size_t i = 0; i < p->ngrounds; i++) {
		const struct text *t = p->grounds[i].text;

		p->has_thunks |= p->arch->thunk &&
			p->arch->has_thunk(t->bytes, range_size(t->range));
		n += sweep_divide(p, &p->grounds[i], NULL);
	}
	auto_free struct share *shares = calloc(n + 1, sizeof(*shares));
	const struct crew_work work = { begin_share, sweep_share, join_share, drop_share,
					shares, SIZE_MAX };

	if (!shares)
		return fail(ENOMEM, "plan %s", p->symbols->base);
	n = 0;
	for (size_t i = 0; i < p->ngrounds; i++)
		n += sweep_divide(p, &p->grounds[i], shares + n);
	return crew_run(p, &work, n);
}
