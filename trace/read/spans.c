/* SPDX-License-Identifier: MIT */
#include "trace/read/spans.h"

#include <errno.h>
#include <string.h>

#include "trace/read/choose.h"
#include "trace/read/kept.h"
#include "trace/read/signatures.h"
#include "values/pick.h"
#include "values/text.h"

enum { BUCKETS = 1 << 14, TEXT = 4096, KEYED = 8 };

/* What a function is to spans: a bit for each group. */
struct role {
	uint32_t begins[2], ends[2];	/* where it is called, and where it returns */
	uint32_t first;			/* of `begins`: unless there is one */
	bool looked;			/* for its values */
	bool keyed;			/* and it has them */
	struct pick picks[KEYED];
};

/* One that has begun. */
struct span {
	uint32_t next;		/* in its bucket, or of those that are free: number + 1 */
	uint32_t age;		/* how often the place was used, as marks say, too */
	bool open;
	uint8_t group;
	uint64_t key;		/* a hash of its values, or its thread */
	struct call call;	/* what it has of memory is owned */
};

struct spans {
	const struct clock *clock;
	struct spans_options options;
	struct sink sink;
	const struct reader_func *funcs;
	struct role *roles;	/* by function */
	size_t nfuncs;
	struct signatures signatures;
	struct span *v;
	uint32_t n, free, victim;
	uint32_t *buckets;	/* number + 1 of the last one begun */
	uint64_t shown;
	char text[TEXT];
};

static void span_clear(struct span *s)
{
	call_drop(&s->call);
	s->open = false;
}

void spans_free(struct spans *s)
{
	if (!s)
		return;
	for (uint32_t i = 0; i < s->n; i++)
		span_clear(&s->v[i]);
	signatures_clear(&s->signatures);
	free(s->roles);
	free(s->v);
	free(s->buckets);
	free(s);
}

/* ---- which functions ------------------------------------------------------ */

static int add_point(struct spans *s, const struct about *a, const struct span_point *p)
{
	auto_free bool *wanted = calloc(a->nfuncs + 1, sizeof(*wanted));
	size_t n = 0;
	int err = wanted ? choose_names(a, &p->pattern, true, wanted, &n) :
		fail(ENOMEM, "look for spans");

	for (size_t i = 0; i < a->nfuncs && !err; i++) {
		struct role *r = &s->roles[i];
		uint32_t *bits = p->ends ? r->ends : r->begins;

		if (!wanted[i])
			continue;
		bits[p->at_return && !a->funcs[i].entry_only] |= 1u << p->group;
		r->first |= (uint32_t)p->first << p->group;
	}
	return err;
}

static bool has_role(const struct role *r)
{
	return r->begins[0] | r->begins[1] | r->ends[0] | r->ends[1];
}

/* The values by which its spans are told. */
static int find_values(struct spans *s, size_t func)
{
	const struct signed_func *f = signatures_of(&s->signatures, &s->funcs[func]);
	struct role *r = &s->roles[func];

	r->looked = true;
	for (size_t i = 0; i < s->options.nby; i++)
		if (!f || pick_find(&f->signature, s->options.by[i], &r->picks[i]))
			return fail(0, "--by %s: %s has no such value; inject list -v shows the "
				    "names", s->options.by[i], s->funcs[func].name), -EINVAL;
	r->keyed = true;
	return 0;
}

int spans_name(struct spans *s, const struct about *a)
{
	struct role *roles = realloc(s->roles, (a->nfuncs + 1) * sizeof(*roles));
	int err = 0;

	if (!roles)
		return fail(ENOMEM, "look for spans");
	memset(roles + s->nfuncs, 0, (a->nfuncs + 1 - s->nfuncs) * sizeof(*roles));
	s->roles = roles;
	s->funcs = a->funcs;
	s->nfuncs = a->nfuncs;
	for (size_t i = 0; i < s->options.npoints && !err; i++)
		err = add_point(s, a, &s->options.points[i]);
	for (size_t i = 0; i < s->nfuncs && !err && s->options.nby; i++)
		if (has_role(&roles[i]) && !roles[i].looked)
			err = find_values(s, i);
	return err;
}

