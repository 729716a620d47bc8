/* SPDX-License-Identifier: MIT */
/*
 * options: what does the command line ask for?
 *
 * Which verb takes which option says table.c; what no table has is refused, and never
 * ignored.
 */
#include "injector/options/options.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "injector/log/units.h"
#include "injector/options/options_set.h"
#include "injector/options/options_values.h"
#include "injector/options/recipe.h"
#include "injector/options/table.h"

enum {
	STACK_NOT_GIVEN = INT_MAX,
	STACK_SLOW = 8,		/* callers that `slow` shows */
};

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
	if (o->verb == VERB_HIST && options_names_value(text))
		return options_take_valued(o, text);
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
			    options_spelling(def, name));
	if (!(def->verbs & on))
		return fail(0, "%s takes no %s; see inject help %s", verb,
			    options_spelling(def, name), verb);
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
	return fail(0, "%s wants a value; see inject --help", options_spelling(def, name));
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

/* Of `slow`: before all else that the line says, so that this comes behind it. */
static int take_recipe(int argc, char **argv, struct options *ret)
{
	static const char long_name[] = "--recipe";
	const char *name = NULL;

	for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
		const char *behind = argv[i] + sizeof(long_name) - 1;
		bool given = !strncmp(argv[i], long_name, sizeof(long_name) - 1) &&
			(!*behind || *behind == '=');

		if (given && name)
			return fail(0, "--recipe was given twice; give one");
		if (given)
			name = *behind ? behind + 1 : i + 1 < argc ? argv[i + 1] : NULL;
	}
	return name ? recipe_take(name, ret) : 0;
}

/* What `slow` has without being asked for it. */
static int parse_slow(int argc, char **argv, struct options *ret)
{
	ret->slow_only = ret->args = true;
	ret->stack = STACK_NOT_GIVEN;
	int err = take_recipe(argc, argv, ret) ?: parse_words(ret, argc, argv, ON_SLOW, "slow");

	for (size_t i = 0; i < ret->nwithin && !err; i++) {
		struct pattern *p = vec_push(ret->include, ret->ninclude, ret->include_cap);

		err = p ? pattern_parse(ret->within[i].glob, p) : -ENOMEM;
	}
	/* To walk the stack of each call that is recorded costs more than all else. */
	if (ret->stack == STACK_NOT_GIVEN)
		ret->stack = ret->npoints || ret->nwithin ? 0 : STACK_SLOW;
	return err;
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
	err = on == ON_SLOW ? parse_slow(argc, argv, ret) :
		parse_words(ret, argc, argv, on, verb);
	if (!err && ret->verb == VERB_HIST && !options_recorded(ret))
		err = options_find_places(ret);
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

struct about_filter options_filter(const struct options *o)
{
	return (struct about_filter){ o->min_duration, o->depth, o->when };
}

int options_terms(const struct options *o, const char *when, char **ret)
{
	size_t size = 0;
	FILE *f;

	*ret = NULL;
	if (!when && !o->min_duration && !o->depth)
		return 0;
	f = open_memstream(ret, &size);
	if (!f)
		return fail(ENOMEM, "read the condition");
	if (when)
		fprintf(f, o->min_duration || o->depth ? "(%s)" : "%s", when);
	if (o->min_duration)
		fprintf(f, "%sduration >= %" PRIu64 "ns", when ? " && " : "", o->min_duration);
	if (o->depth)
		fprintf(f, "%sdepth <= %" PRIu64, when || o->min_duration ? " && " : "", o->depth);
	return fclose(f) ? fail(ENOMEM, "read the condition") : 0;
}

struct valued_options options_valued(const struct options *o, bool later)
{
	return (struct valued_options){ .known = o->args, .usdt = options_reads_usdt(o),
					.when = o->when,
					.left = o->verb == VERB_START || o->verb == VERB_ADD,
					.specs = o->by_hand,
					.nspecs = o->nby_hand, .compile = o->values,
					.points = o->points, .npoints = o->npoints,
					.entry_only = o->entry_only,
					.later = later || o->recipe };
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
	clear_patterns(o->around, o->naround);
	clear_patterns(o->within, o->nwithin);
	for (size_t i = 0; i < o->npoints; i++)
		pattern_clear(&o->points[i].pattern);
	free(o->points);
	free(o->recipe_text);
	for (size_t i = 0; i < o->nslow; i++)
		pattern_clear(&o->slow[i].function);
	free(o->slow);
	free(o->by_hand);
	free(o->by);
	clear_patterns(o->valued, o->nvalued);
	free(o->values_of);
	free(o->files);
	*o = (struct options){ 0 };
}
