/* SPDX-License-Identifier: MIT */
/* report: how often was each function called, and how long did that take? */
#include "trace/show/report.h"

#include <errno.h>
#include <string.h>

#include "trace/output/columns.h"
#include "trace/output/parts.h"
#include "trace/output/put.h"
#include "trace/output/span.h"
#include "trace/read/tree.h"

/* A histogram has 16 equal parts for every power of 2: what is told from it is off by
 * a sixteenth at most. */
enum { PARTS = 16, BUCKETS = 61 * PARTS };

enum { WIDTH = 10 };		/* of a column */

struct stats {
	uint64_t calls, timed, parts;
	uint64_t total, outer, self;	/* ticks; outer: not of nested calls */
	uint64_t cpu, wait;	/* of outer */
	uint64_t waits, unknown;	/* calls that are in these two, and those that are not */
	uint64_t min, max;	/* ns */
	uint32_t *counts;	/* BUCKETS; NULL until the first call */
};

struct making {
	const struct about *about;
	struct stats *stats;	/* by function id */
	bool broken;
};

static const char *const words[] = {
	[REPORT_TOTAL] = "total", [REPORT_SELF] = "self", [REPORT_CPU] = "cpu",
	[REPORT_WAIT] = "wait", [REPORT_CALLS] = "calls", [REPORT_AVERAGE] = "avg",
	[REPORT_MIN] = "min", [REPORT_MAX] = "max", [REPORT_P50] = "p50", [REPORT_P99] = "p99",
};

int report_key(const char *word, enum report_key *ret)
{
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (strcmp(word, words[i]) == 0) {
			*ret = (enum report_key)i;
			return 0;
		}
	return fail(0, "--sort %s: sort by total, self, cpu, wait, calls, avg, min, max, "
		       "p50 or p99", word);
}

int report_sorts(const struct view *v, enum report_key sort)
{
	if (view_about(v)->off_cpu || (sort != REPORT_CPU && sort != REPORT_WAIT))
		return 0;
	return fail(0, "--sort %s: this recording does not tell when threads had no processor; "
		       "record with --off-cpu", words[sort]);
}

const char *report_word(enum report_key key)
{
	return words[key];
}

static unsigned int report_bucket(uint64_t ns)
{
	unsigned int shift;

	if (ns < PARTS)
		return (unsigned int)ns;
	shift = 59 - (unsigned int)__builtin_clzll(ns);
	return (shift + 1) * PARTS + (unsigned int)(ns >> shift & (PARTS - 1));
}

/* The middle of what it counts. */
static uint64_t bucket_value(unsigned int i)
{
	unsigned int shift;

	if (i < PARTS)
		return i;
	shift = i / PARTS - 1;
	return ((uint64_t)(PARTS + i % PARTS) << shift) + ((1ull << shift) >> 1);
}

static void add_span(struct making *m, struct stats *s, uint64_t ticks)
{
	uint64_t ns = clock_ns(&m->about->clock, ticks);
	uint32_t *at;

	if (!s->counts)
		s->counts = calloc(BUCKETS, sizeof(*s->counts));
	if (!s->counts) {
		m->broken = true;
		return;
	}
	at = &s->counts[report_bucket(ns)];
	*at += *at != UINT32_MAX;
	s->min = s->timed ? MIN(s->min, ns) : ns;
	s->max = MAX(s->max, ns);
	s->timed++;
	s->total += ticks;
}

/* One that no call of the same function is around. */
static void add_outer(struct stats *s, const struct call *c)
{
	s->outer += c->span;
	s->unknown += !c->wait_known;
	if (!c->wait_known)
		return;
	s->waits++;
	s->wait += c->wait;
	s->cpu += call_cpu(c);
}

