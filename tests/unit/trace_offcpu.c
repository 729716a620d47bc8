/* SPDX-License-Identifier: MIT */
/* Is the wait of a call what its thread had no processor, and not told where that is not known? */
#include "tests/unit/check.h"
#include "trace/read/frames.h"

static const struct reader_func funcs[] = {
	{ .name = "outer", .module = "m" }, { .name = "inner", .module = "m" },
};

enum { OUTER, INNER };
enum { FIBER = 7 };

/* A tick is a nanosecond. */
static const struct clock ideal = { .run_ticks = 1, .run_ns = 1 };

/* The calls that have ended, a line each. */
static char told[4096];
static struct frames *frames;

static bool opens(void *ctx, const struct call *c)
{
	(void)ctx;
	(void)c;
	return true;
}

static void say(const char *text)
{
	strncat(told, text, sizeof(told) - strlen(told) - 1);
}

static void ends(void *ctx, const struct call *c)
{
	char line[128];

	(void)ctx;
	if (c->wait_known)
		snprintf(line, sizeof(line), "%s %llu=%llu+%llu(%llu)\n", c->func->name,
			 (unsigned long long)c->span, (unsigned long long)call_cpu(c),
			 (unsigned long long)c->wait, (unsigned long long)c->preempted);
	else
		snprintf(line, sizeof(line), "%s %llu=?\n", c->func->name,
			 (unsigned long long)c->span);
	say(line);
	CHECK(c->wait <= c->span && c->preempted <= c->wait);
}

static void loses(void *ctx, const struct event *e)
{
	(void)ctx;
	(void)e;
}

static void is_off(void *ctx, const struct offcpu_span *s)
{
	char line[128];

	(void)ctx;
	snprintf(line, sizeof(line), "%d: %s from %llu to %llu\n", s->tid,
		 s->preempted ? "preempted" : "waits", (unsigned long long)s->from,
		 (unsigned long long)s->to);
	say(line);
}

static void begin(struct probe_cost cost, bool spans)
{
	const struct sink sink = { .open = opens, .end = ends, .lost = loses,
				   .off = spans ? is_off : NULL };
	const struct frames_options options = { .cost = cost };

	told[0] = '\0';
	CHECK_EQ(frames_new(&ideal, 0, funcs, &options, &sink, &frames), 0);
}

static void give(uint32_t thread, enum event_kind kind, uint32_t func, uint64_t tsc)
{
	const struct event e = {
		.tsc = tsc, .func = func, .pid = 1, .thread = thread,
		.tid = thread == NO_THREAD ? 1 : (int32_t)thread,
		.stack = thread == NO_THREAD ? FIBER : 0, .kind = (uint8_t)kind,
	};

	CHECK_EQ(frames_event(frames, &e), 0);
}

static void end(const char *what, uint64_t now, const char *wanted)
{
	frames_finish(frames, now);
	frames_free(frames);
	if (strcmp(told, wanted) == 0)
		return;
	failures++;
	printf("%s is\n%s\nnot\n%s\n", what, told, wanted);
}

#define NO_COST ((struct probe_cost){ 0 })

static void test_wait(void)
{
	begin(NO_COST, false);
	give(1, EVENT_ON, 0, 100);
	give(1, EVENT_ENTRY, OUTER, 100);
	give(1, EVENT_ENTRY, INNER, 200);
	give(1, EVENT_OFF, 0, 250);
	give(1, EVENT_ON, 0, 650);
	give(1, EVENT_EXIT, INNER, 700);
	give(1, EVENT_PREEMPTED, 0, 750);
	give(1, EVENT_ON, 0, 760);
	give(1, EVENT_EXIT, OUTER, 800);
	give(1, EVENT_ENTRY, INNER, 900);
	give(1, EVENT_EXIT, INNER, 910);
	end("wait", 1000, "inner 500=100+400(0)\nouter 700=290+410(10)\ninner 10=10+0(0)\n");
}

/* Two threads, one of which is not watched; and what a fiber does is no thread's. */
static void test_others(void)
{
	begin(NO_COST, false);
	give(1, EVENT_ON, 0, 100);
	give(1, EVENT_ENTRY, OUTER, 100);
	give(2, EVENT_ENTRY, OUTER, 110);
	give(NO_THREAD, EVENT_ENTRY, INNER, 120);
	give(1, EVENT_OFF, 0, 130);
	give(2, EVENT_EXIT, OUTER, 140);
	give(1, EVENT_ON, 0, 150);
	give(NO_THREAD, EVENT_EXIT, INNER, 160);
	give(1, EVENT_EXIT, OUTER, 170);
	end("others", 200, "outer 30=?\ninner 40=?\nouter 70=50+20(0)\n");
}

static void test_lost(void)
{
	begin(NO_COST, false);
	give(1, EVENT_ON, 0, 100);
	give(1, EVENT_ENTRY, OUTER, 100);
	give(1, EVENT_ENTRY, INNER, 110);
	give(1, EVENT_OFF, 0, 120);
	give(1, EVENT_SWITCHES_LOST, 0, 130);
	give(1, EVENT_ON, 0, 150);
	give(1, EVENT_EXIT, INNER, 160);
	give(1, EVENT_ENTRY, INNER, 170);
	give(1, EVENT_OFF, 0, 180);
	give(1, EVENT_ON, 0, 185);
	give(1, EVENT_EXIT, INNER, 190);
	give(1, EVENT_EXIT, OUTER, 200);
	/* Nothing is known between a loss and the next switch. */
	give(1, EVENT_SWITCHES_LOST, 0, 210);
	give(1, EVENT_ENTRY, INNER, 220);
	give(1, EVENT_ON, 0, 225);
	give(1, EVENT_EXIT, INNER, 230);
	end("lost", 300, "inner 50=?\ninner 20=15+5(0)\nouter 100=?\ninner 10=?\n");
}

