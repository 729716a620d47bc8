/* SPDX-License-Identifier: MIT */
/* Do spans begin and end where they should: within calls, from one to another, anew, for the first
 * time, at returns, in whichever order; and is none made of what was lost? */
#include <stdio.h>
#include <string.h>

#include "tests/unit/check.h"
#include "trace/read/spans.h"

static const struct reader_func funcs[] = {
	{ .name = "call", .module = "exe" }, { .name = "log", .module = "exe" },
	{ .name = "begin", .module = "exe" }, { .name = "end", .module = "exe" },
	{ .name = "mark", .module = "exe", .entry_only = true },
};

static struct clock ticks = { .run_ns = 1000, .run_ticks = 1000 };
static char shown[512];

static void add(void *ctx, const struct call *c)
{
	size_t n = strlen(shown);

	snprintf(shown + n, sizeof(shown) - n, "%s%s%s%s %d:%llu+%llu", n ? ", " : "", c->func->name,
		 c->until ? ".." : "", c->until ? c->until->func->name : "", c->tid,
		 (unsigned long long)c->begin, (unsigned long long)c->span);
}

static void lost(void *ctx, const struct event *e)
{
}

/* "f" with the time: a call begins, ")f" it returns; of thread 1, or the one whose number is
 * before it. "!": something was lost. */
static void feed(struct frames *f, const char *events)
{
	uint64_t now = 0;

	for (const char *p = events; *p; p++) {
		struct event e = { .tsc = ++now, .pid = 9, .tid = 1 };

		if (*p >= '1' && *p <= '9')
			e.tid = *p++ - '0';
		e.thread = (uint32_t)e.tid;
		e.kind = *p == ')' ? EVENT_EXIT : *p == '!' ? EVENT_LOST : EVENT_ENTRY;
		if (*p == ')')
			p++;
		e.func = *p == 'c' ? 0 : *p == 'l' ? 1 : *p == 'b' ? 2 : *p == 'e' ? 3 : 4;
		if (e.func == 4 && e.kind == EVENT_ENTRY)
			e.kind = EVENT_MARK;
		MUST_EQ(frames_event(f, &e), 0);
	}
	frames_finish(f, now + 1);
}

static void point(struct span_point *to, const char *text, bool ends, uint8_t group)
{
	char name[32];

	*to = (struct span_point){ .ends = ends, .group = group, .at_return = *text == ')',
				   .first = *text == '1' };
	snprintf(name, sizeof(name), "%s", text + (*text == ')' || *text == '1'));
	MUST_EQ(pattern_parse(name, &to->pattern), 0);
}

/* Of spans from `from` to `to`: ")f" at its return, "1f" for the first time. */
static void spans(const char *from, const char *to, uint64_t least, const char *events,
		  const char *want)
{
	const struct about about = { .funcs = funcs, .nfuncs = ARRAY_SIZE(funcs) };
	const struct sink sink = { .end = add, .lost = lost };
	const struct frames_options none = { 0 };
	struct span_point points[2];
	struct spans_options o = { .points = points, .npoints = 2, .min_ns = least };
	struct spans *s;
	struct frames *f;

	point(&points[0], from, false, 3);
	point(&points[1], to, true, 3);
	MUST_EQ(spans_new(&ticks, &about, &o, &sink, &s), 0);
	struct sink to_spans = spans_sink(s);

	MUST_EQ(frames_new(&ticks, 0, funcs, &none, &to_spans, &f), 0);
	*shown = '\0';
	feed(f, events);
	spans_finish(s, 99);
	if (strcmp(shown, want)) {
		failures++;
		fprintf(stderr, "%s to %s of %s: %s, not %s\n", from, to, events, shown, want);
	}
	frames_free(f);
	spans_free(s);
	pattern_clear(&points[0].pattern);
	pattern_clear(&points[1].pattern);
}

int main(void)
{
	/* From call to call, in one thread, and in two. */
	spans("begin", "end", 0, "b)be)e", "begin..end 1:1+2");
	spans("begin", "end", 3, "b)be)eb)bl)le)e", "begin..end 1:5+4");
	spans("begin", "end", 0, "1b2b2e1e", "begin..end 2:2+1, begin..end 1:1+3");
	spans("begin", "end", 0, "e)el)l", "");
	/* At returns. */
	spans(")begin", ")end", 0, "bl)l)be)e", "begin..end 1:4+2");
	spans("begin", "mark", 0, "b)bm)m", "begin..mark 1:1+2");
	spans("mark", ")begin", 0, "mb)b", "mark..begin 1:1+2");
	/* Anew; or for the first time. */
	spans("begin", "end", 0, "b)bb)be)ee)e", "begin..end 1:3+2");
	spans("1begin", "end", 0, "b)bb)be)ee)e", "begin..end 1:1+4");
	/* Within calls: what ends lies in the one that has begun. */
	spans("call", "log", 0, "ccl)l)cl)l)c", "call..log 1:2+1, call..log 1:1+5");
	spans("call", "log", 0, "cccl)l)c)cl)l)c", "call..log 1:3+1, call..log 1:1+7");
	/* Of one that has not ended the next knows nothing. */
	spans("call", "log", 0, "cc)c)ccl)l)c", "call..log 1:5+1");
	/* The call itself. */
	spans("call", ")call", 0, "cc)c)c", "call 1:2+1, call 1:1+3");
	/* One that ends begins the next. */
	spans("end", "end", 0, "e)ee)e", "end..end 1:1+2, end 1:3+96");
	/* Lost, and open. */
	spans("begin", "end", 0, "b)b!e)e", "");
	spans("begin", "end", 90, "b)bl)l", "begin 1:1+98");
	return failures != 0;
}
