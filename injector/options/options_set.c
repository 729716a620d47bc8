/* SPDX-License-Identifier: MIT */
/* options_set: what does one option say, with its value? */
#include "injector/options/options_set.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

#include "injector/log/units.h"
#include "injector/options/options_values.h"
#include "trace/read/groups.h"
#include "values/pick.h"

#define SECOND 1000000000ull

enum {
	STACK_USUAL = 32,	/* callers, of --stack without a number */
};

/* How the user knows an option: "-f" where there is a letter. */
const char *options_spelling(const struct option_def *def, char buf[32])
{
	const char *name = def->getopt.name;
	size_t n = strlen(name);

	if (def->getopt.val < 256) {
		buf[0] = '-';
		buf[1] = (char)def->getopt.val;
		buf[2] = '\0';
		return buf;
	}
	buf[0] = buf[1] = '-';
	memcpy(buf + 2, name, n + 1);
	return buf;
}

static int number(const struct option_def *def, const char *text, uint64_t max,
		  uint64_t *ret)
{
	char name[32];
	int err = units_number(text, max, ret);

	if (err == -ERANGE)
		return fail(0, "%s %s is too large; at most %llu",
			    options_spelling(def, name), text, (unsigned long long)max);
	if (err || *ret == 0)
		return fail(0, "%s wants a number from 1 up, not '%s'",
			    options_spelling(def, name), text);
	return 0;
}

static int options_moment(const struct option_def *def, const char *text, uint64_t bare,
			  uint64_t *ret)
{
	char name[32];
	int err = units_time(text, bare, ret);

	if (err == -ERANGE)
		return fail(0, "%s %s is too long", options_spelling(def, name), text);
	if (err && text[strspn(text, "0.")] && units_time(text, 1, ret) == 0)
		return fail(0, "%s %s wants a unit: ns, us, ms, s or m, as in %sms",
			    options_spelling(def, name), text, text);
	if (err && units_time(text, 1, ret) != 0)
		return fail(0, "%s wants a time such as 1.5ms or 10s, not '%s'",
			    options_spelling(def, name), text);
	return 0;
}

static int options_span(const struct option_def *def, const char *text, uint64_t bare,
			uint64_t *ret)
{
	char name[32];
	int err = options_moment(def, text, bare, ret);

	if (!err && *ret == 0)
		err = fail(0, "%s wants a time longer than zero", options_spelling(def, name));
	return err;
}

static int pid_option(const struct option_def *def, const char *text, pid_t *ret)
{
	uint64_t value;
	char name[32];

	if (strchr(text, ',') && strspn(text, "0123456789,") == strlen(text))
		return fail(0, "-p takes one PID, not a list (%s); run one inject for each",
			    text);
	if (*ret)
		return fail(0, "%s was given twice; inject works on one at a time",
			    options_spelling(def, name));
	if (units_number(text, INT_MAX, &value) || value == 0)
		return fail(0, "%s wants a number, not '%s'; `pgrep -l NAME` finds it",
			    options_spelling(def, name), text);
	*ret = (pid_t)value;
	return 0;
}

/* `-f -p 1` is strace's way to follow forks. */
static int check_pattern(int key, const char *text)
{
	if (text[0] != '-')
		return 0;
	return fail(0, "-%c wants a pattern and found the option %s; to follow "
		       "forks there is --follow-fork; give -%c 'GLOB'",
		    key, text, key);
}

/* Where the value begins in FUNCTION:VALUE; NULL: in no place. "::" is a part of names. */
static const char *value_in(const char *text)
{
	const char *colon = strrchr(text, ':');

	return colon && colon > text && colon[-1] != ':' && pick_is_name(colon + 1) ? colon + 1 :
		NULL;
}

bool options_names_value(const char *text)
{
	return value_in(text);
}

static bool names_place(const struct pattern *p)
{
	const char *colon = p->place || p->plt ? NULL : strchr(p->name, ':');

	return colon && colon > p->name && colon[1] && colon[1] != ':';
}

int options_find_places(struct options *o)
{
	size_t kept = 0;

	for (size_t i = 0; i < o->ninclude; i++) {
		struct pattern *to = names_place(&o->include[i]) ?
			vec_push(o->usdt, o->nusdt, o->usdt_cap) : &o->include[kept++];

		if (!to)
			return fail(ENOMEM, "read '%s'", o->include[i].glob);
		*to = o->include[i];
	}
	o->ninclude = kept;
	return 0;
}

/* FUNCTION, or FUNCTION:VALUE; or PROVIDER:NAME:VALUE. The value "duration" is that of FUNCTION
 * alone. */
