/* SPDX-License-Identifier: MIT */
/*
 * lives: which of the bytes that no function has are code that something leads to?
 *
 * Most are data, or lie between functions for the linker's purposes. What is code something leads
 * to: a branch of a function, an address, a table that functions name; and from there on whatever
 * that code branches to, names, or has a table of. It runs on until it leaves: in data control
 * meets what no program may do.
 */
#include <errno.h>
#include <string.h>

#include "plan/arrivals.h"
#include "plan/text/crew.h"
#include "plan/text/ground.h"

enum {
	ENTRIES = 1 << 12,	/* of one table */
	SHARE = 1 << 9,		/* tables that one of several threads reads in one go */
	BLOCK = 16,		/* bytes of text of which it is asked at once whose they are */
};

struct lives {
	struct plan_impl *impl;
	struct range gap;		/* what is led to elsewhere does not matter */
	uint64_t *owned;		/* by block of the texts: a function has all of it, or all
					 * of it is data; NULL: nothing is known */
	raddr_t *todo;
	size_t ntodo, todo_cap;
};

/* NULL: a function has it, or it is no text. */
static const uint8_t *gap_bytes(const struct plan_impl *p, raddr_t a, size_t *left)
{
	const uint8_t *bytes = symbols_text(p->symbols, a, left);

	return bytes && !symbols_func_at(p->symbols, a) ? bytes : NULL;
}

static int lead_to(struct lives *l, raddr_t a)
{
	const struct plan_impl *p = l->impl;
	size_t left;

	if (!range_has(l->gap, a) || !gap_bytes(p, a, &left) || ground_is_live(p, a) ||
	    symbols_is_data(p->symbols, a, NULL))
		return 0;
	raddr_t *new = vec_push(l->todo, l->ntodo, l->todo_cap);

	if (!new)
		return -ENOMEM;
	*new = a;
	return 0;
}

/* Does control that comes there run on until it leaves, as in code, or comes to a function, or to
 * where it was found to run on? Bytes that are a far return data have, too: but hardly behind two
 * pushes. */
static bool runs_on(struct plan_impl *p, raddr_t pc)
{
	struct effect e;
	struct insn in;
	int pushed = 0;
	size_t left;

	for (const uint8_t *bytes; (bytes = gap_bytes(p, pc, &left)); pc += in.size) {
		if (ground_is_live(p, pc) || !crew_spend(p, ARCH_INSN_MAX))
			return true;
		if (p->arch->measure(bytes, left, pc, &in))
			return false;
		p->arch->effect(bytes, left, &in, &e);
		pushed += e.pushes;
		if (e.forbidden)
			return in.kind == INSN_UNKNOWN && in.size > 1 && pushed > 1;
		if (insn_ends(&in) && !insn_may_resume(p->arch, bytes, &in))
			return true;
	}
	return symbols_func_at(p->symbols, pc);
}

/* These ranges, which lie so many bytes apart in memory. */
static void own(struct lives *l, const struct range *v, size_t stride, size_t n)
{
	struct range texts = l->impl->texts;

	for (size_t i = 0; i < n; i++) {
		struct range r = *(const struct range *)((const char *)v + i * stride);

		if (!range_overlaps(r, texts))
			continue;
		uint64_t from = MAX(r.start, texts.start) - texts.start;
		uint64_t end = (MIN(r.end, texts.end) - texts.start) / BLOCK;

		for (uint64_t k = (from + BLOCK - 1) / BLOCK; k < end; k++)
			bit_set(l->owned, k);
	}
}

static int note_owned(struct lives *l)
{
	const struct symbols *syms = l->impl->symbols;
	uint64_t size = range_size(l->impl->texts);

	if (size > UINT32_MAX)
		return 0;
	l->owned = calloc(size / BLOCK / 64 + 1, sizeof(*l->owned));
	if (!l->owned)
		return -ENOMEM;
	if (syms->nfuncs)
		own(l, &syms->funcs->range, sizeof(*syms->funcs), syms->nfuncs);
	own(l, syms->tabled, sizeof(*syms->tabled), syms->ntabled);
	own(l, syms->untabled, sizeof(*syms->untabled), syms->nuntabled);
	return 0;
}

/* Is it known without much ado that a function has it, or that it is data? */
static bool is_owned(const struct lives *l, raddr_t a)
{
	uint64_t at = a - l->impl->texts.start;

	return l->owned && at < range_size(l->impl->texts) && bit_get(l->owned, at / BLOCK);
}

/* The entries of a table of distances from itself, if one may be there: most lead into functions,
 * or, where data stand in what may run, to these. */
