/* SPDX-License-Identifier: MIT */
/*
 * options: what does the command line ask for?
 *
 * Which verb takes which option says table.c; what no table has is refused, and never
 * ignored.
 */
#include "injector/options/options.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

#include "injector/log/units.h"
#include "injector/options/options_values.h"
#include "injector/options/table.h"
#include "trace/read/groups.h"
#include "values/pick.h"

#define SECOND 1000000000ull

enum { STACK_USUAL = 32 };	/* callers, of --stack without a number */

/* "-": words come in their place, so that those before "--" are known from
 * those behind it. ":": our own messages. */
static const char letters[] = "-:p:f:N:t:w:D:n:d:o:m:aA:s:qvhV";

/* The first word, where no option and no number stands: a verb that is misspelled, or a
 * command without the -- before it. */
static int unknown_verb(const char *word)
{
	const char *names[(size_t)VERB_DEFS], *near[2];
	size_t n;

	for (size_t i = 0; i < (size_t)VERB_DEFS; i++)
		names[i] = verb_defs[i].name;
	n = words_near(names, (size_t)VERB_DEFS, word, near, ARRAY_SIZE(near));
	if (!n)
		return fail(0, "unknown verb '%s'; inject --help has the verbs, and a command to "
			       "be started goes behind --", word);
	return fail(0, "unknown verb '%s'; is %s%s%s meant?", word, near[0],
		    n > 1 ? " or " : "", n > 1 ? near[1] : "");
}

/* How the user knows an option: "-f" where there is a letter. */
static const char *spelling(const struct option_def *def, char buf[32])
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
			    spelling(def, name), text, (unsigned long long)max);
	if (err || *ret == 0)
		return fail(0, "%s wants a number from 1 up, not '%s'",
			    spelling(def, name), text);
	return 0;
}

static int options_span(const struct option_def *def, const char *text, uint64_t bare,
			uint64_t *ret)
{
	char name[32];
	int err = units_time(text, bare, ret);

	if (err == -ERANGE)
		return fail(0, "%s %s is too long", spelling(def, name), text);
	if (err && units_time(text, 1, ret) == 0)
		return fail(0, "%s %s wants a unit: ns, us, ms, s or m, as in %sms",
			    spelling(def, name), text, text);
	if (err)
		return fail(0, "%s wants a time such as 1.5ms or 10s, not '%s'",
			    spelling(def, name), text);
	if (*ret == 0)
		return fail(0, "%s wants a time longer than zero",
			    spelling(def, name));
	return 0;
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
			    spelling(def, name));
	if (units_number(text, INT_MAX, &value) || value == 0)
		return fail(0, "%s wants a number, not '%s'; `pgrep -l NAME` finds it",
			    spelling(def, name), text);
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

/* FUNCTION, or FUNCTION:VALUE. The value "duration" is that of FUNCTION alone. */
static int value_option(struct options *o, const char *text)
{
	const char *value = value_in(text);
	auto_free char *glob = strndup(text, value ? (size_t)(value - text) - 1 : strlen(text));
	struct pattern *p = vec_push(o->include, o->ninclude, o->include_cap);
	const char **of = p ? vec_push(o->values_of, o->nvalues_of, o->values_of_cap) : NULL;

	if (!of || !glob)
		return fail(ENOMEM, "read '%s'", text);
	*of = value && strcmp(value, "duration") ? value : NULL;
	if (*of) {
		o->args = true;
		o->keep = KEEP_FIRST;
	}
	return pattern_parse(glob, p);
}

static int pattern_option(struct options *o, int key, const char *text)
{
	int err = check_pattern(key, text);
	struct pattern *p;

	if (err)
		return err;
	if (key == 'f' && o->verb == VERB_HIST)
		return value_option(o, text);
	if (key == 'f')
		p = vec_push(o->include, o->ninclude, o->include_cap);
	else
		p = vec_push(o->exclude, o->nexclude, o->exclude_cap);
	return p ? pattern_parse(text, p) : -ENOMEM;
}

