/* SPDX-License-Identifier: MIT */
/*
 * What is told of calls that end: how long they took, and how much of that is their own, where ends
 * are lost, some are not to be shown, or a process began later; and are those closed that -n has
 * opened?
 */
#include <stdio.h>
#include <string.h>

#include "tests/unit/check.h"
#include "trace/read/frames.h"

enum { OLD = 9, CHILD = 10 };	/* processes, and their first threads */
enum { START = 10 };

static const struct reader_func funcs[] = {
	{ .name = "a", .module = "exe" }, { .name = "b", .module = "exe" },
	{ .name = "c", .module = "exe" },
};

static struct clock ticks = { .run_ns = 1000, .run_ticks = 1000 };
static char shown[512];
static uint64_t now;

static bool open_call(void *ctx, const struct call *c)
{
	return true;
}

/* "a 1+5 own 3": its begin, span, and what is its own; "?" for a span that is not known. */
static void end_call(void *ctx, const struct call *c)
{
	size_t n = strlen(shown);

	n += (size_t)snprintf(shown + n, sizeof(shown) - n, "%s%s %llu", n ? ", " : "",
			      c->func->name, (unsigned long long)c->begin);
	if (call_has_span(c))
		snprintf(shown + n, sizeof(shown) - n, "+%llu own %llu",
			 (unsigned long long)c->span, (unsigned long long)(c->span - c->inner));
	else
		snprintf(shown + n, sizeof(shown) - n, "?");
}

static void lost(void *ctx, const struct event *e)
{
}

static struct frames *begin(const struct frames_options *o)
{
	const struct sink sink = { .open = open_call, .end = end_call, .lost = lost };
	struct frames *ret;

	MUST_EQ(frames_new(&ticks, START, funcs, o, &sink, &ret), 0);
	*shown = '\0';
	now = 0;
	return ret;
}

/* "a" calls, ")a" returns, "?a" has ended, and that was lost; at 1, 2, 3 and so on. */
static void feed(struct frames *f, const char *events)
{
	for (const char *p = events; *p; p++) {
		struct event e = { .tsc = ++now, .pid = OLD, .tid = OLD };

		e.kind = *p == ')' ? EVENT_EXIT : *p == '?' ? EVENT_EXIT_LOST : EVENT_ENTRY;
		p += e.kind != EVENT_ENTRY;
		e.func = (uint32_t)(*p - 'a');
		MUST_EQ(frames_event(f, &e), 0);
	}
}

static void check(const char *what, const char *want)
{
	if (strcmp(shown, want)) {
		failures++;
		fprintf(stderr, "%s: %s, not %s\n", what, shown, want);
	}
}

static void calls(const struct frames_options *o, const char *events, const char *want)
{
	struct frames *f = begin(o);

	feed(f, events);
	frames_finish(f, now);
	check(events, want);
	frames_free(f);
}

static void own_time(void)
{
	const struct frames_options all = { 0 }, one_level = { .depth = 1 };
	const struct frames_options long_ones = { .min_ns = 3 };

	calls(&all, "ab)bc)c)a", "b 2+1 own 1, c 4+1 own 1, a 1+5 own 3");
	/* What was lost has no time: not even that which is known of what it has called. */
	calls(&all, "ab?b)a", "b 2?, a 1+3 own 3");
	calls(&all, "abc)c?b)a", "c 3+1 own 1, b 2?, a 1+5 own 4");
	/* What is not to be shown is the own time of what is. */
	calls(&one_level, "abc)c)b)a", "a 1+5 own 5");
	calls(&long_ones, "ab)b)a", "a 1+3 own 3");
	calls(&long_ones, "abc)c)b)a", "b 2+3 own 3, a 1+5 own 2");
}

/* What was opened is closed, with its own end, and no other call is shown. */
static void enough(void)
{
	const struct frames_options two = { .calls = 2 };
	struct frames *f = begin(&two);

	feed(f, "abc)c");
	CHECK(frames_full(f) && !frames_done(f));
	feed(f, ")bb)b");
	CHECK(!frames_done(f));
	feed(f, ")a");
	CHECK(frames_done(f));
	feed(f, "a)a");
	frames_finish(f, now);
	check("-n 2", "b 2+3 own 2, a 1+7 own 3");
	frames_free(f);
}

/* Calls end whose begins are not in the record: of the process that was there they have begun
 * before it, and of one that was forked before its first event. */
static void earlier(int32_t pid, bool whole, const char *want)
{
	const struct frames_options o = { .pid = OLD };
	struct event end = { .tsc = 70, .kind = EVENT_EXIT, .pid = pid, .tid = pid };
	struct frames *f = begin(&o);
	struct earlier *e;

	MUST_EQ(earlier_new(&e), 0);
	MUST_EQ(earlier_note(e, &end, 0, 50), 0);
	earlier_sort(e);
	MUST_EQ(frames_earlier(f, e, whole), 0);
	MUST_EQ(frames_event(f, &end), 0);
	check("began before", want);
	frames_free(f);
	earlier_free(e);
}

/* How long at least has such a call been open, where that decides? */
static void long_before(void)
{
	const struct frames_options o = { .pid = OLD, .min_ns = 20 };
	struct frames *f = begin(&o);

	for (int32_t pid = OLD; pid <= CHILD; pid++) {
		struct event end = { .tsc = 70, .kind = EVENT_EXIT, .func = (uint32_t)(pid - OLD),
				     .pid = pid, .tid = pid, .thread = (uint32_t)pid };

		MUST_EQ(frames_event(f, &end), 0);
	}
	check("-t", "a 0?");
	frames_free(f);
}

int main(void)
{
	own_time();
	enough();
	earlier(OLD, true, "a 10+60 own 60");
	earlier(OLD, false, "a 50+20 own 20");
	earlier(CHILD, true, "a 50+20 own 20");
	long_before();
	return failures != 0;
}