/* Of one that is still open it is known up to the end; of one that began before, nothing; and
 * after its end a thread of the same number is another one. */
static void test_ends(void)
{
	begin(NO_COST, false);
	give(1, EVENT_ON, 0, 100);
	give(1, EVENT_BEFORE, INNER, 110);
	give(1, EVENT_ENTRY, OUTER, 120);
	give(1, EVENT_ENTRY, INNER, 130);
	give(1, EVENT_OFF, 0, 140);
	end("open", 200, "inner 0=?\ninner 70=10+60(0)\nouter 80=20+60(0)\n");

	begin(NO_COST, false);
	give(1, EVENT_ON, 0, 100);
	give(1, EVENT_ENTRY, OUTER, 120);
	give(1, EVENT_OFF, 0, 130);
	give(1, EVENT_UNWOUND, OUTER, 140);
	give(1, EVENT_STACK_END, 0, 140);
	give(1, EVENT_ENTRY, OUTER, 150);
	give(1, EVENT_EXIT, OUTER, 160);
	end("ended", 200, "outer 20=10+10(0)\nouter 10=?\n");
}

/* What recording takes is taken off the time with a processor; and what two clocks make of a
 * moment is never more than the span, nor less than nothing. */
static void test_bounds(void)
{
	begin((struct probe_cost){ .inside = 30000 }, false);
	give(1, EVENT_ON, 0, 100);
	give(1, EVENT_ENTRY, OUTER, 100);
	give(1, EVENT_OFF, 0, 120);
	give(1, EVENT_ON, 0, 180);
	give(1, EVENT_EXIT, OUTER, 200);
	give(1, EVENT_ENTRY, INNER, 300);
	give(1, EVENT_OFF, 0, 301);
	give(1, EVENT_ON, 0, 399);
	give(1, EVENT_EXIT, INNER, 400);
	/* It goes off before it begins, and comes back behind its end. */
	give(1, EVENT_OFF, 0, 499);
	give(1, EVENT_ENTRY, OUTER, 500);
	give(1, EVENT_EXIT, OUTER, 600);
	give(1, EVENT_ON, 0, 601);
	end("bounds", 700, "outer 70=10+60(0)\ninner 70=0+70(0)\nouter 70=0+70(0)\n");
}

/* A call that is told late: when it began its thread was on, or off, or not known. */
static void test_late(void)
{
	const struct event late[] = {
		{ .tsc = 500, .begin = 150, .func = OUTER, .pid = 1, .tid = 1, .thread = 1 },
		{ .tsc = 510, .begin = 320, .func = INNER, .pid = 1, .tid = 1, .thread = 1 },
		{ .tsc = 600, .begin = 90, .func = OUTER, .pid = 1, .tid = 1, .thread = 1 },
	};

	begin(NO_COST, false);
	give(1, EVENT_ON, 0, 100);
	give(1, EVENT_OFF, 0, 200);
	give(1, EVENT_ON, 0, 300);
	give(1, EVENT_PREEMPTED, 0, 310);
	give(1, EVENT_ON, 0, 330);
	CHECK_EQ(frames_event(frames, &late[0]), 0);
	CHECK_EQ(frames_event(frames, &late[1]), 0);
	give(1, EVENT_EXIT, INNER, 520);
	give(1, EVENT_EXIT, OUTER, 550);
	CHECK_EQ(frames_event(frames, &late[2]), 0);
	give(1, EVENT_EXIT, OUTER, 610);
	end("late", 700, "inner 200=190+10(10)\nouter 400=280+120(20)\nouter 520=?\n");

	/* More than is kept. */
	begin(NO_COST, false);
	give(1, EVENT_ON, 0, 1);
	for (uint64_t i = 0; i < 20000; i++)
		give(1, i % 2 ? EVENT_ON : EVENT_OFF, 0, 10 * (i + 1));
	struct event e = { .tsc = 200001, .begin = 50, .thread = 1, .tid = 1, .pid = 1 };
	CHECK_EQ(frames_event(frames, &e), 0);
	e.begin = 190005;
	CHECK_EQ(frames_event(frames, &e), 0);
	give(1, EVENT_EXIT, OUTER, 200005);
	give(1, EVENT_EXIT, OUTER, 200006);
	end("kept", 300000, "outer 10000=5000+5000(0)\nouter 199956=?\n");
}

static void test_spans(void)
{
	begin(NO_COST, true);
	give(1, EVENT_ON, 0, 100);
	give(1, EVENT_OFF, 0, 110);
	give(2, EVENT_PREEMPTED, 0, 115);
	give(1, EVENT_ON, 0, 120);
	give(1, EVENT_ON, 0, 125);
	give(1, EVENT_OFF, 0, 130);
	give(1, EVENT_SWITCHES_LOST, 0, 140);
	give(NO_THREAD, EVENT_OFF, 0, 150);
	give(NO_THREAD, EVENT_ON, 0, 160);
	end("spans", 170, "1: waits from 110 to 120\n2: preempted from 115 to 170\n");
}

int main(void)
{
	test_wait();
	test_others();
	test_lost();
	test_ends();
	test_bounds();
	test_late();
	test_spans();
	return failures != 0;
}
