/* SPDX-License-Identifier: MIT */
#include "injector/show/hist_values.h"

#include <errno.h>
#include <string.h>

#include "injector/show/counts.h"
#include "trace/format/places.h"
#include "trace/read/choose.h"
#include "trace/read/signatures.h"
#include "trace/show/json.h"
#include "trace/show/spread.h"
#include "trace/show/tally.h"
#include "values/text.h"

enum { LINES = 100 };		/* of texts, unless --top says how many */

/* Of one function one value. */
struct valued_hist {
	uint32_t func;
	const char *value;	/* as the user names it; NULL: the duration */
	const struct signed_func *signed_func;
	struct pick pick;
	bool number, real;
	uint32_t into;		/* all below is that of this one: the first of a name's places */
	uint64_t calls, unknown;	/* unknown: of them those whose value was not recorded */
	uint64_t others;	/* those whose text is not in the tally */
	struct spread spread;
	struct timing timing;
	struct off_sum off;
};

struct hist_values {
	const struct options *options;
	const struct clock *clock;
	bool off_cpu;		/* of durations it is known when threads had no processor */
	const struct reader_func *funcs;
	size_t nfuncs;
	struct signatures signatures;
	/* In the order of `func`; the number of one is that of its list in the tally. */
	struct valued_hist **v;
	size_t n, cap;
	uint32_t *first;	/* by function: the first one */
	struct tally tally;
	char text[4096];
};

static void hist_free(struct valued_hist *h)
{
	spread_clear(&h->spread);
	free(h);
}

void hist_values_free(struct hist_values *h)
{
	if (!h)
		return;
	for (size_t i = 0; i < h->n; i++)
		hist_free(h->v[i]);
	signatures_clear(&h->signatures);
	tally_clear(&h->tally);
	free(h->v);
	free(h->first);
	free(h);
}

/* ---- which values -------------------------------------------------------- */

/* 1: it has it; 0: it has no such value; -ENOMEM. */
static int add_value(struct hist_values *h, uint32_t func, const char *value)
{
	struct valued_hist *v = calloc(1, sizeof(*v)), **at;

	if (!v)
		return -ENOMEM;
	v->func = func;
	v->value = value;
	v->signed_func = value ? signatures_of(&h->signatures, &h->funcs[func]) : NULL;
	if (value && (!v->signed_func ||
		      pick_find(&v->signed_func->signature, value, &v->pick))) {
		free(v);
		return 0;
	}
	if (value) {
		const struct type *t = signature_type_at(&v->signed_func->signature, v->pick.type);

		v->number = number_is(t);
		v->real = v->number && t->kind == TYPE_FLOAT;
	}
	at = vec_push(h->v, h->n, h->cap);
	if (!at)
		free(v);
	else
		*at = v;
	return at ? 1 : -ENOMEM;
}

struct joining {
	const struct hist_values *h;
	const uint32_t *first;	/* by function: the first place of its name */
};

/* Other values of a name, and those of another kind, have histograms of their own. */
static int by_title(const struct joining *j, const struct valued_hist *a,
		    const struct valued_hist *b)
{
	uint32_t x = j->first[a->func], y = j->first[b->func];

	return x != y ? (x > y) - (x < y) :
	       a->value != b->value ? (a->value > b->value) - (a->value < b->value) :
	       a->number != b->number ? a->number - b->number : a->real - b->real;
}

static int by_title_and_place(const void *x, const void *y, void *ctx)
{
	const struct joining *j = ctx;
	uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;

	return by_title(j, j->h->v[a], j->h->v[b]) ?: (a > b) - (a < b);
}

/* Several places of one name are one function, wherever each has the value. Those that are new
 * stand behind those that have calls by now, so these stay where they are. */
static int join_places(struct hist_values *h)
{
	auto_free uint32_t *first = NULL, *order = calloc(h->n + 1, sizeof(*order));
	struct joining j = { .h = h };
	int err = places_first(h->funcs, h->nfuncs, &first);

	if (err || !order)
		return fail(ENOMEM, "count values");
	j.first = first;
	for (uint32_t i = 0; i < h->n; i++)
		order[i] = i;
	qsort_r(order, h->n, sizeof(*order), by_title_and_place, &j);
	for (size_t i = 0; i < h->n; i++)
		h->v[order[i]]->into = i && !by_title(&j, h->v[order[i - 1]], h->v[order[i]]) ?
			h->v[order[i - 1]]->into : order[i];
	return 0;
}

/* Does another one of the patterns have it with this value? */
static bool is_twice(const struct options *o, bool *const *wanted, size_t i, uint32_t func)
{
	for (size_t j = 0; j < i; j++)
		if (wanted[j][func] && o->values_of[j] == o->values_of[i])
			return true;
	return false;
}

