/* SPDX-License-Identifier: MIT */
#include "values/capture.h"

#include <errno.h>
#include <string.h>

static int parse_part(const uint8_t *p, size_t n, unsigned int from, unsigned int to,
		      struct capture *ret)
{
	size_t at = 0;

	for (unsigned int i = from; i < to; i++) {
		struct read_result r;

		if (n - at < sizeof(r))
			return -EBADMSG;
		memcpy(&r, p + at, sizeof(r));
		at += sizeof(r);
		if (r.op != i || r.n > ret->plan->ops[i].cap || r.n > n - at ||
		    r.status > READ_CUT)
			return -EBADMSG;
		ret->v[i] = (struct captured){ p + at, r.n, r.status, true };
		at = MIN(n, (at + r.n + 3) & ~(size_t)3);
	}
	return 0;
}

int capture_parse(const struct signature *s, const struct read_plan *plan, const uint8_t *entry,
		  size_t nentry, const uint8_t *exit, size_t nexit, struct capture *ret)
{
	int err = reads_check(plan) ? -EBADMSG : 0;

	*ret = (struct capture){ .signature = s, .plan = plan, .has_exit = exit };
	if (!err && entry)
		err = parse_part(entry, nentry, 0, plan->nentry, ret);
	if (!err && exit)
		err = parse_part(exit, nexit, plan->nentry, plan->nops, ret);
	return err;
}

static enum held why_not(const struct captured *c)
{
	return c->status == READ_FAILED ? HELD_UNREADABLE :
		c->status == READ_NOT ? HELD_UNASKED : HELD_CUT;
}

static enum held take_own(const struct capture *c, uint8_t param, uint32_t at, uint8_t *ret)
{
	enum held why = HELD_NOT;

	for (unsigned int i = 0; i < c->plan->nops; i++) {
		const struct read_op *o = &c->plan->ops[i];

		if (o->param != param || o->role != READ_PART || at < o->at)
			continue;
		if (c->v[i].there && at - o->at < c->v[i].n) {
			*ret = c->v[i].bytes[at - o->at];
			return HELD;
		}
		/* Of memory it is the rest that was too much; registers are just these. */
		if (o->source == READ_STACK || o->source == READ_MEMORY)
			why = why_not(&c->v[i]);
	}
	return why;
}

enum held capture_take(const struct capture *c, struct spot s, uint32_t n, uint8_t *ret)
{
	enum held held = HELD;

	if (s.own) {
		for (uint32_t i = 0; i < n && held == HELD; i++)
			held = take_own(c, s.of, s.at + i, ret + i);
		return held;
	}
	const struct captured *v = &c->v[s.of];

	if (!v->there || s.at + (uint64_t)n > v->n)
		return why_not(v);
	memcpy(ret, v->bytes + s.at, n);
	return HELD;
}

/* Does this operation's result have byte `at` of the spot's bytes, and where? */
static bool has_byte(const struct capture *c, struct spot s, uint8_t op, uint32_t *at)
{
	const struct read_op *o = &c->plan->ops[op];

	*at = s.at;
	if (!s.own)
		return op == s.of;
	*at -= o->at;
	return o->role == READ_PART && o->param == s.of && s.at >= o->at && s.at - o->at < o->cap;
}

/* Does the operation read behind the pointer of that type which lies there? */
static bool reads_behind(const struct capture *c, unsigned int op, struct spot s, uint32_t type)
{
	const struct read_op *o = &c->plan->ops[op];
	uint32_t at;

	return o->source == READ_MEMORY && o->role == READ_BEHIND && o->type == type &&
		has_byte(c, s, o->index, &at) && o->pointer_at == at;
}

uint8_t capture_reads(const struct capture *c, struct spot s, uint32_t type, bool exit)
{
	unsigned int to = exit ? c->plan->nops : c->plan->nentry;

	for (unsigned int i = exit ? c->plan->nentry : 0; i < to; i++)
		if (reads_behind(c, i, s, type))
			return (uint8_t)i;
	return READS_NONE;
}

uint8_t capture_behind(const struct capture *c, struct spot s, uint32_t type)
{
	uint8_t ret = READS_NONE;

	for (unsigned int i = 0; i < c->plan->nops; i++) {
		if (!reads_behind(c, i, s, type))
			continue;
		if (c->v[i].there && c->v[i].status != READ_NOT)
			return i;
		if (ret == READS_NONE)
			ret = i;
	}
	return ret;
}
