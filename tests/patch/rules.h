/* SPDX-License-Identifier: MIT */
/*
 * rules: does a plan keep the rules that keep its target alive? Looked at
 * again, and differently from how the plan was made.
 */
#ifndef TESTS_PATCH_RULES_H
#define TESTS_PATCH_RULES_H

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "plan/placement.h"

enum { STUB_CAP = 4096 };

static size_t broken;
/* May code lead so far that a stub does not reach it? The function is refused then,
 * as it is placed. */
static bool rules_far;

static void complain(const struct probe *p, const struct site *s, const char *what)
{
	if (broken++ < 10)
		fprintf(stderr, "%s: site %#lx: %s\n", p->func->name,
			(unsigned long)s->pc, what);
}

static bool patch_is_sound(const struct plan *plan, const struct patch *p)
{
	size_t left;
	const uint8_t *text = symbols_text(plan->symbols, p->pc, &left);

	return text && left >= p->len && !memcmp(text, p->old, p->len) &&
	       p->pc / 4096 == (p->pc + p->len - 1) / 4096;
}

/* Every instruction of the window leads into the stub, and nothing else does. */
static bool forwards(const struct placed_site *placed)
{
	const struct site *s = &placed->site;
	raddr_t stub = placed->stub;
	size_t next = 0;

	for (size_t off = 0; off < s->window; off++) {
		bool start = next < s->ninsns && s->insns[next] == off;
		int err;
		raddr_t to = plan_forward(placed, s->pc + off, &err);

		if (off == 0 ? to || err :
		    start ? err || to < stub || to >= stub + placed->stub_size :
		    to || err != -EILSEQ)
			return false;
		next += start;
	}
	return next == s->ninsns;
}

/* As if no other function were probed. */
static bool find_island(const struct plan *plan, struct placed_site *placed)
{
	struct site *s = &placed->site;
	size_t left, room = s->jump.len, most = room + s->kept;
	const uint8_t *text = symbols_text(plan->symbols, s->pc, &left);
	struct jump_set set;

	for (size_t n = 0; n + plan->arch->jump_size <= most && most <= left; n++) {
		if (plan_pun(plan->arch, placed, n, text, (uint16_t)(0xffff << room), &set) ||
		    !jump_set_next(&set, set.base - (1u << 31), &placed->island))
			continue;
		placed->prefix = (uint8_t)n;
		s->kept = (uint8_t)(n + plan->arch->jump_size - room);
		return true;
	}
	return false;
}

/* What a pun does not write is as it was. */
static bool keeps(const struct plan *plan, const struct placed_site *placed)
{
	const struct site *s = &placed->site;
	size_t left, at = s->jump.len;
	const uint8_t *text = symbols_text(plan->symbols, s->pc, &left);

	return !memcmp(text + at, placed->new_jump + at, s->kept);
}

static int place_site(const struct plan *plan, const struct placed_probe *p,
		      struct placed_site *placed, uint8_t *out)
{
	const struct site *s = &placed->site;
	raddr_t at = s->pc + (1 << 20);
	struct routines to = { .entry = at, .exit = at + 64, .mark = at + 128,
			       .first = at + 192, .spills = 8, .late = at + 256,
			       .leave = at + 320 };
	size_t left;

	placed->stub = s->pc + (1 << 21);
	if (s->tactic == TACTIC_PUN && !find_island(plan, placed))
		complain(p->planned, s, "leads nowhere");
	return plan_place(plan->arch, p, placed, symbols_text(plan->symbols, s->pc, &left),
			  &to, out, STUB_CAP);
}

/* A jump strictly inside a window of the same function, or to its entry, leads to the copy of
 * what the window held; to where a place's window begins, to its jump. */
static bool leads_well(const struct placed_probe *p, raddr_t dest, raddr_t copy)
{
	for (size_t i = 0; i < p->nsites; i++) {
		const struct placed_site *placed = &p->sites[i];
		const struct site *s = &placed->site;

		if (dest < s->pc + (!s->entry || s->place) || dest >= s->pc + s->window)
			continue;
		for (size_t k = 0; k < s->ninsns; k++)
			if (s->pc + s->insns[k] == dest)
				return copy == placed->stub + placed->stub_off[k];
		return false;
	}
	return true;
}

static void check_link(const struct plan *plan, const struct placed_probe *p,
		       const struct placed_site *placed, size_t i, const uint8_t *out)
{
	const struct site *s = &placed->site;
	size_t left, off = placed->stub_off[i];
	raddr_t pc = s->pc + s->insns[i], at = placed->stub + off;
	const uint8_t *text = symbols_text(plan->symbols, pc, &left);
	struct insn in, copy;

	if (plan->arch->decode(text, left, pc, &in) || s->exits >> i & 1 ||
	    (in.kind != INSN_JUMP && in.kind != INSN_BRANCH))
		return;
	if (plan->arch->decode(out + off, STUB_CAP - off, at, &copy))
		complain(p->planned, s, "a displaced jump is none");
	/* One that only skips what follows is half of an inverted branch. */
	else if (copy.dest - at > 8 && !leads_well(p, in.dest, copy.dest))
		complain(p->planned, s, "a displaced jump leads elsewhere");
}

static void check_site(const struct plan *plan, const struct placed_probe *p,
		       struct placed_site *placed)
{
	const struct site *s = &placed->site;
	const struct probe *planned = p->planned;
	uint8_t out[STUB_CAP] = { 0 };
	int err;

