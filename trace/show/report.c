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
	uint64_t total, outer, self;	/* ns; outer: not of nested calls */
	uint64_t min, max;
	uint32_t *counts;	/* BUCKETS; NULL until the first call */
};

struct making {
	const struct about *about;
	struct stats *stats;	/* by function id */
	bool broken;
};

static const char *const words[] = {
	[REPORT_TOTAL] = "total", [REPORT_SELF] = "self", [REPORT_CALLS] = "calls",
	[REPORT_AVERAGE] = "avg", [REPORT_MIN] = "min", [REPORT_MAX] = "max",
	[REPORT_P50] = "p50", [REPORT_P99] = "p99",
};

int report_key(const char *word, enum report_key *ret)
{
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (strcmp(word, words[i]) == 0) {
			*ret = (enum report_key)i;
			return 0;
		}
	return fail(0, "--sort %s: sort by total, self, calls, avg, min, max, p50 or p99", word);
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

static void add_span(struct making *m, struct stats *s, uint64_t ns)
{
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
	s->total += ns;
}

static void add_call(void *ctx, const struct call *c, bool nested)
{
	struct making *m = ctx;
	struct stats *s = &m->stats[c->func - m->about->funcs];
	const struct clock *clock = &m->about->clock;
	uint64_t span = c->span, ns;

	s->calls++;
	if (!call_has_span(c))
		return;
	s->parts += call_is_part(c);
	ns = clock_ns(clock, span);
	add_span(m, s, ns);
	s->self += clock_ns(clock, span - MIN(c->inner, span));
	if (!nested)
		s->outer += ns;
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

static void report_fill(const struct stats *s, const struct reader_func *f, struct report_line *ret)
{
	*ret = (struct report_line){ .name = f->name, .module = f->module,
				     .timed = s->timed, .parts = s->parts, .v = {
		[REPORT_TOTAL] = s->outer, [REPORT_SELF] = s->self, [REPORT_CALLS] = s->calls,
		[REPORT_AVERAGE] = s->timed ? s->total / s->timed : 0,
		[REPORT_MIN] = s->min, [REPORT_MAX] = s->max,
		[REPORT_P50] = percentile(s, 50), [REPORT_P99] = percentile(s, 99),
	} };
}

static int by_key(const void *x, const void *y, void *ctx)
{
	const struct report_line *a = x, *b = y;
	enum report_key key = *(const enum report_key *)ctx;

	if (a->v[key] != b->v[key])
		return a->v[key] > b->v[key] ? -1 : 1;
	return strcmp(a->name, b->name) ?: strcmp(a->module, b->module);
}

static int report_collect(const struct making *m, enum report_key sort, struct report *ret)
{
	size_t all = m->about->nfuncs + 1;

	ret->lines = calloc(all, sizeof(*ret->lines));
	if (!ret->lines || m->broken)
		return fail(ENOMEM, "count calls");
	for (size_t i = 0; i < all; i++)
		if (m->stats[i].calls)
			report_fill(&m->stats[i], &m->about->funcs[i], &ret->lines[ret->n++]);
	qsort_r(ret->lines, ret->n, sizeof(*ret->lines), by_key, &sort);
	return 0;
}

int report_make(struct view *v, enum report_key sort, struct report *ret)
{
	struct making m = { .about = view_about(v) };
	struct tree *tree = NULL;
	struct sink sink;
	int err;

	*ret = (struct report){ .sort = sort };
	m.stats = calloc(m.about->nfuncs + 1, sizeof(*m.stats));
	err = m.stats ? tree_new(&tree) : fail(ENOMEM, "count calls");
	if (!err) {
		tree_watch(tree, add_call, &m);
		sink = tree_sink(tree);
		err = view_run(v, &sink, NULL) ?: report_collect(&m, sort, ret);
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
	[REPORT_TOTAL] = "TOTAL", [REPORT_SELF] = "SELF", [REPORT_CALLS] = "CALLS",
	[REPORT_AVERAGE] = "AVG", [REPORT_MIN] = "MIN", [REPORT_MAX] = "MAX",
	[REPORT_P50] = "P50", [REPORT_P99] = "P99",
};

/* A bit for each key: all, but on a terminal that is too narrow for a line. */
static unsigned int columns_of(const struct report *r, const struct output *out)
{
	static const int spare[REPORT_KEYS] = { REPORT_MIN, REPORT_P50, REPORT_MAX, REPORT_SELF,
						REPORT_AVERAGE, REPORT_P99, REPORT_CALLS,
						REPORT_TOTAL };
	int width[REPORT_KEYS];

	for (int i = 0; i < REPORT_KEYS; i++)
		width[i] = WIDTH;
	return columns_fit(&(struct columns){ REPORT_KEYS, width, spare }, output_width(out),
			   r->sort);
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
			p = l->timed ? put_span(p, l->v[i], false) : put_no_span(p);
	}
	output_text(out, buf, (size_t)(p - buf));
	output_printf(out, "  %s\n", l->name);
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
	struct parts parts = { .out = out };

	print_head(shown, out);
	for (size_t i = 0; i < r->n; i++)
		print_line(&r->lines[i], shown, out);
	for (size_t i = 0; i < r->n; i++)
		parts_add(&parts, r->lines[i].name, r->lines[i].parts);
	parts_end(&parts);
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

struct pair {
	const struct report_line *before, *now;	/* either may be NULL */
	uint64_t change;	/* of the key, absolute */
};

static int by_name(const void *x, const void *y)
{
	const struct report_line *a = *(const struct report_line *const *)x;
	const struct report_line *b = *(const struct report_line *const *)y;

	return strcmp(a->name, b->name) ?: strcmp(a->module, b->module);
}

static const struct report_line **sorted(const struct report *r)
{
	const struct report_line **v = calloc(r->n + 1, sizeof(*v));

	for (size_t i = 0; v && i < r->n; i++)
		v[i] = &r->lines[i];
	if (v)
		qsort(v, r->n, sizeof(*v), by_name);
	return v;
}

static uint64_t value(const struct report_line *l, enum report_key key)
{
	return l ? l->v[key] : 0;
}

static int by_change(const void *x, const void *y)
{
	const struct pair *a = x, *b = y;
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

static void print_pair(const struct pair *pair, struct output *out)
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
	output_printf(out, "  %s\n", named->name);
}

/* Both lists are sorted by name: walk along them together. */
static size_t report_join(const struct report *before, const struct report *now,
			  const struct report_line **a, const struct report_line **b,
			  enum report_key key, struct pair *ret)
{
	size_t i = 0, j = 0, n = 0;

	while (i < before->n || j < now->n) {
		int order = i == before->n ? 1 : j == now->n ? -1 : by_name(&a[i], &b[j]);
		struct pair *p = &ret[n++];

		p->before = order <= 0 ? a[i++] : NULL;
		p->now = order >= 0 ? b[j++] : NULL;
		uint64_t x = value(p->before, key), y = value(p->now, key);
		p->change = x > y ? x - y : y - x;
	}
	return n;
}

int report_print_diff(const struct report *before, const struct report *now,
		      enum report_key sort, struct output *out)
{
	auto_free const struct report_line **a = sorted(before);
	auto_free const struct report_line **b = sorted(now);
	auto_free struct pair *pairs = calloc(before->n + now->n + 1, sizeof(*pairs));
	size_t n;

	if (!a || !b || !pairs)
		return fail(ENOMEM, "compare the reports");
	n = report_join(before, now, a, b, sort, pairs);
	vec_sort(pairs, n, by_change);
	output_printf(out, "# %10s %11s  %10s %11s  %10s %11s  %s\n", "TOTAL", "CHANGE", "SELF",
		      "CHANGE", "CALLS", "CHANGE", "FUNCTION");
	for (size_t i = 0; i < n; i++)
		print_pair(&pairs[i], out);
	return 0;
}