/* Of the functions from `from` on. What was asked for without a value has its durations. */
static int add_values(struct hist_values *h, bool *const *wanted, uint32_t from, bool *missed)
{
	const struct options *o = h->options;
	int n = 0;

	for (uint32_t func = from; func < h->nfuncs && n >= 0; func++) {
		bool any = false;

		h->first[func] = (uint32_t)h->n;
		for (size_t i = 0; i < o->nvalued && n >= 0; i++) {
			if (!wanted[i][func] || is_twice(o, wanted, i, func))
				continue;
			any = true;
			n = add_value(h, func, o->values_of[i]);
			missed[i] &= n <= 0;
		}
		if (!any && n >= 0)
			n = add_value(h, func, NULL);
	}
	h->first[h->nfuncs] = (uint32_t)h->n;
	return n < 0 ? fail(ENOMEM, "count values") : 0;
}

/* Missed are for now the values of those that there are. */
static int find_functions(const struct hist_values *h, const struct about *a, bool **wanted,
			  bool *missed)
{
	int err = 0;

	for (size_t i = 0; i < h->options->nvalued && !err; i++) {
		size_t n = 0;

		wanted[i] = calloc(a->nfuncs + 1, sizeof(**wanted));
		err = wanted[i] ? choose_names(a, &h->options->valued[i], true, wanted[i], &n) :
			fail(ENOMEM, "count values");
		missed[i] = n && h->options->values_of[i];
	}
	return err;
}

/* missed: of which patterns no function has the value. */
static int choose_values(struct hist_values *h, const struct about *a, bool *missed)
{
	size_t n = h->options->nvalued, before = h->nfuncs;
	auto_free bool **wanted = calloc(n + 1, sizeof(*wanted));
	uint32_t *first = realloc(h->first, (a->nfuncs + 1) * sizeof(*first));
	int err;

	if (!wanted || !first)
		return fail(ENOMEM, "count values");
	h->first = first;
	h->funcs = a->funcs;
	h->nfuncs = a->nfuncs;
	err = find_functions(h, a, wanted, missed);
	err = err ? err : add_values(h, wanted, (uint32_t)before, missed) ?: join_places(h);
	for (size_t i = 0; i < n; i++)
		free(wanted[i]);
	return err;
}

int hist_values_name(struct hist_values *h, const struct about *a)
{
	auto_free bool *missed = calloc(h->options->nvalued + 1, sizeof(*missed));

	return missed ? choose_values(h, a, missed) : fail(ENOMEM, "count values");
}

int hist_values_new(const struct options *o, const struct about *a, struct hist_values **ret)
{
	auto_free bool *missed = calloc(o->nvalued + 1, sizeof(*missed));
	struct hist_values *h = calloc(1, sizeof(*h));
	int err;

	if (!h || !missed) {
		free(h);
		return fail(ENOMEM, "count values");
	}
	h->options = o;
	h->clock = &a->clock;
	h->off_cpu = a->off_cpu;
	err = choose_values(h, a, missed);
	for (size_t i = 0; i < o->nvalued && !err; i++)
		if (missed[i])
			err = fail(0, "%s:%s: no such value of these functions is known; inject "
				      "list -v shows the names",
				   o->valued[i].glob, o->values_of[i]);
	if (err)
		hist_values_free(h);
	else
		*ret = h;
	return err;
}

void hist_values_show(struct hist_values *h, const struct reader_func *funcs)
{
	h->funcs = funcs;
}

/* ---- calls --------------------------------------------------------------- */

static bool hist_open(void *ctx, const struct call *c)
{
	return true;
}

static void hist_lost(void *ctx, const struct event *e)
{
}

static void add_duration(const struct hist_values *h, struct valued_hist *v, const struct call *c)
{
	v->calls += c->how != CALL_BEFORE;
	if (c->how != CALL_RETURN && c->how != CALL_UNWOUND)
		return;
	timing_add(&v->timing, c, h->clock);
	off_add(&v->off, c);
}

/* What is there of it: a value of the entry, or of the exit. */
static bool is_there(const struct valued_hist *v, const struct call *c)
{
	return v->pick.param == READS_RESULT ? c->exit != NULL :
		c->entry || !v->signed_func->plan.nentry;
}

static void add_call_of(struct hist_values *h, const struct valued_hist *v, const struct call *c)
{
	struct valued_hist *into = h->v[v->into];
	struct capture capture;
	struct number number;

	if (!v->value) {
		add_duration(h, into, c);
		return;
	}
	into->calls++;
	if (!is_there(v, c) ||
	    capture_parse(&v->signed_func->signature, &v->signed_func->plan, c->entry, c->nentry,
			  c->exit, c->nexit, &capture)) {
		into->unknown++;
	} else if (!v->number) {
		values_picked(&capture, &v->pick, h->text, sizeof(h->text));
		signatures_clean(h->text);
		into->others += !tally_add(&h->tally, v->into, h->text);
	} else if (number_take(&capture, &v->pick, &number)) {
		spread_add(&into->spread, &number);
	} else {
		into->unknown++;
	}
}

static void hist_end(void *ctx, const struct call *c)
{
	struct hist_values *h = ctx;
	size_t func = (size_t)(c->func - h->funcs);

	for (uint32_t i = func < h->nfuncs ? h->first[func] : 0;
	     func < h->nfuncs && i < h->first[func + 1]; i++)
		add_call_of(h, h->v[i], c);
}

