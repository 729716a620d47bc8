/* SPDX-License-Identifier: MIT */
/* json: how does a call look in --json? */
#include "injector/json.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

struct json {
	const struct reader *reader;
	struct output *out;
	int32_t pid;
};

int json_new(const struct reader *reader, struct output *out, int32_t pid,
	     struct json **ret)
{
	struct json *j = calloc(1, sizeof(*j));

	if (!j)
		return fail(ENOMEM, "print JSON");
	j->reader = reader;
	j->out = out;
	j->pid = pid;
	*ret = j;
	return 0;
}

void json_free(struct json *j)
{
	free(j);
}

/* Bytes of the UTF-8 character at `p`; 0 if it is none. Overlong forms,
 * surrogates and what is beyond U+10FFFF are none. */
static size_t utf8(const unsigned char *p)
{
	static const struct {
		unsigned char mask, lead;
		uint32_t least;
	} forms[] = {
		{ 0x80, 0x00, 0 }, { 0xe0, 0xc0, 0x80 },
		{ 0xf0, 0xe0, 0x800 }, { 0xf8, 0xf0, 0x10000 },
	};

	for (size_t n = 0; n < ARRAY_SIZE(forms); n++) {
		uint32_t c = p[0] & (unsigned char)~forms[n].mask;

		if ((p[0] & forms[n].mask) != forms[n].lead)
			continue;
		for (size_t i = 1; i <= n; i++) {
			if ((p[i] & 0xc0) != 0x80)
				return 0;
			c = c << 6 | (p[i] & 0x3f);
		}
		if (c < forms[n].least || c > 0x10ffff || (c >> 11) == 0x1b)
			return 0;
		return n + 1;
	}
	return 0;
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

void json_string(struct output *out, const char *text)
{
	const unsigned char *p = (const unsigned char *)text;
	char *to = output_room(out, 6 * strlen(text) + 3);
	size_t used = 0;

	if (!to)
		return;
	to[used++] = '"';
	while (*p) {
		size_t n = utf8(p);

		used += put_char(to + used, p, n);
		p += n ? n : 1;
	}
	to[used++] = '"';
	output_take(out, used);
}

/* Calls appear when they have ended. */
static bool json_open(void *ctx, const struct call *c)
{
	return true;
}

static const char *end_word(const struct call *c)
{
	switch (c->how) {
	case CALL_RETURN: case CALL_BEFORE:
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

static void number_or_null(char *buf, size_t size, bool known, uint64_t value)
{
	if (known)
		snprintf(buf, size, "%llu", (unsigned long long)value);
	else
		snprintf(buf, size, "null");
}

static void json_end(void *ctx, const struct call *c)
{
	struct json *j = ctx;
	bool ended = c->how == CALL_RETURN || c->how == CALL_UNWOUND;
	char ts[24], dur[24];

	number_or_null(ts, sizeof(ts), c->how != CALL_BEFORE,
		       reader_realtime(j->reader, c->begin));
	number_or_null(dur, sizeof(dur), ended,
		       reader_ns(j->reader, c->end - c->begin));
	output_printf(j->out, "{\"type\":\"call\",\"ts_ns\":%s,\"dur_ns\":%s,\"end\":\"%s\",\"pid\":%d,\"tid\":%d,\"depth\":%u,\"func\":",
		      ts, dur, end_word(c), j->pid, c->tid, c->depth);
	json_string(j->out, c->func->name);
	output_text(j->out, ",\"module\":", 10);
	json_string(j->out, c->func->module);
	output_printf(j->out, "%s}\n", extra(c));
}

static void json_lost(void *ctx, int32_t tid, uint64_t tsc, uint64_t n)
{
	struct json *j = ctx;

	output_printf(j->out, "{\"type\":\"lost\",\"ts_ns\":%llu,\"pid\":%d,\"tid\":%d,\"events\":%llu}\n",
		      (unsigned long long)reader_realtime(j->reader, tsc), j->pid,
		      tid, (unsigned long long)n);
}

struct sink json_sink(struct json *j)
{
	return (struct sink){
		.open = json_open, .end = json_end, .lost = json_lost, .ctx = j,
	};
}

void json_start(struct json *j, const struct summary *s)
{
	output_printf(j->out, "{\"type\":\"start\",\"version\":1,\"ts_ns\":%llu,\"pid\":%d,\"functions\":%llu,\"refused\":%llu,\"pause_ns\":%llu}\n",
		      (unsigned long long)reader_realtime(j->reader, reader_now()),
		      j->pid, (unsigned long long)s->functions,
		      (unsigned long long)s->refused,
		      (unsigned long long)s->pause_ns);
}

static const char *truth(bool b)
{
	return b ? "true" : "false";
}

void json_summary(struct json *j, const struct summary *s)
{
	output_printf(j->out, "{\"type\":\"summary\",\"ts_ns\":%llu,\"pid\":%d,\"functions\":%llu,\"refused\":%llu,\"calls\":%llu,\"events\":%llu,\"lost\":%llu,\"pause_ns\":%llu,\"target_ended\":%s,\"removed\":%s,\"verified\":%s}\n",
		      (unsigned long long)reader_realtime(j->reader, reader_now()),
		      j->pid, (unsigned long long)s->functions,
		      (unsigned long long)s->refused, (unsigned long long)s->calls,
		      (unsigned long long)s->events, (unsigned long long)s->lost,
		      (unsigned long long)s->pause_ns, truth(s->gone),
		      truth(s->removed), truth(s->verified));
}