int spans_new(const struct clock *clock, const struct about *a, const struct spans_options *o,
	      const struct sink *sink, struct spans **ret)
{
	struct spans *s = calloc(1, sizeof(*s));
	int err = -ENOMEM;

	if (s) {
		s->clock = clock;
		s->options = *o;
		s->options.nby = MIN(o->nby, (size_t)KEYED);
		s->sink = *sink;
		s->v = calloc(SPANS_OPEN, sizeof(*s->v));
		s->buckets = calloc(BUCKETS, sizeof(*s->buckets));
	}
	if (!s || !s->v || !s->buckets)
		err = fail(ENOMEM, "keep spans");
	else
		err = spans_name(s, a);
	if (err)
		spans_free(s);
	else
		*ret = s;
	return err;
}

/* ---- the open ones -------------------------------------------------------- */

/* What a sink keeps of one: 0 is none. */
static uint64_t mark_of(const struct spans *s, uint32_t i)
{
	return (uint64_t)s->v[i].age << 32 | (i + 1);
}

/* Its number + 1; 0: it is not open any more. */
static uint32_t marked(const struct spans *s, uint64_t mark)
{
	uint32_t i = (uint32_t)mark;

	return i && i <= s->n && s->v[i - 1].open && s->v[i - 1].age == mark >> 32 ? i : 0;
}

static uint32_t *bucket(const struct spans *s, uint8_t group, uint64_t key)
{
	return &s->buckets[(key ^ key >> 29 ^ (uint64_t)group << 5) % BUCKETS];
}

static bool is_of(const struct span *span, uint8_t group, uint64_t key)
{
	return span->group == group && span->key == key;
}

/* The last one that has begun; number + 1, 0: there is none. */
static uint32_t last_of(const struct spans *s, uint8_t group, uint64_t key)
{
	uint32_t i = *bucket(s, group, key);

	while (i && !is_of(&s->v[i - 1], group, key))
		i = s->v[i - 1].next;
	return i;
}

static void forget(struct spans *s, uint32_t i)
{
	struct span *span = &s->v[i - 1];
	uint32_t *p = bucket(s, span->group, span->key);

	while (*p && *p != i)
		p = &s->v[*p - 1].next;
	if (*p)
		*p = span->next;
	span_clear(span);
	span->next = s->free;
	s->free = i;
}

static struct span *take_free(struct spans *s)
{
	uint32_t i;

	if (!s->free && s->n < SPANS_OPEN)
		return &s->v[s->n++];
	if (!s->free)
		forget(s, s->victim++ % SPANS_OPEN + 1);
	i = s->free;
	s->free = s->v[i - 1].next;
	return &s->v[i - 1];
}

/* All that is to be shown of a call outlives it. */
static void keep_call(struct span *span, const struct call *c, uint64_t begin)
{
	span->call = call_keep(c);
	span->call.begin = begin;
	span->call.depth = 0;
	span->call.opened = span->call.wait_known = false;
	span->call.inner = span->call.wait = span->call.preempted = 0;
}

/* ---- by which it is told -------------------------------------------------- */

static uint64_t hash(uint64_t h, const char *text)
{
	for (; *text; text++)
		h = (h ^ (unsigned char)*text) * 0x100000001b3;	/* FNV-1a */
	return (h ^ 0xff) * 0x100000001b3;
}

/* False: its values are not there. */
static bool key_of(struct spans *s, const struct role *r, const struct call *c, uint64_t *ret)
{
	const struct signed_func *f;
	struct capture capture;

	*ret = (uint64_t)(uint32_t)c->pid << 32 | (uint32_t)c->tid;
	if (!s->options.nby)
		return true;
	f = r->keyed ? signatures_of(&s->signatures, c->func) : NULL;
	if (!f || capture_parse(&f->signature, &f->plan, c->entry, c->nentry, c->exit, c->nexit,
				&capture))
		return false;
	*ret = hash(0xcbf29ce484222325 ^ (uint32_t)c->pid, "");
	for (size_t i = 0; i < s->options.nby; i++) {
		values_picked(&capture, &r->picks[i], s->text, sizeof(s->text));
		*ret = hash(*ret, s->text);
	}
	return true;
}

/* ---- calls ---------------------------------------------------------------- */

