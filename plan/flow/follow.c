/* SPDX-License-Identifier: MIT */
/*
 * follow: where do a function's jumps by tables lead within it?
 *
 * What a jump goes by may depend on where other jumps lead, and on where it leads itself: a
 * function may keep the address of the next jump's table in a register. So the tables that are
 * known are followed, and all jumps asked again, until no table comes to those: what holds then
 * holds for all ways that there are.
 */
#include <errno.h>

#include "plan/arrivals.h"
#include "plan/flow/flow.h"

enum {
	ROUNDS = 64,		/* of jumps that lead to each other */
	ENTRIES = 1 << 12,	/* of a table whose index is bounded */
	LINKS = 1 << 22,	/* ways from them, which a hostile file has without end */
};

/* A table that a jump goes by. */
struct followed {
	size_t step;
	raddr_t at, base;
	uint32_t most, stride;
};

struct follow {
	struct flow *flow;
	struct followed *tables;
	size_t ntables, cap;
};

/* Is it known how far the entries go that are not distances from the table itself? */
static bool is_bounded(const struct value *v)
{
	return v->kind == VALUE_PLACE && v->named && v->table && v->width < 8 && v->stride &&
		v->most / v->stride < ENTRIES;
}

/* A switch's entries end where another table may begin, or at holes. */
static int link_table(struct follow *w, size_t step, const struct value *v)
{
	struct flow *f = w->flow;
	const struct plan_impl *p = f->body->impl;
	bool ends = distances_is_switch(p, v);
	struct table_at t = { .at = ends ? v->number : v->table, .base = v->number,
			      .width = v->width, .stride = 1, .scale = v->scale,
			      .extends = v->extends };
	int64_t by = ends ? v->width : v->stride, most = ends ? INT64_MAX : v->most;
	size_t next = vec_prefix(p->nmaybes, k, p->maybes[k] <= t.at), left;
	raddr_t end = ends && next < p->nmaybes ? p->maybes[next] : UINT64_MAX, a;
	int holes = 0, err = 0;

	for (int64_t i = 0; i <= most && t.at + (raddr_t)i < end && !err; i += by) {
		if (!distances_read(p, &t, i, &a) || f->nlinks > LINKS)
			break;
		err = body_has(f->body, a) ? flow_link(f, step, a) : 0;
		holes = symbols_text(p->symbols, a, &left) ? 0 : holes + 1;
		if (ends && holes == DISTANCES_HOLES)
			break;
	}
	return err;
}

/* 1: it is new for this jump. */
static int follow_table(struct follow *w, size_t step, const struct value *v)
{
	bool ends = distances_is_switch(w->flow->body->impl, v);
	struct followed t = { step, ends ? v->number : v->table, v->number,
			      ends ? 0 : v->most, ends ? 0 : v->stride };

	for (size_t i = 0; i < w->ntables; i++) {
		const struct followed *o = &w->tables[i];

		if (o->step == step && o->at == t.at && o->base == t.base &&
		    o->most == t.most && o->stride == t.stride)
			return 0;
	}
	struct followed *new = vec_push(w->tables, w->ntables, w->cap);

	if (!new)
		return -ENOMEM;
	*new = t;
	return link_table(w, step, v) ? -ENOMEM : 1;
}

/* All that it may go by is a table that is followed: then its ways are. 1: there are more. */
static int follow_jump(struct follow *w, size_t step)
{
	struct flow *f = w->flow;
	enum leads leads = LEADS_BY_SWITCH;
	struct values s;
	int more = 0;

	if (!flow_goal(f, step, &s) || !s.n)
		leads = LEADS_ANYWHERE;
	for (size_t i = 0; i < s.n && leads; i++)
		if (!distances_is_switch(f->body->impl, &s.v[i]))
			leads = is_bounded(&s.v[i]) ? LEADS_BY_TABLE : LEADS_ANYWHERE;
	for (size_t i = 0; i < s.n && leads && more >= 0; i++) {
		int err = follow_table(w, step, &s.v[i]);

		more = err ? err : more;
	}
	if (f->leads[step] != leads)
		more = more < 0 ? more : 1;
	f->leads[step] = leads;
	return more;
}

int flow_follow(struct flow *f, bool *all)
{
	const struct body *b = f->body;
	struct follow w = { .flow = f };
	bool more = b->njumps;
	int err = 0;

	f->hurried = flow_hurries(f, 0);
	f->follows = true;
	for (int round = 0; more && round < ROUNDS && err >= 0 && f->nlinks <= LINKS; round++) {
		more = false;
		for (size_t i = 0; i < b->nsteps && err >= 0; i++) {
			if (b->steps[i].insn.kind != INSN_JUMP_INDIRECT)
				continue;
			err = follow_jump(&w, i);
			more |= err > 0;
		}
		if (more)
			flow_ready(f);
	}
	f->follows = false;
	*all = !more;
	free(w.tables);
	return err < 0 ? err : 0;
}