int options_take_valued(struct options *o, const char *text)
{
	const char *value = value_in(text);
	auto_free char *glob = strndup(text, value ? (size_t)(value - text) - 1 : strlen(text));
	struct pattern *p = vec_push(o->include, o->ninclude, o->include_cap);
	struct pattern *valued = p ? vec_push(o->valued, o->nvalued, o->valued_cap) : NULL;
	const char **of = valued ? vec_push(o->values_of, o->nvalues_of, o->values_of_cap) : NULL;

	if (!of || !glob)
		return fail(ENOMEM, "read '%s'", text);
	*of = value && strcmp(value, "duration") ? value : NULL;
	if (*of) {
		o->args = true;
		o->keep = KEEP_FIRST;
	}
	return pattern_parse(glob, p) ?: pattern_parse(glob, valued);
}

static int pattern_option(struct options *o, int key, const char *text)
{
	int err = check_pattern(key, text);
	struct pattern *p;

	if (err)
		return err;
	if (key == 'f' && o->verb == VERB_HIST)
		return options_take_valued(o, text);
	if (key == 'f')
		p = vec_push(o->include, o->ninclude, o->include_cap);
	else
		p = vec_push(o->exclude, o->nexclude, o->exclude_cap);
	return p ? pattern_parse(text, p) : -ENOMEM;
}

static int usdt_option(struct options *o, const char *text)
{
	const char *value = o->verb == VERB_HIST ? value_in(text) : NULL;

	/* The provider ends with the first colon, and the name with the second. */
	if (value && memchr(text, ':', (size_t)(value - text) - 1))
		return options_take_valued(o, text);
	struct pattern *p = vec_push(o->usdt, o->nusdt, o->usdt_cap);
	int err = p ? pattern_parse(text ? text : "*:*", p) : -ENOMEM;

	if (!err && (p->place || p->plt || !strchr(p->name, ':')))
		err = fail(0, "--usdt wants PROVIDER:NAME, as in 'libc:*', not '%s'", text);
	return err;
}

static int around_option(struct options *o, const char *text)
{
	struct pattern *p = vec_push(o->around, o->naround, o->around_cap);
	int err = p ? pattern_parse(text, p) : -ENOMEM;

	if (!err && (p->place || p->plt || !strchr(p->name, ':')))
		err = fail(0, "--around wants PROVIDER:NAME, as in 'postgresql:query__start', not "
			      "'%s'", text);
	return err;
}

/* What is probed for it is asked for as by -f or --usdt. One behind an end begins others. */
static int point_option(struct options *o, bool ends, const char *text)
{
	const struct span_point *last = o->npoints ? &o->points[o->npoints - 1] : NULL;
	unsigned int group = last ? last->group + (last->ends && !ends) : 0;
	struct span_point *p = vec_push(o->points, o->npoints, o->points_cap);
	int err = p ? options_point(text, ends, p) : -ENOMEM;

	if (err)
		return err;
	if (group == SPANS_GROUPS)
		return fail(0, "--from and --to were given for more than %d spans", SPANS_GROUPS);
	p->group = (uint8_t)group;
	struct pattern *probed = p->usdt ? vec_push(o->usdt, o->nusdt, o->usdt_cap) :
		vec_push(o->include, o->ninclude, o->include_cap);

	return probed ? pattern_parse(p->pattern.glob, probed) : -ENOMEM;
}

/* What is probed for it comes behind all other functions (options.c). */
static int within_option(struct options *o, const char *text)
{
	struct pattern *p = vec_push(o->within, o->nwithin, o->within_cap);

	return p ? pattern_parse(text, p) : -ENOMEM;
}

static int at_option(struct options *o, const char *text)
{
	struct pattern *p = vec_push(o->at, o->nat, o->at_cap);
	int err = p ? pattern_parse(text, p) : -ENOMEM;

	return err ? err : options_line(text, p);
}

static int slow_option(struct options *o, const char *text)
{
	struct slow_call *slow = vec_push(o->slow, o->nslow, o->slow_cap);

	return slow ? options_slow(text, slow) : -ENOMEM;
}

static int hand_option(struct options *o, const char *text)
{
	struct hand_spec *spec = vec_push(o->by_hand, o->nby_hand, o->by_hand_cap);

	return spec ? options_by_hand(text, spec) : -ENOMEM;
}

static int by_option(struct options *o, const char *text)
{
	const char **by;

	if (!pick_is_name(text))
		return fail(0, "--by wants the name of a value, such as arg1, retval, fd or "
			       "req.method, not '%s'", text);
	if (o->nby == GROUPS_BY)
		return fail(0, "--by was given more than %d times", GROUPS_BY);
	by = vec_push(o->by, o->nby, o->by_cap);
	if (!by)
		return fail(ENOMEM, "group calls by values");
	*by = text;
	return 0;
}

static int value_size(const struct option_def *def, const char *text, uint64_t most, uint16_t *ret)
{
	uint64_t n;
	int err = number(def, text, most, &n);

	if (!err)
		*ret = (uint16_t)n;
	return err;
}