static void add_call(void *ctx, const struct call *c, bool nested)
{
	struct making *m = ctx;
	struct stats *s = &m->stats[reader_func_counted(c->func) - m->about->funcs];

	s->calls++;
	if (!call_has_span(c))
		return;
	s->parts += call_is_part(c);
	add_span(m, s, c->span);
	s->self += c->span - MIN(c->inner, c->span);
	if (!nested)
		add_outer(s, c);
}

static uint64_t percentile(const struct stats *s, unsigned int percent)
{
	uint64_t rank = (s->timed * percent + 99) / 100, n = 0;

	for (unsigned int i = 0; s->counts && i < BUCKETS; i++) {
		n += s->counts[i];
		if (n >= rank)
			return MAX(MIN(bucket_value(i), s->max), s->min);
	}
	return s->max;
}

static void report_fill(const struct making *m, const struct stats *s,
			const struct reader_func *f, const struct group *group,
			struct report_line *ret)
{
	const struct clock *clock = &m->about->clock;

	*ret = (struct report_line){ .func = f, .name = group ? group->func->name : f->name,
				     .module = f->module,
				     .shown = group ? group->shown : "",
				     .texts = group ? group->texts : NULL,
				     .timed = s->timed, .parts = s->parts,
				     .has_wait = s->waits, .unknown = s->unknown, .v = {
		[REPORT_TOTAL] = clock_ns(clock, s->outer),
		[REPORT_SELF] = clock_ns(clock, s->self), [REPORT_CALLS] = s->calls,
		[REPORT_CPU] = clock_ns(clock, s->cpu), [REPORT_WAIT] = clock_ns(clock, s->wait),
		[REPORT_AVERAGE] = s->timed ? clock_ns(clock, s->total) / s->timed : 0,
		[REPORT_MIN] = s->min, [REPORT_MAX] = s->max,
		[REPORT_P50] = percentile(s, 50), [REPORT_P99] = percentile(s, 99),
	} };
}

static int report_same(const struct report_line *a, const struct report_line *b)
{
	return strcmp(a->name, b->name) ?: strcmp(a->module, b->module) ?:
	       strcmp(a->shown, b->shown);
}

static int by_key(const void *x, const void *y, void *ctx)
{
	const struct report_line *a = x, *b = y;
	enum report_key key = *(const enum report_key *)ctx;

	if (a->v[key] != b->v[key])
		return a->v[key] > b->v[key] ? -1 : 1;
	return report_same(a, b);
}

static void add_stats(const struct stats *from, struct stats *to)
{
	if (!from->calls)
		return;
	to->min = from->timed && (!to->timed || from->min < to->min) ? from->min : to->min;
	to->max = MAX(to->max, from->max);
	to->calls += from->calls;
	to->timed += from->timed;
	to->parts += from->parts;
	to->total += from->total;
	to->outer += from->outer;
	to->self += from->self;
	to->cpu += from->cpu;
	to->wait += from->wait;
	to->waits += from->waits;
	to->unknown += from->unknown;
	for (unsigned int i = 0; from->counts && i < BUCKETS; i++)
		to->counts[i] += MIN(from->counts[i], UINT32_MAX - to->counts[i]);
}

/* One line for all from the first on that has no room. */
static int put_together(const struct making *m, size_t most, struct report *r)
{
	static const struct reader_func others = { .name = "others", .module = "" };
	struct stats sum = { 0 };
	auto_free uint32_t *counts = calloc(BUCKETS, sizeof(*counts));
	size_t n = r->n - most;

	if (!counts)
		return fail(ENOMEM, "count calls");
	sum.counts = counts;
	for (size_t i = most; i < r->n; i++)
		add_stats(&m->stats[r->lines[i].func - m->about->funcs], &sum);
	report_fill(m, &sum, &others, NULL, &r->lines[most]);
	r->lines[most].func = NULL;
	r->lines[most].nothers = n;
	r->n = most + 1;
	return 0;
}

static int report_collect(const struct making *m, const struct view *v, size_t most,
			  struct report *ret)
{
	size_t all = m->about->nfuncs + 1;
	bool grouped = view_room(v) > all;

