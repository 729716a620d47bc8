/* SPDX-License-Identifier: MIT */
#include "injector/strays.h"

#include <errno.h>

#include "injector/blobs.h"

enum {
	PATHS_MOST = 64,	/* stubs that lead into each other */
	CODE = 512,		/* bytes of a stub read at a time */
	STACK_WORDS = 128,	/* above the way back to a stub the routines and
				 * slow.S have less than this */
};

struct walk {
	const struct target *target;
	const struct session *session;
	const struct live *live;
	raddr_t paths[PATHS_MOST];	/* in stubs, to go on from */
	size_t n;
	raddr_t *at;
};

static struct range routines_of(const struct arena *a)
{
	return (struct range){ a->base, a->base + (raddr_t)(hot_end - hot_begin) };
}

static struct range stubs_of(const struct arena *a)
{
	return (struct range){ routines_of(a).end, a->base + a->size };
}

/* The part of an arena that holds `pc`; empty: none does. */
static struct range part_at(const struct session *s, raddr_t pc,
			    struct range (*part)(const struct arena *))
{
	for (uint32_t i = 0; i < s->narenas && i < SESSION_ARENAS; i++)
		if (range_has(part(&s->arenas[i]), pc))
			return part(&s->arenas[i]);
	return (struct range){ 0, 0 };
}

static bool in_routines(const struct session *s, raddr_t pc)
{
	return range_has(part_at(s, pc, routines_of), pc);
}

static bool in_stubs(const struct session *s, raddr_t pc)
{
	return range_has(part_at(s, pc, stubs_of), pc);
}

static bool in_payload(const struct session *s, raddr_t pc)
{
	return range_has(payload_range(s->payload), pc);
}

bool strays_in_ours(const struct session *s, raddr_t pc)
{
	return in_stubs(s, pc) || in_routines(s, pc) || in_payload(s, pc);
}

/* Where the way back to a stub is in no memory, but in a register. */
static bool is_hidden(const struct session *s, raddr_t pc)
{
	raddr_t arena = part_at(s, pc, routines_of).start;
	raddr_t first = arena + (raddr_t)(tight_first - hot_begin);

	return (pc >= s->slow_first && pc < s->slow_first_end) ||
		(arena && pc >= first && pc < arena + (raddr_t)(tight_first_end - hot_begin));
}

static bool in_a_jump(const struct live *live, raddr_t to)
{
	bool inside = false;

	for (size_t i = 0; probes_site_at(live, to) && i < live->nchanges; i++) {
		const struct change *c = &live->changes[i];

		inside |= to > c->addr && to < c->addr + c->len;
	}
	return inside;
}

/* Whoever is in a stub may come to `to`. */
static int lead(struct walk *w, raddr_t to)
{
	if (in_a_jump(w->live, to)) {
		*w->at = to;
		return fail(EBUSY, "a thread has yet to come out of a stub of an earlier trace");
	}
	if (!in_stubs(w->session, to))
		return 0;
	for (size_t i = 0; i < w->n; i++)
		if (w->paths[i] == to)
			return 0;
	if (w->n == PATHS_MOST)
		return fail(EBUSY, "a thread's way out of the stubs is too long");
	w->paths[w->n++] = to;
	return 0;
}

static bool goes_on(const struct insn *in)
{
	return in->kind != INSN_JUMP && in->kind != INSN_JUMP_INDIRECT &&
		in->kind != INSN_RETURN;
}

/* From here to where control leaves the stub. */
static int follow(struct walk *w, raddr_t from)
{
	size_t size = MIN(part_at(w->session, from, stubs_of).end - from, (raddr_t)CODE);
	struct insn in = { .kind = INSN_PLAIN };
	uint8_t code[CODE];
	int err = target_read(w->target, from, code, size);

	for (size_t at = 0; !err && goes_on(&in); at += in.size) {
		if (at + ARCH_INSN_MAX > size)
			return lead(w, from + at);
		if (arch_host()->measure(code + at, size - at, from + at, &in))
			return fail(EBUSY, "a thread is in a stub that cannot be read");
		if (in.kind == INSN_JUMP || in.kind == INSN_BRANCH)
			err = lead(w, in.dest);
	}
	return err;
}

static int follow_all(struct walk *w)
{
	int err = 0;

	for (size_t i = 0; i < w->n && !err; i++)
		err = follow(w, w->paths[i]);
	return err;
}

/* In a recording routine: what on its stack may be the way back to a stub? */
static int follow_stack(struct walk *w, raddr_t sp)
{
	int err = 0;

	for (size_t i = 0; i < STACK_WORDS && !err; i++) {
		raddr_t word;

		if (target_read(w->target, sp + i * sizeof(word), &word, sizeof(word)) < 0)
			break;
		if (in_stubs(w->session, word))
			err = lead(w, word);
	}
	if (!err)		/* the stack may end here */
		fail_clear();
	return err;
}

int strays_check(const struct target *t, const struct infection *inf, const struct live *live,
		 raddr_t pc, raddr_t sp, raddr_t *at)
{
	const struct session *s = inf->map.s;
	struct walk w = { .target = t, .session = s, .live = live, .at = at };
	int err = 0;

	if (in_stubs(s, pc))
		err = lead(&w, pc);
	else if (is_hidden(s, pc))
		err = fail(EAGAIN, "a thread is about to make its first record");
	else if (in_payload(s, pc) || in_routines(s, pc))
		err = follow_stack(&w, sp);
	return err ? err : follow_all(&w);
}
