/* SPDX-License-Identifier: MIT */
#include "injector/options/options_values.h"

#include <errno.h>
#include <string.h>

#include "arch/arch.h"
#include "injector/log/units.h"
#include "payload/abi.h"
#include "trace/write/record.h"
#include "values/condition_compile.h"
#include "values/hand.h"

enum { MIN_BUFFERS = 2 };	/* one is written while the other is read */

#define MAX_BUFFER (1ull << 30)

int options_buffer(const char *text, uint64_t *ret)
{
	int err = units_size(text, ret);

	if (err == -EINVAL)
		return fail(0, "-m wants a size such as 512K or 4M, not '%s'", text);
	if (err || *ret > MAX_BUFFER)
		return fail(0, "-m %s is too large; at most 1G for each thread", text);
	if (*ret < MIN_BUFFERS * SUBBUF_SIZE)
		return fail(0, "-m %s is too small; at least %dK for each thread",
			    text, MIN_BUFFERS * SUBBUF_SIZE / 1024);
	*ret = ALIGN_UP(*ret, SUBBUF_SIZE);
	return 0;
}

int options_size(const char *text, uint64_t *ret)
{
	if (units_size(text, ret))
		return fail(0, "--max-size wants a size such as 100M or 2G, not '%s'", text);
	if (*ret < RECORD_MAX_SIZE_LEAST)
		return fail(0, "--max-size %s is too small; at least 1M", text);
	return 0;
}

int options_free(const char *text, uint64_t *ret)
{
	int err = units_size(text, ret);

	if (err == -EINVAL)
		return fail(0, "--min-free wants a size such as 500M or 2G, or 0, not '%s'", text);
	if (err || *ret > INT64_MAX)
		return fail(0, "--min-free %s is too large", text);
	return 0;
}

uint64_t options_min_free(const struct options *o)
{
	if (o->min_free != MIN_FREE_SHARE)
		return o->min_free;
	return o->max_size ? 0 : RECORD_FREE_SHARE;
}

int options_overhead(const char *text, uint32_t *ret)
{
	int err = units_percent(text, ret);

	if (err == -ERANGE)
		return fail(0, "--max-overhead %s is out of range; from 0.01 to 100 percent", text);
	if (err)
		return fail(0, "--max-overhead wants a percentage such as 5 or 2.5%%, not '%s'",
			    text);
	return 0;
}

int options_output(const char *text, const char **ret)
{
	if (!*text)
		return fail(0, "-o wants the name of a file");
	*ret = text;
	return 0;
}

int options_keep(const char *text, enum keep *ret)
{
	if (strcmp(text, "first") && strcmp(text, "last"))
		return fail(0, "--keep wants first or last, not '%s'", text);
	*ret = strcmp(text, "last") ? KEEP_FIRST : KEEP_LAST;
	return 0;
}

static size_t trimmed(const char *text, size_t n)
{
	while (n && text[n - 1] == ' ')
		n--;
	return n;
}

int options_slow(const char *text, struct slow_call *ret)
{
	const char *than = strrchr(text, '>'), *time = than ? than + 1 + strspn(than + 1, " ") : "";
	size_t n = than ? trimmed(text, (size_t)(than - text)) : 0;
	auto_free char *glob = strndup(text, n);
	auto_free char *span = strndup(time, trimmed(time, strlen(time)));

	if (!glob || !span)
		return fail(ENOMEM, "read --snapshot-on");
	if (!n || units_time(span, 0, &ret->ns) || !ret->ns)
		return fail(0, "--snapshot-on wants a function and a time, as in 'net_read > 100ms', "
			       "not '%s'", text);
	return pattern_parse(glob, &ret->function);
}

int options_line(const char *text, struct pattern *p)
{
	const char *colon = p->plt || p->place ? NULL : strrchr(p->name, ':');
	uint64_t line;

	if (!colon || colon == p->name || colon[-1] == '/' ||
	    units_number(colon + 1, INT32_MAX, &line) || !line)
		return fail(0, "--at wants FILE:LINE, as in 'server.c:120', not '%s'", text);
	p->offset = line;
	return 0;
}

/* Which functions there are is known later. */
static int any_caller(void *ctx, const char *glob, struct condition_range *v, size_t room,
		      size_t *n)
{
	*n = room > 0;
	if (room)
		v[0] = (struct condition_range){ 1, 2 };
	return room ? 0 : -E2BIG;
}

int options_when(const char *text, const char **ret)
{
	const struct condition_names names = { any_caller, NULL, NULL };
	struct read_plan plan = { 0 };
	struct condition_error error;
	struct condition condition;
	char lines[512];
	int err = condition_compile(text, NULL, &plan, &names, &condition, &error);

	*ret = text;
	if (err != -EINVAL)
		return err == -ENOMEM ? err : 0;
	condition_error_text(text, &error, lines, sizeof(lines));
	return fail(0, "-w: %s\n%s", error.what, lines);
}

int options_by_hand(const char *text, struct hand_spec *ret)
{
	struct signature signature;
	struct hand_error error;
	int err = hand_parse(text, arch_host()->machine, &signature, &ret->name, &error);

	ret->text = text;
	if (!err)
		signature_clear(&signature);
	return err == -EINVAL ? fail(0, "-A '%s', column %zu: %s", text, error.column + 1,
				     error.what) : err;
}

int options_point(const char *text, bool ends, struct span_point *ret)
{
	const char *colon = strrchr(text, ':');
	bool at_return = colon && !strcmp(colon, ":return");
	bool first = colon && !strcmp(colon, ":first") && !ends;
	bool usdt = colon && !at_return && !first && (colon == text || colon[-1] != ':');

	*ret = (struct span_point){ .ends = ends, .at_return = at_return, .first = first,
				    .usdt = usdt };
	auto_free char *glob = strndup(text, at_return || first ? (size_t)(colon - text) :
				       strlen(text));
	int err = glob ? pattern_parse(glob, &ret->pattern) : fail(ENOMEM, "read '%s'", text);

	if (!err && (ret->pattern.place || (ret->usdt && ret->pattern.plt)))
		err = fail(0, "%s wants a function, as in 'net_read' or 'net_read:return', or "
			      "PROVIDER:NAME, not '%s'", ends ? "--to" : "--from", text);
	return err;
}

const char *const options_top_words[TOP_KEYS] = {
	[TOP_RATE] = "rate", [TOP_WALL] = "wall", [TOP_CALLS] = "calls", [TOP_TOTAL] = "total",
	[TOP_SELF] = "self", [TOP_CPU] = "cpu", [TOP_WAIT] = "wait", [TOP_AVERAGE] = "avg", [TOP_P99] = "p99", [TOP_MAX] = "max",
};

int options_top(const char *word, enum top_key *ret)
{
	for (enum top_key k = 0; k < TOP_KEYS; k++)
		if (strcmp(word, options_top_words[k]) == 0) {
			*ret = k;
			return 0;
		}
	return fail(0, "--sort %s: sort by rate, wall, calls, total, self, cpu, wait, avg, p99 or max",
		    word);
}
