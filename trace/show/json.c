/* SPDX-License-Identifier: MIT */
/* json: how does a call look in --json? */
#include "trace/show/json.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "trace/output/put.h"
#include "trace/output/utf8.h"
#include "trace/show/callers.h"
#include "trace/show/values.h"

enum { KEYS = 512 };		/* more than all of a call but its names */

struct json {
	const struct clock *clock;
	struct output *out;
	bool off_cpu;		/* with keys for it */
	struct shown_values values;
	const struct caller_names *names;	/* NULL: no callers are there */
	struct shown_callers callers;
};

int json_new(const struct clock *clock, struct output *out, struct json **ret)
{
	struct json *j = calloc(1, sizeof(*j));

	if (!j)
		return fail(ENOMEM, "print JSON");
	j->clock = clock;
	j->out = out;
	*ret = j;
	return 0;
}

void json_off_cpu(struct json *j)
{
	j->off_cpu = true;
}

void json_free(struct json *j)
{
	if (j)
		shown_clear(&j->values);
	free(j);
}

void json_name(struct json *j, const struct caller_names *names)
{
	j->names = names;
}

static size_t put_char(char *to, const unsigned char *p, size_t n)
{
	if (n == 0) {
		memcpy(to, "\\ufffd", 6);
		return 6;
	}
	if (*p == '"' || *p == '\\') {
		to[0] = '\\';
		to[1] = (char)*p;
		return 2;
	}
	if (*p < 0x20 || *p == 0x7f)
		return (size_t)snprintf(to, 7, "\\u%04x", *p);
	memcpy(to, p, n);
	return n;
}

/* `size` bytes, or up to the end. At most 6 bytes for one of the text, and 2 quotes. */
static char *put_string(char *to, const char *text, size_t size)
{
	const unsigned char *p = (const unsigned char *)text, *end = p + strnlen(text, size);

	*to++ = '"';
	while (p < end) {
		size_t n = utf8_bytes((const char *)p);

		to += put_char(to, p, n);
		p += n ? n : 1;
	}
	*to++ = '"';
	return to;
}

void json_string(struct output *out, const char *text)
{
	char *start = output_room(out, 6 * strlen(text) + 3);

	if (start)
		output_take(out, (size_t)(put_string(start, text, SIZE_MAX) - start));
}

/* What a function is printed as may end in its module. */
static size_t bare(const struct reader_func *f)
{
	const char *at = strrchr(f->name, '@');

	return at && at > f->name && !strcmp(at + 1, f->module) ? (size_t)(at - f->name) :
		strlen(f->name);
}

static char *put_func(char *p, const struct reader_func *f)
{
	size_t n = bare(f), plain = inlined_bare(f->name, n);

	p = put_string(put_text(p, "\"func\":"), f->name, plain);
	if (plain < n)
		p = put_text(p, ",\"inlined\":true");
	return put_string(put_text(p, ",\"module\":"), f->module, SIZE_MAX);
}

void json_func(struct output *out, const struct reader_func *f)
{
	char *start = output_room(out, KEYS + 6 * (strlen(f->name) + strlen(f->module)));

	if (start)
		output_take(out, (size_t)(put_func(start, f) - start));
}

/* Calls appear when they have ended. */
static bool json_open(void *ctx, const struct call *c)
{
	return true;
}

/* A reader of "return" may rely on a duration: a call of which one side was not
 * recorded is "open", on whichever side that is. */
static const char *end_word(const struct call *c)
{
	switch (c->how) {
	case CALL_RETURN:
		return "return";
	case CALL_UNWOUND:
		return "unwound";
	default:
		return "open";
	}
}

/* What the three words of "end" do not say. */
static const char *extra(const struct call *c)
{
	switch (c->how) {
	case CALL_BEFORE:
		return ",\"began_before\":true";
	case CALL_EXIT_LOST:
		return ",\"exit_lost\":true";
	case CALL_ENTRY_ONLY:
		return ",\"entry_only\":true";
	default:
		return "";
	}
}

static char *put_or_null(char *p, bool known, uint64_t value)
{
	return known ? put_number(p, value, 0, ' ') : put_text(p, "null");
}

static bool is_own(const char *own, const char *name)
{
	size_t n = strlen(name);
	const char *at = strstr(own, name);

	for (; n && at && (at == own || at[-1] != ' ' || at[n] != ' '); at = strstr(at + 1, name))
		;
	return n && at;
}

void json_args(struct output *out, struct shown_values *v, const struct call *c, const char *before,
	       const char *own)
{
	const char *name;
	size_t i = 0;

	for (; shown_next(v, c, &i, &name); before = ",") {
		auto_free char *key = !*name ? base_printf("arg%zu", i) :
			is_own(own, name) ? base_printf("%s (argument)", name) : NULL;

		output_printf(out, "%s", before);
		json_string(out, key ?: name);
		output_printf(out, ":");
		json_string(out, v->args);
	}
}