	ret->lines = calloc(all, sizeof(*ret->lines));
	if (!ret->lines || m->broken)
		return fail(ENOMEM, "count calls");
	for (size_t i = 0; i < all; i++) {
		const struct reader_func *f = &m->about->funcs[i];
		const struct group *group = view_group(v, f);

		if (m->stats[i].calls && (group || !grouped))
			report_fill(m, &m->stats[i], f, group, &ret->lines[ret->n++]);
	}
	qsort_r(ret->lines, ret->n, sizeof(*ret->lines), by_key, &ret->sort);
	return most && ret->n > most ? put_together(m, most, ret) : 0;
}

int report_make(struct view *v, enum report_key sort, size_t most, struct report *ret)
{
	struct making m = { .about = view_about(v) };
	struct view_counts counts;
	struct tree *tree = NULL;
	struct sink sink;
	int err;

	*ret = (struct report){ .sort = sort, .off_cpu = m.about->off_cpu };
	m.stats = calloc(view_room(v), sizeof(*m.stats));
	err = m.stats ? tree_new(v, &tree) : fail(ENOMEM, "count calls");
	if (!err) {
		tree_watch(tree, add_call, &m);
		sink = tree_sink(tree);
		err = view_run(v, &sink, NULL) ?: report_collect(&m, v, most, ret);
		view_counts(v, &counts);
		ret->lost = counts.lost;
		ret->disarmed = m.about->disarmed;
	}
	for (size_t i = 0; m.stats && i <= m.about->nfuncs; i++)
		free(m.stats[i].counts);
	free(m.stats);
	tree_free(tree);
	return err;
}

void report_clear(struct report *r)
{
	free(r->lines);
	*r = (struct report){ 0 };
}

/* ---- print --------------------------------------------------------------- */

static const char *const heads[] = {
	[REPORT_TOTAL] = "TOTAL", [REPORT_SELF] = "SELF", [REPORT_CPU] = "CPU",
	[REPORT_WAIT] = "WAIT", [REPORT_CALLS] = "CALLS",
	[REPORT_AVERAGE] = "AVG", [REPORT_MIN] = "MIN", [REPORT_MAX] = "MAX",
	[REPORT_P50] = "P50", [REPORT_P99] = "P99",
};

/* A bit for each key: all, but on a terminal that is too narrow for a line. */
static unsigned int columns_of(const struct report *r, const struct output *out)
{
	static const int spare[REPORT_KEYS] = { REPORT_MIN, REPORT_P50, REPORT_MAX, REPORT_SELF,
						REPORT_AVERAGE, REPORT_P99, REPORT_CPU,
						REPORT_CALLS, REPORT_WAIT, REPORT_TOTAL };
	int width[REPORT_KEYS];

	for (int i = 0; i < REPORT_KEYS; i++)
		width[i] = WIDTH;
	return columns_fit(&(struct columns){ REPORT_KEYS, width, spare,
					      r->off_cpu ? 0 : REPORT_OFF_CPU }, output_width(out),
			   r->sort);
}

static void print_name(const struct report_line *l, struct output *out)
{
	if (l->func)
		output_printf(out, "  %s%s\n", l->name, l->shown);
	else
		output_printf(out, "  others (%zu)\n", l->nothers);
}

static void print_line(const struct report_line *l, unsigned int shown, struct output *out)
{
	char buf[REPORT_KEYS * SPAN_MOST + 64], *p = buf;

	for (int i = 0; i < REPORT_KEYS; i++) {
		if (!(shown & 1u << i))
			continue;
		*p++ = ' ';
		*p++ = ' ';
		if (i == REPORT_CALLS)
			p = put_number(p, l->v[i], WIDTH, ' ');
		else
			p = report_knows(l, (enum report_key)i) ? put_span(p, l->v[i], false) :
				put_no_span(p);
	}
	output_text(out, buf, (size_t)(p - buf));
	print_name(l, out);
}

