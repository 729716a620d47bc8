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
#include "plan/text/ground.h"

enum { ENTRIES = 1 << 12 };	/* of one table */

struct lives {
	struct plan_impl *impl;
	struct range gap;		/* what is led to elsewhere does not matter */
	struct range func;		/* nor does what a table leads to in a function: the
					 * last one */
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

/* The entries of a table of distances from itself, if one may be there: most lead into functions,
 * one after the other into the same. */
static int lead_by_table(struct lives *l, raddr_t a)
{
	const struct plan_impl *p = l->impl;
	const struct func *f;
	int holes = 0, err = 0;
	size_t n = 0, left;
	const uint8_t *at = distances_may_be(p, a) ?
		symbols_bytes(p->symbols, a, ENTRIES * sizeof(int32_t), &n) : NULL;

	for (n /= sizeof(int32_t); at && n && holes < DISTANCES_HOLES && !err; n--) {
		int32_t d;

		memcpy(&d, at, sizeof(d));
		at += sizeof(d);
		raddr_t to = a + (raddr_t)(int64_t)d;

		if (range_has(l->func, to)) {
			holes = 0;
			continue;
		}
		holes = symbols_text(p->symbols, to, &left) ? 0 : holes + 1;
		f = holes ? NULL : symbols_func_at(p->symbols, to);
		if (f)
			l->func = f->range;
		else if (!holes)
			err = lead_to(l, to);
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
	int err = 0;

	for (size_t i = 0; i < p->nways && !err; i++)
		err = lead_to(&l, p->ways[i]);
	for (size_t i = 0; i < syms->npointers && !err; i++)
		err = lead_to(&l, syms->pointers[i]);
	for (size_t i = 0; i < p->nmaybes && !err; i++)
		if (!i || p->maybes[i] != p->maybes[i - 1])
			err = lead_by_table(&l, p->maybes[i]);
	while (l.ntodo && !err) {
		raddr_t a = l.todo[--l.ntodo];

		l.gap = unowned_around(p, a);
		if (runs_on(p, a))
			err = follow(&l, a);
	}
	free(l.todo);
	return err;
}