/* 0 follows none. */
static int deep_option(const struct option_def *def, const char *text, uint8_t *ret)
{
	uint64_t n = 0;
	int err = strcmp(text, "0") ? number(def, text, READS_MAX, &n) : 0;

	if (!err)
		*ret = (uint8_t)n;
	return err;
}

/* 0, of `slow` alone, is what the other verbs have without it. */
static int stack_option(const struct options *o, const struct option_def *def, const char *text,
			uint32_t *ret)
{
	bool given = text && *text, none = given && o->slow_only && !strcmp(text, "0");
	uint64_t n = given ? 0 : STACK_USUAL;
	int err = given && !none ? number(def, text, CALLERS_MOST, &n) : 0;

	if (!err)
		*ret = (uint32_t)n;
	return err;
}

static void set_flag(struct options *o, int key)
{
	switch (key) {
	case OPT_ROTATE: o->rotate = true; break;
	case OPT_NET: o->net = true; break;
	case OPT_OFF_CPU: o->off_cpu = true; break;
	case OPT_WAIT: o->wait = true; break;
	case OPT_COMPRESS: o->compress = true; break;
	case OPT_ENTRY_ONLY: o->entry_only = true; break;
	case OPT_TRAP: o->trap = true; break;
	case OPT_INLINED: o->inlined = true; break;
	case OPT_UNGUARDED: o->unguarded = true; break;
	case OPT_TIME: o->time = true; break;
	case OPT_JSON: o->json = true; break;
	case OPT_FOLLOW_EXEC: o->follow_exec = true; break;
	case OPT_FOLLOW_FORK: o->follow_fork = true; break;
	case OPT_NO_COLOR: o->no_color = true; break;
	case OPT_FORCE: o->force = true; break;
	case OPT_SHORT_NAMES: o->short_names = true; break;
	case OPT_STUBS: o->stubs = true; break;
	case 'a': o->args = true; break;
	case 'q': o->quiet = true; break;
	case 'v': o->verbose = true; break;
	case 'h': o->verb = VERB_HELP; break;
	case 'V': o->verb = VERB_VERSION; break;
	}
}

int options_set(struct options *o, const struct option_def *def, const char *arg)
{
	int key = def->getopt.val;

	switch (key) {
	case 'p': return pid_option(def, arg, &o->pid);
	case OPT_TID: return pid_option(def, arg, &o->tid);
	case 'f': case 'N': return pattern_option(o, key, arg);
	case OPT_USDT: return usdt_option(o, arg);
	case OPT_AT: return at_option(o, arg);
	case OPT_AROUND: return around_option(o, arg);
	case OPT_FROM: return point_option(o, false, arg);
	case OPT_WITHIN: return within_option(o, arg);
	case OPT_RECIPE: return 0;	/* options_recipe */
	case 'w':
		if (o->verb == VERB_FILTER && !*arg)
			o->when = arg;
		return o->when == arg ? 0 : options_when(arg, &o->when);
	case 't':
		o->all = o->verb == VERB_FILTER && !strcmp(arg, "0");
		return o->all ? 0 : options_span(def, arg, 0, &o->min_duration);
	case 'd': return options_span(def, arg, SECOND, &o->duration);
	case OPT_MAX_PAUSE: return options_span(def, arg, 0, &o->max_pause);
	case 'D':
		o->all_depths = o->verb == VERB_FILTER && !strcmp(arg, "0");
		return o->all_depths ? 0 : number(def, arg, UINT32_MAX, &o->depth);
	case 'n': return number(def, arg, UINT64_MAX, &o->calls);
	case 'o': return options_output(arg, &o->output);
	case OPT_LOG: o->log = arg; return 0;
	case 'm': return options_buffer(arg, &o->buffer);
	case OPT_MAX_OVERHEAD: return options_overhead(arg, &o->max_overhead);
	case OPT_KEEP: return options_keep(arg, &o->keep);
	case OPT_SNAPSHOT_ON: return slow_option(o, arg);
	case 'A': return hand_option(o, arg);
	case 's': return value_size(def, arg, READS_BYTES_MAX, &o->values.text);
	case OPT_DEEP: return deep_option(def, arg, &o->values.deep);
	case OPT_STACK: return stack_option(o, def, arg, &o->stack);
	case OPT_MAX_SIZE: return options_size(arg, &o->max_size);
	case OPT_MIN_FREE: return options_free(arg, &o->min_free);
	case OPT_SINCE: return options_moment(def, arg, SECOND, &o->since);
	case OPT_UNTIL: return options_span(def, arg, SECOND, &o->until);
	case OPT_SORT: o->sort = arg; return 0;
	case OPT_BY: return by_option(o, arg);
	case OPT_TOP: return number(def, arg, UINT32_MAX, &o->top);
	case OPT_DIFF: o->diff = arg; return 0;
	case OPT_TO:
		if (o->verb != VERB_EXPORT)
			return point_option(o, true, arg);
		o->format = arg;
		return 0;
	}
	set_flag(o, key);
	return 0;
}