static void json_values(struct json *j, const struct call *c)
{
	output_printf(j->out, ",\"args\":{");
	json_args(j->out, &j->values, c, "", "");
	output_printf(j->out, "}");
	shown_take(&j->values, c);
	if (j->values.result[0]) {
		output_printf(j->out, ",\"ret\":");
		json_string(j->out, j->values.result);
	}
}

/* What was preempted is a part of the wait. */
static char *put_off_cpu(const struct json *j, char *p, const struct call *c)
{
	uint64_t span = clock_ns(j->clock, c->span), wait = MIN(clock_ns(j->clock, c->wait), span);
	uint64_t preempted = MIN(clock_ns(j->clock, c->preempted), wait);

	p = put_or_null(put_text(p, ",\"cpu_ns\":"), c->wait_known, span - wait);
	p = put_or_null(put_text(p, ",\"wait_ns\":"), c->wait_known, wait);
	return put_or_null(put_text(p, ",\"preempted_ns\":"), c->wait_known, preempted);
}

/* "func": "NAME" or null. */
static void json_name_or_null(struct output *out, const char *key, const char *name)
{
	output_printf(out, ",\"%s\":%s", key, name ? "" : "null");
	if (name)
		json_string(out, name);
}

static void json_callers(struct json *j, const struct call *c)
{
	static const char *const cuts[] = {
		[CALLERS_WHOLE] = "no", [CALLERS_FULL] = "number", [CALLERS_NO_TABLE] = "no table",
		[CALLERS_NO_RULE] = "no rule", [CALLERS_NO_MEMORY] = "memory",
		[CALLERS_ODD] = "odd",
	};
	struct shown_callers *s = &j->callers;

	shown_callers_take(j->names, c, s);
	output_printf(j->out, ",\"stack\":[");
	for (size_t i = 0; i < s->n; i++) {
		const struct caller *at = &s->v[i].caller;

		output_printf(j->out, "%s{\"addr\":\"0x%llx\"", i ? "," : "",
			      (unsigned long long)(at->address & ~CALLERS_EXACT));
		json_name_or_null(j->out, "func", at->func);
		if (s->v[i].inlined)
			output_printf(j->out, ",\"inlined\":true");
		else
			output_printf(j->out, ",\"offset\":%llu", (unsigned long long)at->offset);
		json_name_or_null(j->out, "module", at->module);
		output_printf(j->out, "}");
	}
	output_printf(j->out, "],\"stack_cut\":\"%s\"",
		      cuts[MIN((size_t)s->cut, ARRAY_SIZE(cuts) - 1)]);
}

/* The call at which a span ends. */
static void json_until(struct json *j, const struct call *c)
{
	output_printf(j->out, ",\"until\":{");
	json_func(j->out, c->func);
	if (c->func->values)
		json_values(j, c);
	output_printf(j->out, "}");
}

static void json_end(void *ctx, const struct call *c)
{
	struct json *j = ctx;
	bool ended = c->how == CALL_RETURN || c->how == CALL_UNWOUND;
	char *start = output_room(j->out, KEYS + 6 * (strlen(c->func->name) +
						      strlen(c->func->module)));
	char *p = start;

	if (!start)
		return;
	p = put_text(p, "{\"type\":\"call\",\"ts_ns\":");
	p = put_or_null(p, c->how != CALL_BEFORE, clock_realtime(j->clock, c->begin));
	p = put_text(p, ",\"dur_ns\":");
	p = put_or_null(p, ended, clock_ns(j->clock, c->span));
	p = put_text(put_text(p, ",\"end\":\""), end_word(c));
	p = put_number(put_text(p, "\",\"pid\":"), (uint32_t)c->pid, 0, ' ');
	p = put_number(put_text(p, ",\"tid\":"), (uint32_t)c->tid, 0, ' ');
	p = put_number(put_text(p, ",\"depth\":"), c->depth, 0, ' ');
	p = put_func(put_text(p, ","), c->func);
	p = put_text(p, extra(c));
	if (call_is_part(c))
		p = put_number(put_text(p, ",\"seen_ns\":"), clock_ns(j->clock, c->span), 0, ' ');
	if (j->off_cpu)
		p = put_off_cpu(j, p, c);
	output_take(j->out, (size_t)(p - start));
	if (c->func->values)
		json_values(j, c);
	if (c->callers && j->names)
		json_callers(j, c);
	if (c->until)
		json_until(j, c->until);
	output_text(j->out, "}\n", 2);
}

static void json_lost(void *ctx, const struct event *e)
{
	struct json *j = ctx;

	output_printf(j->out, "{\"type\":\"lost\",\"ts_ns\":%llu,\"pid\":%d"
			      ",\"tid\":%d,\"events\":%llu}\n",
		      (unsigned long long)clock_realtime(j->clock, e->tsc), e->pid,
		      e->tid, (unsigned long long)e->lost);
}

struct sink json_sink(struct json *j)
{
	return (struct sink){
		.open = json_open, .end = json_end, .lost = json_lost, .ctx = j,
	};
}