struct sink hist_values_sink(struct hist_values *h, const struct clock *clock)
{
	h->clock = clock;
	return (struct sink){ .open = hist_open, .end = hist_end, .lost = hist_lost, .ctx = h };
}

/* ---- print --------------------------------------------------------------- */

static void print_head(const struct hist_values *h, const struct valued_hist *v, size_t different,
		       struct output *out)
{
	output_printf(out, "# %s:%s: %llu call%s", h->funcs[v->func].name, v->value,
		      (unsigned long long)v->calls, v->calls == 1 ? "" : "s");
	if (v->unknown)
		output_printf(out, ", %llu not known", (unsigned long long)v->unknown);
	if (v->number)
		spread_print_head(&v->spread, out);
	else
		output_printf(out, ", %s%zu different value%s", v->others ? "more than " : "",
			      different, different == 1 ? "" : "s");
	output_printf(out, "\n");
}

/* What is not shown of the texts, and calls whose text was not kept. */
static uint64_t rest_of(const struct valued_hist *v, const struct tallied *const *t, size_t n,
			size_t shown)
{
	uint64_t rest = v->others;

	for (size_t i = shown; i < n; i++)
		rest += t[i]->n;
	return rest;
}

static void print_text(uint64_t n, uint64_t most, const char *text, struct output *out)
{
	char bar[BAR_LENGTH + 1];

	spread_bar(n, most, bar);
	output_printf(out, "  %12llu  %-*s  %s\n", (unsigned long long)n, BAR_LENGTH, bar, text);
}

static void print_texts(const struct valued_hist *v, const struct tallied *const *t, size_t n,
			size_t shown, struct output *out)
{
	uint64_t rest = rest_of(v, t, n, shown), most = MAX(n ? t[0]->n : 0, rest);

	for (size_t i = 0; i < shown; i++)
		print_text(t[i]->n, most, t[i]->text, out);
	if (rest)
		print_text(rest, most, "others", out);
}

static void json_texts(const struct valued_hist *v, const struct tallied *const *t, size_t n,
		       size_t shown, struct output *out)
{
	output_printf(out, ",\"values\":[");
	for (size_t i = 0; i < shown; i++) {
		output_printf(out, "%s{\"value\":", i ? "," : "");
		json_string(out, t[i]->text);
		output_printf(out, ",\"calls\":%llu}", (unsigned long long)t[i]->n);
	}
	output_printf(out, "],\"others\":%llu",
		      (unsigned long long)rest_of(v, t, n, shown));
}

static int print_value(const struct hist_values *h, uint32_t list, struct output *out)
{
	const struct valued_hist *v = h->v[list];
	auto_free const struct tallied **texts = NULL;
	size_t n = 0, shown;
	int err = v->spread.broken ? fail(ENOMEM, "count values") :
		v->number ? 0 : tally_sort(&h->tally, list, &texts, &n);

	if (err)
		return err;
	shown = MIN(n, (size_t)(h->options->top ? h->options->top : LINES));
	if (!h->options->json) {
		print_head(h, v, n, out);
		if (v->number)
			spread_print(&v->spread, out);
		else
			print_texts(v, texts, n, shown, out);
		return 0;
	}
	output_printf(out, "{\"type\":\"hist\",");
	json_func(out, &h->funcs[v->func]);
	output_printf(out, ",\"value\":");
	json_string(out, v->value);
	output_printf(out, ",\"calls\":%llu,\"not_known\":%llu", (unsigned long long)v->calls,
		      (unsigned long long)v->unknown);
	if (v->number)
		spread_json(&v->spread, out);
	else
		json_texts(v, texts, n, shown, out);
	output_printf(out, "}\n");
	return 0;
}

/* The function whose value was asked for most often comes first. */
static int most_called(const void *x, const void *y, void *ctx)
{
	const struct hist_values *h = ctx;
	uint32_t i = *(const uint32_t *)x, j = *(const uint32_t *)y;
	const struct valued_hist *a = h->v[i], *b = h->v[j];

	if (a->calls != b->calls)
		return a->calls > b->calls ? -1 : 1;
	return strcmp(h->funcs[a->func].name, h->funcs[b->func].name) ?: (i > j) - (i < j);
}

int hist_values_print(const struct hist_values *h, struct output *out)
{
	auto_free uint32_t *order = calloc(h->n + 1, sizeof(*order));
	size_t n = 0;
	int err = order ? 0 : fail(ENOMEM, "print values");

	for (uint32_t i = 0; i < h->n && !err; i++)
		if (h->v[i]->calls)
			order[n++] = i;
	if (!err)
		qsort_r(order, n, sizeof(*order), most_called, (void *)h);
	for (size_t i = 0; i < n && !err; i++) {
		const struct valued_hist *v = h->v[order[i]];

		if (v->value)
			err = print_value(h, order[i], out);
		else
			timing_print(&h->funcs[v->func], v->calls, &v->timing,
				     h->off_cpu ? &v->off : NULL, h->clock, h->options->json, out);
	}
	return err;
}