static int lead_by_table(struct lives *l, raddr_t a)
{
	const struct plan_impl *p = l->impl;
	int holes = 0, err = 0;
	size_t n = 0, left;
	const uint8_t *at = distances_may_be(p, a) ?
		symbols_bytes(p->symbols, a, ENTRIES * sizeof(int32_t), &n) : NULL;

	for (n /= sizeof(int32_t); at && n && holes < DISTANCES_HOLES && !err; n--) {
		int32_t d;

		memcpy(&d, at, sizeof(d));
		at += sizeof(d);
		raddr_t to = a + (raddr_t)(int64_t)d;

		if (is_owned(l, to)) {
			holes = 0;
			continue;
		}
		holes = symbols_text(p->symbols, to, &left) ? 0 : holes + 1;
		err = holes ? 0 : lead_to(l, to);
	}
	return err;
}

/* What an instruction names, where addresses are numbers. */
static int lead_by_numbers(struct lives *l, const uint8_t *bytes, size_t left,
			   const struct insn *in)
{
	struct effect e;
	int err = 0;

	l->impl->arch->effect(bytes, left, in, &e);
	if (e.op == EFFECT_NUMBER)
		err = lead_to(l, (raddr_t)e.number);
	if (!err && e.writes)
		err = lead_to(l, (raddr_t)e.written);
	return err;
}

/* What each thread finds, by the order of its tables. */
struct share {
	const struct lives *all;
	struct lives *parts;
};

static int read_share(struct plan_impl *own, size_t part, void *ctx)
{
	const struct share *share = ctx;
	struct lives *l = &share->parts[part];
	const raddr_t *v = own->maybes;
	size_t end = MIN((part + 1) * SHARE, own->nmaybes);
	int err = 0;

	*l = (struct lives){ .impl = own, .gap = share->all->gap, .owned = share->all->owned };
	for (size_t i = part * SHARE; i < end && !err; i++)
		if (!i || v[i] != v[i - 1])
			err = lead_by_table(l, v[i]);
	return err;
}

/* From all that is named and may be a table. */
static int lead_by_maybes(struct lives *l)
{
	size_t n = (l->impl->nmaybes + SHARE - 1) / SHARE;
	struct share share = { l, calloc(n + 1, sizeof(*share.parts)) };
	const struct crew_work work = { .work = read_share, .ctx = &share, .ahead = SIZE_MAX };
	int err = share.parts ? crew_run(l->impl, &work, n) : -ENOMEM;

	for (size_t i = 0; share.parts && i < n; i++) {
		struct lives *part = &share.parts[i];

		err = err ? err : crew_append(l, part, todo);
		free(part->todo);
	}
	free(share.parts);
	return err;
}

/* Where control goes from there, one instruction after the other. */
static int follow(struct lives *l, raddr_t pc)
{
	struct plan_impl *p = l->impl;
	struct insn in;
	size_t left;
	int err = 0;

	for (const uint8_t *bytes; !err && (bytes = gap_bytes(p, pc, &left)); pc += in.size) {
		if (p->arch->measure(bytes, left, pc, &in) || !ground_set_live(p, pc))
			break;
		if (in.dest && in.kind != INSN_PLAIN)
			err = lead_to(l, in.dest);
		if (!err && in.kind == INSN_PLAIN && in.flags & INSN_PCREL) {
			err = lead_to(l, in.ref);
			if (!err)
				err = lead_by_table(l, in.ref);
		}
		if (!err && in.kind == INSN_PLAIN && !p->symbols->is_pie)
			err = lead_by_numbers(l, bytes, left, &in);
		if (in.kind == INSN_UNKNOWN ||
		    (insn_ends(&in) && !insn_may_resume(p->arch, bytes, &in)))
			break;
	}
	return err;
}

int lives_find(struct plan_impl *p)
{
	const struct symbols *syms = p->symbols;
	struct lives l = { .impl = p, .gap = { 0, UINT64_MAX } };
	int err = note_owned(&l);

	for (size_t i = 0; i < p->nways && !err; i++)
		err = lead_to(&l, p->ways[i]);
	for (size_t i = 0; i < syms->npointers && !err; i++)
		err = lead_to(&l, syms->pointers[i]);
	err = err ? err : lead_by_maybes(&l);
	while (l.ntodo && !err) {
		raddr_t a = l.todo[--l.ntodo];

		l.gap = arrivals_gap(p, a);
		if (runs_on(p, a))
			err = follow(&l, a);
	}
	free(l.todo);
	free(l.owned);
	return err;
}
