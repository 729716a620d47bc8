/* SPDX-License-Identifier: MIT */
#include "injector/ptrace/text.h"

#include <errno.h>
#include <string.h>

#include "payload/page.h"

/* Consecutive changes within one page and of one rank. */
struct span {
	const struct change *c;
	size_t n;
	raddr_t addr;
	size_t len;
	uint8_t bytes[PAGE];
};

static raddr_t page_of(raddr_t addr)
{
	return addr / PAGE;
}

/* The span that begins with c[0]. Changes are sorted, upwards or downwards. */
static int span_begin(const struct change *c, size_t n, struct span *s)
{
	raddr_t lo = c->addr, hi = c->addr + c->len;

	s->c = c;
	for (s->n = 0; s->n < n; s->n++) {
		const struct change *one = &c[s->n];

		if (one->rank != c->rank || page_of(one->addr) != page_of(c->addr))
			break;
		if (!one->len || page_of(one->addr + one->len - 1) != page_of(c->addr))
			return fail(0, "a change at %#lx would straddle two pages",
				    (unsigned long)one->addr);
		lo = MIN(lo, one->addr);
		hi = MAX(hi, one->addr + one->len);
	}
	s->addr = lo;
	s->len = hi - lo;
	return 0;
}

static int span_read(const struct target *t, const struct change *c, size_t n,
		     struct span *s)
{
	int err = span_begin(c, n, s);

	return err ? err : target_read(t, s->addr, s->bytes, s->len);
}

static enum text_is change_state(const struct span *s, const struct change *c)
{
	const uint8_t *now = s->bytes + (c->addr - s->addr);

	return memcmp(now, c->from, c->len) == 0 ? TEXT_FROM :
		memcmp(now, c->to, c->len) == 0 ? TEXT_TO : TEXT_OTHER;
}

int text_look(const struct target *t, const struct change *c, size_t n, uint8_t *ret)
{
	struct span s;

	for (size_t at = 0; at < n; at += s.n) {
		int err = span_read(t, c + at, n - at, &s);

		if (err)
			return err;
		for (size_t i = 0; i < s.n; i++)
			ret[at + i] = change_state(&s, &c[at + i]);
	}
	return 0;
}

static int fail_change(const struct target *t, const struct change *c, const char *what)
{
	fail(0, "the text at %#lx of %d (%s) %s", (unsigned long)c->addr, t->pid, t->comm, what);
	return -EIO;
}

static int change_span(const struct target *t, const struct change *c, size_t n,
		       struct span *s)
{
	uint8_t before[PAGE], back[PAGE];
	int err = span_read(t, c, n, s);

	if (err)
		return err;
	memcpy(before, s->bytes, s->len);
	for (size_t i = 0; i < s->n; i++) {
		if (change_state(s, &c[i]) != TEXT_FROM)
			return fail_change(t, &c[i], "has changed meanwhile");
		memcpy(s->bytes + (c[i].addr - s->addr), c[i].to, c[i].len);
	}
	err = target_write(t, s->addr, s->bytes, s->len);
	err = err ? err : target_read(t, s->addr, back, s->len);
	if (!err && memcmp(back, s->bytes, s->len) != 0)
		err = fail_change(t, c, "is not what was written");
	/* Not known to be there: then it shall not be there. */
	if (err)
		target_write(t, s->addr, before, s->len);
	return err;
}

bool text_is_hopeless(uint64_t begun, uint64_t now, uint64_t until, size_t done, size_t n)
{
	uint64_t spent = now - begun;

	if (now > until || !done)
		return now > until;
	return spent > until - now && (double)spent / (double)done * (double)(n - done) >
		(double)(until - now);
}

/* Is there no time for the rest? */
static bool is_out_of_time(uint64_t begun, uint64_t until, size_t done, size_t n, bool all)
{
	uint64_t now = now_ns();

	return all ? text_is_hopeless(begun, now, until, done, n) : now > until;
}

static int fail_short(struct target *t, uint64_t begun, size_t done, size_t n)
{
	char advice[TARGET_ADVICE];

	target_needs(t, begun, done, n);
	return fail(0, "%zu places of %d (%s) cannot be changed in so short a stop; allow more with "
		    "--max-pause%s, or probe fewer functions", n, t->pid, t->comm,
		    target_advice(t, advice)), -EAGAIN;
}

static int text_change_by(struct target *t, const struct change *c, size_t n, uint64_t until,
			  bool all, size_t *done)
{
	uint64_t begun = now_ns();
	struct span s;

	for (*done = 0; *done < n; *done += s.n) {
		int err = until && is_out_of_time(begun, until, *done, n, all) ?
			fail_short(t, begun, *done, n) : change_span(t, c + *done, n - *done, &s);

		if (err)
			return err;
	}
	return 0;
}

int text_change(struct target *t, const struct change *c, size_t n, uint64_t until,
		size_t *done)
{
	return text_change_by(t, c, n, until, false, done);
}

int text_change_all(struct target *t, const struct change *c, size_t n, uint64_t until,
		    size_t *done)
{
	return text_change_by(t, c, n, until, true, done);
}

struct change text_reversed(const struct change *c)
{
	struct change back = *c;

	memcpy(back.from, c->to, sizeof(back.from));
	memcpy(back.to, c->from, sizeof(back.to));
	return back;
}

void text_undo(struct target *t, const struct change *c, size_t done)
{
	auto_free struct change *back = calloc(done + 1, sizeof(*back));
	size_t n = 0;

	for (size_t i = 0; back && i < done; i++)
		back[i] = text_reversed(&c[done - 1 - i]);
	if (back)
		text_change(t, back, done, 0, &n);
	/* Without memory, or behind a place that another process has changed in
	 * this instant: one by one. */
	for (size_t i = done - n; i-- > 0;) {
		struct change one = text_reversed(&c[i]);
		size_t unused;

		text_change(t, &one, 1, 0, &unused);
	}
}

int text_touch(const struct target *t, const struct change *c, size_t n, size_t *at)
{
	raddr_t page = 0;

	for (*at = 0; *at < n; ++*at) {
		raddr_t addr = c[*at].addr;
		uint8_t byte;

		if (page_of(addr) == page)
			continue;
		page = page_of(addr);
		int err = target_read(t, addr, &byte, 1);
		err = err ? err : target_write(t, addr, &byte, 1);
		if (err)
			return err;
	}
	return 0;
}