static void print_head(unsigned int shown, struct output *out)
{
	const char *gap = "# ";

	for (int i = 0; i < REPORT_KEYS; i++)
		if (shown & 1u << i) {
			output_printf(out, "%s%*s", gap, WIDTH, heads[i]);
			gap = "  ";
		}
	output_printf(out, "  FUNCTION\n");
}

void report_print(const struct report *r, struct output *out)
{
	unsigned int shown = columns_of(r, out);
	struct parts parts = { .out = out, .what = parts_of_record };
	struct parts unknown = { .out = out, .what = parts_unknown };

	print_head(shown, out);
	for (size_t i = 0; i < r->n; i++)
		print_line(&r->lines[i], shown, out);
	for (size_t i = 0; i < r->n; i++)
		if (r->lines[i].func)
			parts_add(&parts, r->lines[i].name, r->lines[i].parts);
	parts_end(&parts);
	for (size_t i = 0; r->off_cpu && i < r->n; i++)
		if (r->lines[i].func)
			parts_add(&unknown, r->lines[i].name, r->lines[i].unknown);
	parts_end(&unknown);
	parts_missing(out, r->lost, r->disarmed);
}

int report_shorten(struct report *a, struct report *b, struct strings *made)
{
	auto_free const char **names = calloc(a->n + b->n + 1, sizeof(*names));

	if (!names)
		return fail(ENOMEM, "shorten %zu names", a->n + b->n);
	for (size_t i = 0; i < a->n + b->n; i++)
		names[i] = i < a->n ? a->lines[i].name : b->lines[i - a->n].name;
	int err = shorten_all(names, a->n + b->n, made);

	for (size_t i = 0; i < a->n + b->n; i++)
		(i < a->n ? &a->lines[i] : &b->lines[i - a->n])->name = names[i];
	return err;
}

/* ---- difference ---------------------------------------------------------- */

static int by_name(const void *x, const void *y)
{
	const struct report_line *a = *(const struct report_line *const *)x;
	const struct report_line *b = *(const struct report_line *const *)y;

	return report_same(a, b);
}

/* Those of one name, as static ones of several files are, in the order in which they lie there. */
static int by_name_and_place(const void *x, const void *y)
{
	const struct report_line *a = *(const struct report_line *const *)x;
	const struct report_line *b = *(const struct report_line *const *)y;

	return report_same(a, b) ?: (a->func > b->func) - (a->func < b->func);
}

static const struct report_line **sorted(const struct report *r)
{
	const struct report_line **v = calloc(r->n + 1, sizeof(*v));

	for (size_t i = 0; v && i < r->n; i++)
		v[i] = &r->lines[i];
	if (v)
		qsort(v, r->n, sizeof(*v), by_name_and_place);
	return v;
}

static uint64_t value(const struct report_line *l, enum report_key key)
{
	return l ? l->v[key] : 0;
}

static int by_change(const void *x, const void *y)
{
	const struct report_pair *a = x, *b = y;
	const struct report_line *m = a->now ?: a->before, *n = b->now ?: b->before;

	if (a->change != b->change)
		return a->change > b->change ? -1 : 1;
	return by_name(&m, &n);
}

static char *put_change(char *p, enum report_key key, uint64_t before, uint64_t now)
{
	uint64_t by = now > before ? now - before : before - now;
	char digits[24], *end = put_number(digits, by, 0, ' ');
	char sign = now > before ? '+' : now < before ? '-' : ' ';

	if (key != REPORT_CALLS) {
		*p++ = sign;
		return put_span(p, by, false);
	}
	for (ptrdiff_t pad = 10 - (end - digits); pad > 0; pad--)
		*p++ = ' ';
	*p++ = sign;
	return stpncpy(p, digits, (size_t)(end - digits));
}

/* What was not called took no time. */
static bool is_known(const struct report_line *l)
{
	return !l || l->timed;
}