	if (!patch_is_sound(plan, &s->jump) ||
	    (s->tactic == TACTIC_SHORT && !patch_is_sound(plan, &s->hole)))
		complain(planned, s, "patch");
	err = place_site(plan, p, placed, out);
	if (err == -ERANGE && rules_far)
		return;
	if (err)
		complain(planned, s, "cannot be placed");
	else if (placed->stub_size > s->stub_most)
		complain(planned, s, "the stub is longer than its bound");
	else if (!forwards(placed))
		complain(planned, s, "plan_forward");
	else if (s->tactic == TACTIC_PUN && !keeps(plan, placed))
		complain(planned, s, "does not keep what it should");
	for (size_t i = 0; i < s->ninsns; i++)
		check_link(plan, p, placed, i, out);
}

/* Stubs have jumps into each other: the first round tells where. */
static void check_probe(const struct plan *plan, const struct placed_probe *p)
{
	uint8_t out[STUB_CAP];

	for (size_t i = 0; p->planned->linked && i < p->nsites; i++)
		place_site(plan, p, &p->sites[i], out);
	for (size_t i = 0; i < p->nsites; i++)
		check_site(plan, p, &p->sites[i]);
}

static int by_pc(const void *a, const void *b)
{
	const struct range *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

/* No byte belongs to two sites. */
static void check_disjoint(const struct plan *plan)
{
	size_t n = 0, sites = 0;

	for (size_t i = 0; i < plan->nprobes; i++)
		sites += plan->probes[i].nsites;
	struct range *v = calloc(3 * sites + 1, sizeof(*v));

	for (size_t i = 0; i < plan->nprobes; i++)
		for (size_t k = 0; k < plan->probes[i].nsites; k++) {
			const struct site *s = &plan->probes[i].sites[k];

			raddr_t end = s->pc + s->window + s->dead;

			v[n++] = (struct range){ s->pc, s->host ? s[1].hole.pc : end };
			if (s->host)	/* around the hole that it is for */
				v[n++] = (struct range){ s[1].hole.pc + s[1].hole.len, end };
			if (s->hole.len)
				v[n++] = (struct range){ s->hole.pc,
							 s->hole.pc + s->hole.len };
		}
	qsort(v, n, sizeof(*v), by_pc);
	for (size_t i = 1; i < n; i++)
		if (v[i].start < v[i - 1].end && v[i].start < v[i].end && broken++ < 10)
			fprintf(stderr, "two sites at %#lx\n", (unsigned long)v[i].start);
	free(v);
}

/* Whose bytes are these? By address: 1 + the probe, 0: no probe's. */
struct owners {
	uint32_t *written;	/* over by a jump, but for its first byte */
	uint32_t *displaced;	/* by a window, of which control arrives at the
				 * start only, or at the stub */
};

/* Does a branch lead where a jump has been written over? Not if it is
 * displaced as well, by the same probe: see check_link. */
static void check_branch(const struct plan *plan, const struct owners *o,
			 const struct text *t, const struct insn *in)
{
	bool direct = in->kind == INSN_JUMP || in->kind == INSN_BRANCH ||
		in->kind == INSN_CALL;
	uint32_t to = direct && range_has(t->range, in->dest) ?
		o->written[in->dest - t->range.start] : 0;

	if (to && (in->kind == INSN_CALL || o->displaced[in->pc - t->range.start] != to) &&
	    broken++ < 10)
		fprintf(stderr, "%s: a branch at %#lx leads into a jump\n",
			plan->symbols->base, (unsigned long)in->pc);
}

static void mark(uint32_t *owner, const struct text *t, raddr_t start, size_t n, size_t probe)
{
	for (raddr_t a = start; a < start + n; a++)
		if (range_has(t->range, a))
			owner[a - t->range.start] = (uint32_t)probe + 1;
}

static void mark_site(const struct owners *o, const struct text *t, const struct site *s,
		      size_t probe)
{
	mark(o->displaced, t, s->pc, s->window, probe);
	mark(o->written, t, s->jump.pc + 1, s->jump.len - 1, probe);
	if (s->hole.len)
		mark(o->written, t, s->hole.pc + 1, s->hole.len - 1, probe);
}

/* Every function is read once more from its start. */
static void check_branches(const struct plan *plan, const struct text *t)
{
	struct owners o = { calloc(range_size(t->range) + 1, sizeof(uint32_t)),
			    calloc(range_size(t->range) + 1, sizeof(uint32_t)) };

	for (size_t i = 0; i < plan->nprobes; i++)
		for (size_t k = 0; k < plan->probes[i].nsites; k++)
			mark_site(&o, t, &plan->probes[i].sites[k], i);
	for (size_t i = 0; i < plan->symbols->nfuncs; i++) {
		struct range r = plan->symbols->funcs[i].range;
		struct insn in;
		size_t left;
		const uint8_t *p;

		for (raddr_t pc = r.start; range_has(t->range, pc) && pc < r.end; pc += in.size) {
			p = symbols_text(plan->symbols, pc, &left);
			if (!p || plan->arch->measure(p, left, pc, &in))
				break;
			check_branch(plan, &o, t, &in);
		}
		if (range_has(t->range, r.start) && o.written[r.start - t->range.start] &&
		    broken++ < 10)
			fprintf(stderr, "a function starts inside a jump\n");
	}
	free(o.written);
	free(o.displaced);
}

/* Place every site, and count what is wrong. */
static size_t rules_broken(const struct plan *plan)
{
	auto_free struct placed_probe *probes = plan_placement(plan);

	broken = !probes;
	for (size_t i = 0; probes && i < plan->nprobes; i++)
		check_probe(plan, &probes[i]);
	check_disjoint(plan);
	for (size_t i = 0; i < plan->symbols->ntexts; i++)
		check_branches(plan, &plan->symbols->texts[i]);
	return broken;
}

#endif