static int usdt_option(struct options *o, const char *text)
{
	struct pattern *p = vec_push(o->usdt, o->nusdt, o->usdt_cap);
	int err = p ? pattern_parse(text ? text : "*:*", p) : -ENOMEM;

	if (!err && (p->place || p->plt || !strchr(p->name, ':')))
		err = fail(0, "--usdt wants PROVIDER:NAME, as in 'libc:*', not '%s'", text);
	return err;
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

static int stack_option(const struct option_def *def, const char *text, uint32_t *ret)
{
	uint64_t n = STACK_USUAL;
	int err = text ? number(def, text, CALLERS_MOST, &n) : 0;

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

static int options_set(struct options *o, const struct option_def *def, const char *arg)
{
	int key = def->getopt.val;

	switch (key) {
	case 'p': return pid_option(def, arg, &o->pid);
	case OPT_TID: return pid_option(def, arg, &o->tid);
	case 'f': case 'N': return pattern_option(o, key, arg);
	case OPT_USDT: return usdt_option(o, arg);
	case OPT_AT: return at_option(o, arg);
	case 'w': return options_when(arg, &o->when);
	case 't': return options_span(def, arg, 0, &o->min_duration);
	case 'd': return options_span(def, arg, SECOND, &o->duration);
	case OPT_MAX_PAUSE: return options_span(def, arg, 0, &o->max_pause);
	case 'D': return number(def, arg, UINT32_MAX, &o->depth);
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
	case OPT_STACK: return stack_option(def, arg, &o->stack);
	case OPT_MAX_SIZE: return options_size(arg, &o->max_size);
	case OPT_MIN_FREE: return options_free(arg, &o->min_free);
	case OPT_SINCE: return options_span(def, arg, SECOND, &o->since);
	case OPT_UNTIL: return options_span(def, arg, SECOND, &o->until);
	case OPT_SORT: o->sort = arg; return 0;
	case OPT_BY: return by_option(o, arg);
	case OPT_TOP: return number(def, arg, UINT32_MAX, &o->top);
	case OPT_DIFF: o->diff = arg; return 0;
	case OPT_TO: o->format = arg; return 0;
	}
	set_flag(o, key);
	return 0;
}

/* A word that stands behind a pattern: what a shell has made of that, or a command. */
static int word_behind_pattern(const struct options *o, const char *text)
{
	const struct pattern *last = o->ninclude ? &o->include[o->ninclude - 1] :
		&o->exclude[o->nexclude - 1];

	if (access(last->glob, F_OK) == 0 && access(text, F_OK) == 0)
		return fail(0, "'%s' is left over, and '%s' is a file, too: the shell has "
			    "expanded a pattern; quote it, as in -f '*'", text, last->glob);
	if (!o->pid && strchr(text, '/') && access(text, X_OK) == 0)
		return fail(0, "'%s' is left over; a command goes behind --: -f '%s' -- %s",
			    text, last->glob, text);
	return fail(0, "'%s' is left over; did the shell expand a pattern? quote it, as in "
		    "-f '%s*'; or a command? that goes behind --", text, text);
}

/* A word that is no option: what is to be read, or a habit from elsewhere. */
static int options_take_word(struct options *o, const char *text)
{
	uint64_t n;

	if (o->verb == VERB_LIST) {
		const char **file = vec_push(o->files, o->nfiles, o->files_cap);

		if (!file)
			return fail(ENOMEM, "list %s", text);
		*file = text;
		return 0;
	}
	if (o->verb == VERB_HIST && value_in(text))
		return value_option(o, text);
	if ((verb_reads_directory(o->verb) || o->verb == VERB_HIST) && !o->directory) {
		o->directory = text;
		return 0;
	}
	if (verb_named(text))
		return fail(0, "'%s' is left over; a verb comes first: inject %s ...", text, text);
	if (units_number(text, INT_MAX, &n) == 0)
		return fail(0, "'%s' is left over; a process is given as -p %s", text, text);
	if (o->ninclude || o->nexclude)
		return word_behind_pattern(o, text);
	return fail(0, "'%s' is left over; inject --help has the verbs", text);
}

/* What stands behind "--", if that was there. */
static int options_rest(struct options *o, char **argv, int argc, int at, bool dashes)
{
	if (at == argc && dashes && !o->pid && o->verb <= VERB_TOP)
		return fail(0, "-- wants a command behind it, as in -- ls -l; for a process that "
			       "runs give -p PID");
	if (at == argc)
		return 0;
	if (o->verb <= VERB_TOP) {
		o->command = argv + at;
		return 0;
	}
	for (int err; at < argc; at++) {
		err = options_take_word(o, argv[at]);
		if (err)
			return err;
	}
	return 0;
}

/* A long option has one spelling: an abbreviation that is unique today would
 * change its meaning with the next option. */
static int check_exact(const char *arg, const char *name)
{
	size_t n = strlen(name);

	if (strncmp(arg, "--", 2) != 0)
		return 0;
	if (strncmp(arg + 2, name, n) == 0 && (!arg[n + 2] || arg[n + 2] == '='))
		return 0;
	return fail(0, "unknown option %.*s; is --%s meant?",
		    (int)strcspn(arg, "="), arg, name);
}

static int unknown_option(const char *arg)
{
	if (strncmp(arg, "--", 2) != 0)
		return fail(0, "unknown option -%c; see inject --help", optopt);
	/* A flag that was given a value, or a name that nothing begins like. */
	if (optopt && option_of(optopt))
		return fail(0, "--%s takes no value", option_of(optopt)->getopt.name);
	return fail(0, "unknown option %.*s; see inject --help",
		    (int)strcspn(arg, "="), arg);
}

static int check_option(int on, const char *verb, const struct option_def *def,
			const char *arg)
{
	char name[32];
	int err = def ? check_exact(arg, def->getopt.name) : unknown_option(arg);

	if (err)
		return err;
	if (on == ON_RECORD && !(def->verbs & on) && (def->verbs & ON_CALLS))
		return fail(0, "record takes no %s: it keeps everything; give that to replay",
			    spelling(def, name));
	if (!(def->verbs & on))
		return fail(0, "%s takes no %s; see inject help %s", verb,
			    spelling(def, name), verb);
	return 0;
}

static int missing_argument(int on, const char *verb, const char *arg)
{
	const struct option_def *def = option_of(optopt);
	int err = check_option(on, verb, def, arg);
	char name[32];

	if (err)
		return err;
	if (optopt == 'f' || optopt == 'N')
		return fail(0, "-%c wants a pattern, as in -%c 'net_*'", optopt, optopt);
	return fail(0, "%s wants a value; see inject --help", spelling(def, name));
}

/* What getopt does not see: a value that stands apart. */
static const char *value_of(const struct options *o, int argc, char **argv, int *key)
{
	if (*key != OPT_USDT || optarg || o->verb == VERB_LIST)
		return optarg;
	optopt = OPT_USDT;
	*key = optind < argc && argv[optind][0] != '-' ? OPT_USDT : ':';
	return *key == ':' ? NULL : argv[optind++];
}

/* --help and --version end the parse: nothing behind them can spoil it. */
static int parse_words(struct options *o, int argc, char **argv, int on,
		       const char *verb)
{
	struct option longs[(size_t)OPTION_DEFS + 1] = { 0 };

	for (size_t i = 0; i < (size_t)OPTION_DEFS; i++)
		longs[i] = option_defs[i].getopt;
	optind = 0;
	opterr = 0;
	for (;;) {
		int at = optind ? optind : 1;
		int key = getopt_long(argc, argv, letters, longs, NULL);
		const char *value = value_of(o, argc, argv, &key);
		const struct option_def *def = option_of(key);
		int err;

		if (key == -1)
			return options_rest(o, argv, argc, optind, optind > at);
		if (key == 1)
			err = options_take_word(o, optarg);
		else if (key == '?')
			err = unknown_option(argv[at]);
		else if (key == ':')
			err = missing_argument(on, verb, argv[at]);
		else
			err = check_option(on, verb, def, argv[at]) ?:
			      options_set(o, def, value);
		if (err || o->verb == VERB_HELP || o->verb == VERB_VERSION)
			return err;
	}
}

/* inject help [VERB] */
static int ask_help(int argc, char **argv, struct options *ret)
{
	const struct verb_def *of = argc > 2 ? verb_named(argv[2]) : NULL;

	if (argc > 2 && !of)
		return unknown_verb(argv[2]);
	if (argc > 3)
		return fail(0, "'%s' is left over; inject help takes one verb", argv[3]);
	ret->verb = VERB_HELP;
	ret->named = of ? of->name : NULL;
	return 0;
}

int options_parse(int argc, char **argv, struct options *ret)
{
	const struct verb_def *given = argc > 1 ? verb_named(argv[1]) : NULL;
	int on = ON_TRACE, err;
	const char *verb = "trace";
	uint64_t pid;

	*ret = (struct options){ .max_pause = DEFAULT_MAX_PAUSE, .min_free = MIN_FREE_SHARE,
				 .values.deep = COMPILE_DEEP };
	if (argc > 1 && strcmp(argv[1], "help") == 0)
		return ask_help(argc, argv, ret);
	if (given) {
		verb = ret->named = given->name;
		on = given->on;
		ret->verb = given->verb;
		ret->keep = on & (ON_START | ON_COUNTS) ? KEEP_LAST : KEEP_FIRST;
		argc--;
		argv++;
	} else if (argc > 1 && argv[1][0] != '-' && units_number(argv[1], INT_MAX, &pid)) {
		return unknown_verb(argv[1]);
	}
	err = parse_words(ret, argc, argv, on, verb);
	return err ? err : options_check(ret);
}

bool options_launch(int argc, char **argv)
{
	const struct verb_def *verb = argc > 1 ? verb_named(argv[1]) : NULL;

	if (verb && !(verb->on & ON_HERE))
		return false;
	for (int i = 1; i + 1 < argc; i++)
		if (strcmp(argv[i], "--") == 0)
			return true;
	return false;
}

const char *options_directory(const struct options *o)
{
	const char *given = o->verb == VERB_RECORD || o->verb == VERB_SNAPSHOT ?
		o->output : o->directory;

	return given ? given : DEFAULT_DIRECTORY;
}

/* Places for tracers are few, and are there for what they tell. */
static bool options_reads_usdt(const struct options *o)
{
	return o->nusdt && (o->verb == VERB_TRACE || o->verb == VERB_RECORD);
}

bool options_reads(const struct options *o)
{
	return o->args || o->nby_hand || o->when || options_reads_usdt(o);
}

struct valued_options options_valued(const struct options *o, bool later)
{
	return (struct valued_options){ .known = o->args, .usdt = options_reads_usdt(o),
					.when = o->when,
					.specs = o->by_hand,
					.nspecs = o->nby_hand, .compile = o->values,
					.later = later };
}

static void clear_patterns(struct pattern *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		pattern_clear(&p[i]);
	free(p);
}

void options_clear(struct options *o)
{
	clear_patterns(o->include, o->ninclude);
	clear_patterns(o->exclude, o->nexclude);
	clear_patterns(o->usdt, o->nusdt);
	clear_patterns(o->at, o->nat);
	for (size_t i = 0; i < o->nslow; i++)
		pattern_clear(&o->slow[i].function);
	free(o->slow);
	free(o->by_hand);
	free(o->by);
	free(o->values_of);
	free(o->files);
	*o = (struct options){ 0 };
}
