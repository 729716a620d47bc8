/* SPDX-License-Identifier: MIT */
#include "injector/patch/stale.h"

#include <errno.h>

#include "injector/session/blobs.h"
#include "injector/session/ours.h"

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

/* Where the way back to a stub is in no memory, but in a register. */
static bool is_hidden(const struct session *s, raddr_t pc)
{
	raddr_t arena = ours_routines(s, pc).start;
	raddr_t first = arena + hot_table.tight_first;

	return (pc >= s->slow_first && pc < s->slow_first_end) ||
		(arena && pc >= first && pc < arena + hot_table.tight_first_end);
}

static bool in_a_jump(const struct live *live, raddr_t to)
{
	bool inside = false;

	for (size_t i = 0; live_site_at(live, to) && i < live->nchanges; i++) {
		const struct change *c = &live->changes[i];

		inside |= to > c->addr && to < c->addr + c->len;
	}
	return inside;
}

/* A thread in a stub may come to `to`. */
static int stale_lead(struct walk *w, raddr_t to)
{
	if (in_a_jump(w->live, to)) {
		*w->at = to;
		return fail(EBUSY, "a thread has yet to come out of a stub of an earlier trace");
	}
	if (!ours_in_stubs(w->session, to))
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
	size_t size = MIN(ours_stubs(w->session, from).end - from, (raddr_t)CODE);
	struct insn in = { .kind = INSN_PLAIN };
	uint8_t code[CODE];
	int err = target_read(w->target, from, code, size);

	for (size_t at = 0; !err && goes_on(&in); at += in.size) {
		if (at + ARCH_INSN_MAX > size)
			return stale_lead(w, from + at);
		if (arch_host()->measure(code + at, size - at, from + at, &in))
			return fail(EBUSY, "a thread is in a stub that cannot be read");
		if (in.kind == INSN_JUMP || in.kind == INSN_BRANCH)
			err = stale_lead(w, in.dest);
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

/* In a recording routine: what in its registers or on its stack may be the way back to a
 * stub? */
static int follow_ways(struct walk *w, const struct rest *rest)
{
	int err = 0;

	for (size_t i = 0; i < regs_nways && !err; i++)
		if (ours_in_stubs(w->session, rest->ways[i]))
			err = stale_lead(w, rest->ways[i]);
	for (size_t i = 0; i < STACK_WORDS && !err; i++) {
		raddr_t word;

		if (target_read(w->target, rest->sp + i * sizeof(word), &word, sizeof(word)) < 0)
			break;
		if (ours_in_stubs(w->session, word))
			err = stale_lead(w, word);
	}
	if (!err)		/* the stack may end here */
		fail_clear();
	return err;
}

int stale_check(const struct target *t, const struct infection *inf, const struct live *live,
		const struct rest *rest, raddr_t *at)
{
	const struct session *s = inf->map.s;
	raddr_t pc = rest->pc;
	struct walk w = { .target = t, .session = s, .live = live, .at = at };
	int err = 0;

	if (ours_in_stubs(s, pc))
		err = stale_lead(&w, pc);
	else if (is_hidden(s, pc))
		err = fail(EAGAIN, "a thread is about to make its first record");
	else if (ours_in_payload(s, pc) || ours_in_routines(s, pc))
		err = follow_ways(&w, rest);
	return err ? err : follow_all(&w);
}