static void print_pair(const struct report_pair *pair, struct output *out)
{
	static const enum report_key keys[] = { REPORT_TOTAL, REPORT_SELF, REPORT_CALLS };
	const struct report_line *named = pair->now ?: pair->before;
	char buf[ARRAY_SIZE(keys) * 3 * SPAN_MOST], *p = buf;

	bool known = is_known(pair->before) && is_known(pair->now);

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		uint64_t before = value(pair->before, keys[i]), now = value(pair->now, keys[i]);
		bool number = keys[i] == REPORT_CALLS;

		p = put_text(p, "  ");
		p = number ? put_number(p, now, 10, ' ') :
		    is_known(pair->now) ? put_span(p, now, false) : put_no_span(p);
		p = put_text(p, number || known ? " " : "  ");
		p = number || known ? put_change(p, keys[i], before, now) : put_no_span(p);
	}
	output_text(out, buf, (size_t)(p - buf));
	print_name(named, out);
}

/* Both lists are sorted by name: walk along them together. */
static size_t report_join(const struct report *before, const struct report *now,
			  const struct report_line **a, const struct report_line **b,
			  enum report_key key, struct report_pair *ret)
{
	size_t i = 0, j = 0, n = 0;

	while (i < before->n || j < now->n) {
		int order = i == before->n ? 1 : j == now->n ? -1 : by_name(&a[i], &b[j]);
		struct report_pair *p = &ret[n++];

		p->before = order <= 0 ? a[i++] : NULL;
		p->now = order >= 0 ? b[j++] : NULL;
		uint64_t x = value(p->before, key), y = value(p->now, key);
		p->change = x > y ? x - y : y - x;
	}
	return n;
}

static void add_line(const struct report_line *from, struct report_line *to)
{
	for (int i = 0; from && i < REPORT_KEYS; i++)
		to->v[i] += from->v[i];
	to->timed |= from && from->timed;
}

/* Of what has no room only sums are shown. */
static void pairs_together(struct report_pairs *p, size_t most, enum report_key sort)
{
	struct report_line *lines = p->others;

	for (size_t i = most; i < p->n; i++) {
		add_line(p->v[i].before, &lines[0]);
		add_line(p->v[i].now, &lines[1]);
	}
	for (size_t i = 0; i < ARRAY_SIZE(p->others); i++) {
		lines[i].name = lines[i].module = lines[i].shown = "";
		lines[i].nothers = p->n - most;
	}
	uint64_t x = lines[0].v[sort], y = lines[1].v[sort];

	p->v[most] = (struct report_pair){ &lines[0], &lines[1], x > y ? x - y : y - x };
	p->n = most + 1;
}

int report_compare(const struct report *before, const struct report *now, enum report_key sort,
		   size_t most, struct report_pairs *ret)
{
	auto_free const struct report_line **a = sorted(before);
	auto_free const struct report_line **b = sorted(now);

	*ret = (struct report_pairs){ .v = calloc(before->n + now->n + 1, sizeof(*ret->v)),
				      .lost = before->lost + now->lost,
				      .disarmed = before->disarmed + now->disarmed };
	if (!a || !b || !ret->v)
		return fail(ENOMEM, "compare the reports");
	ret->n = report_join(before, now, a, b, sort, ret->v);
	vec_sort(ret->v, ret->n, by_change);
	if (most && ret->n > most)
		pairs_together(ret, most, sort);
	return 0;
}

void report_pairs_clear(struct report_pairs *p)
{
	free(p->v);
	*p = (struct report_pairs){ 0 };
}

void report_print_diff(const struct report_pairs *p, struct output *out)
{
	output_printf(out, "# %10s %11s  %10s %11s  %10s %11s  %s\n", "TOTAL", "CHANGE", "SELF",
		      "CHANGE", "CALLS", "CHANGE", "FUNCTION");
	for (size_t i = 0; i < p->n; i++)
		print_pair(&p->v[i], out);
	parts_missing(out, p->lost, p->disarmed);
}