static uint64_t begin_span(struct spans *s, uint8_t group, uint64_t key, uint64_t outer,
			   const struct call *c, uint64_t at)
{
	uint32_t last;

	/* What has not ended has begun anew, but for those that this one lies in. */
	while ((last = last_of(s, group, key)) && (s->options.nby || mark_of(s, last - 1) != outer))
		forget(s, last);
	struct span *span = take_free(s);
	uint32_t i = (uint32_t)(span - s->v);
	uint32_t *head = bucket(s, group, key);

	keep_call(span, c, at);
	span->open = true;
	span->age++;
	span->group = group;
	span->key = key;
	span->next = *head;
	*head = i + 1;
	return mark_of(s, i);
}

/* What ends with the call that it has begun with is that call. */
static void show(struct spans *s, struct span *span, uint64_t at, const struct call *until)
{
	bool whole = until && until->begin == span->call.begin && until->func == span->call.func &&
		     until->mark == mark_of(s, (uint32_t)(span - s->v));
	struct call call = whole ? *until : span->call, *c = &call;
	const struct call *ended = until;

	until = whole ? NULL : until;
	c->depth = 0;
	c->opened = false;
	c->end = MAX(at, c->begin);
	c->span = c->end - c->begin;
	c->how = (uint8_t)(!ended ? CALL_OPEN : ended->how == CALL_UNWOUND ? CALL_UNWOUND :
			   CALL_RETURN);
	c->until = until;
	if (clock_ns(s->clock, c->span) < s->options.min_ns || spans_full(s))
		return;
	s->shown++;
	s->sink.end(s->sink.ctx, c);
}

static void end_span(struct spans *s, uint8_t group, uint64_t key, const struct call *until,
		     uint64_t at)
{
	uint32_t i = s->options.nby ? 0 : marked(s, until->mark), last;

	if (!i || !is_of(&s->v[i - 1], group, key))
		i = last_of(s, group, key);
	if (!i)
		return;
	/* What has begun within it, and has not ended, never will. */
	while ((last = last_of(s, group, key)) != i)
		forget(s, last);
	show(s, &s->v[i - 1], at, until);
	forget(s, i);
}

/* At its begin or its return. What ends comes first: the next may begin there. */
static uint64_t at_point(struct spans *s, const struct call *c, bool returns, uint64_t at)
{
	size_t func = (size_t)(c->func - s->funcs);
	const struct role *r = func < s->nfuncs ? &s->roles[func] : NULL;
	uint64_t key, mark = c->mark;

	if (!r || !(r->begins[returns] | r->ends[returns]) || !key_of(s, r, c, &key))
		return mark;
	for (uint8_t group = 0; group < SPANS_GROUPS; group++) {
		if (r->ends[returns] >> group & 1)
			end_span(s, group, key, c, at);
		if (r->begins[returns] >> group & 1 &&
		    !(r->first >> group & 1 && last_of(s, group, key)))
			mark = begin_span(s, group, key, c->mark, c, at);
	}
	return mark;
}

static uint64_t spans_begin(void *ctx, uint64_t outer, const struct call *c)
{
	struct call call = *c;

	call.mark = outer;
	return at_point(ctx, &call, false, c->begin);
}

static bool spans_open(void *ctx, const struct call *c)
{
	return true;
}

static void spans_end(void *ctx, const struct call *c)
{
	if (c->how == CALL_RETURN || c->how == CALL_UNWOUND)
		at_point(ctx, c, true, c->end);
}

/* Of what has begun the end may be missing. */
static void spans_lost(void *ctx, const struct event *e)
{
	struct spans *s = ctx;

	for (uint32_t i = 0; i < s->n; i++)
		if (s->v[i].open && s->v[i].call.pid == e->pid)
			forget(s, i + 1);
	s->sink.lost(s->sink.ctx, e);
}

struct sink spans_sink(struct spans *s)
{
	return (struct sink){ .begin = spans_begin, .open = spans_open, .end = spans_end,
			      .lost = spans_lost, .ctx = s };
}

void spans_finish(struct spans *s, uint64_t now)
{
	for (uint32_t i = 0; i < s->n; i++)
		if (s->v[i].open)
			show(s, &s->v[i], now, NULL);
}

bool spans_full(const struct spans *s)
{
	return s->options.calls && s->shown >= s->options.calls;
}
