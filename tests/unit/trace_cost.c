/* SPDX-License-Identifier: MIT */
/* Is what recording takes measured, and subtracted from those calls that it was in? */
#include "tests/unit/trace_world.h"

#include "injector/show/cost.h"
#include "trace/show/report.h"

static char path[] = "/tmp/inject-cost-XXXXXX";

/* In ticks, which are half a ns each: 20 for a call, 8 of them inside, and as many
 * before as after; 9 for an entry. */
static const struct probe_cost cost = { .pair = 20000, .inside = 8000, .mark = 9000 };

enum { OUTER, INNER, LEAF, MARK = WORLD_MARK };

struct writer {
	struct record *r;
	uint64_t now;
};

static void put(struct writer *w, enum event_kind kind, uint32_t func, uint64_t later)
{
	struct event e = { .tsc = w->now += later, .kind = (uint8_t)kind, .func = func,
			   .tid = 4121 };

	CHECK_EQ(record_event(w->r, &e), 0);
}

/* What was called takes 1000 ticks in OUTER, 200 in each INNER, 60 in each LEAF, where
 * nothing is recorded; one LEAF takes no time at all, and less than recording it. */
static void put_calls(struct writer *w)
{
	put(w, EVENT_ENTRY, OUTER, 6);
	for (int i = 0; i < 2; i++) {
		put(w, EVENT_ENTRY, INNER, 500 + (i ? 6 + 6 : 6));
		put(w, EVENT_ENTRY, LEAF, 100 + 6);
		put(w, EVENT_EXIT, LEAF, 60 + 8);
		put(w, EVENT_MARK, MARK, 50 + 6);
		put(w, EVENT_ENTRY, LEAF, 50 + 9 + 6);
		put(w, EVENT_EXIT, LEAF, 60 + 8);
		put(w, EVENT_EXIT, INNER, 6 + 8);
	}
	put(w, EVENT_ENTRY, LEAF, 6 + 6);
	put(w, EVENT_EXIT, LEAF, 3);
	put(w, EVENT_EXIT, OUTER, 6 + 8);
}

static void write_calls(struct probe_cost c)
{
	struct about about = world_about();
	struct record_options o = { 0 };
	struct writer w = { .now = about.begin };

	about.cost = c;
	world_remove(path);
	CHECK_EQ(record_new(path, &o, &about, &w.r), 0);
	put_calls(&w);
	about.end = w.now + 1;
	CHECK_EQ(record_end(w.r, &about), 0);
	record_free(w.r);
}

static void note(void *ctx, const char *text)
{
	printf("%s\n", text);
	CHECK(!text);
}

static struct view *open_view(bool net, int want)
{
	struct view_options o = { .path = path, .net = net, .note = note };
	struct view *v = NULL;

	CHECK_EQ(view_open(&o, &v), want);
	return v;
}

static uint64_t value(const struct report *r, const char *name, enum report_key key)
{
	for (size_t i = 0; i < r->n; i++)
		if (strcmp(r->lines[i].name, name) == 0)
			return r->lines[i].v[key];
	CHECK(!name);
	return 0;
}

/* Sums are rounded call by call: to half a ns here. */
static void check_near(uint64_t ns, uint64_t ticks)
{
	CHECK(ns * 2 >= ticks - 8 && ns * 2 <= ticks + 8);
	if (ns * 2 < ticks - 8 || ns * 2 > ticks + 8)
		printf("%llu ticks, not %llu\n", (unsigned long long)ns * 2,
		       (unsigned long long)ticks);
}

static void test_net(void)
{
	struct view *v = open_view(true, 0);
	struct report r;

	CHECK_EQ(report_make(v, REPORT_TOTAL, 0, &r), 0);
	check_near(value(&r, world_funcs[LEAF].name, REPORT_TOTAL), 4 * 60);
	check_near(value(&r, world_funcs[LEAF].name, REPORT_SELF), 4 * 60);
	CHECK_EQ(value(&r, world_funcs[LEAF].name, REPORT_MIN), 0);
	check_near(value(&r, world_funcs[INNER].name, REPORT_SELF), 2 * 200);
	check_near(value(&r, world_funcs[INNER].name, REPORT_TOTAL), 2 * (200 + 2 * 60));
	check_near(value(&r, world_funcs[OUTER].name, REPORT_SELF), 1000);
	check_near(value(&r, world_funcs[OUTER].name, REPORT_TOTAL), 1000 + 2 * (200 + 2 * 60));
	report_clear(&r);
	view_close(v);
}

static void test_gross(void)
{
	struct view *v = open_view(false, 0);
	struct report r;

	CHECK_EQ(report_make(v, REPORT_TOTAL, 0, &r), 0);
	CHECK_EQ(value(&r, world_funcs[LEAF].name, REPORT_TOTAL), (4 * 68 + 3) / 2);
	report_clear(&r);
	view_close(v);
}

/* One that was recorded without: nothing is guessed. */
static void test_unknown(void)
{
	write_calls((struct probe_cost){ 0 });
	view_close(open_view(true, -EINVAL));
	CHECK(strstr(fail_text(), "does not tell what recording has cost"));
	fail_clear();
}

static void test_measured(void)
{
	struct cost c;

	cost_measure(&c);
	CHECK(cost_is_known(&c.local) && cost_is_known(&c.sought));
	CHECK(c.local.inside && c.local.inside <= c.local.pair && c.local.mark);
	CHECK(c.sought.inside && c.sought.inside <= c.sought.pair && c.sought.mark);
	/* From a nanosecond to a microsecond, on any machine. */
	CHECK(c.local.pair > 1000 && c.local.pair < 10000000);
}

int main(void)
{
	CHECK(mkdtemp(path));
	write_calls(cost);
	test_gross();
	test_net();
	test_unknown();
	test_measured();
	world_remove(path);
	return failures != 0;
}
