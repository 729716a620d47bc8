/* SPDX-License-Identifier: MIT */
/*
 * options: what does the command line ask for?
 *
 * One table says which verb takes which option; what a later version may have
 * is known by name here too, so that it is refused and never ignored.
 */
#include "injector/options/options.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <string.h>

#include "injector/log/units.h"
#include "injector/options/options_values.h"

enum {
	ON_TRACE = 1,
	ON_LIST = 2,
	ON_STOP = 4,
	ON_RECORD = 8,
	ON_REPLAY = 16,
	ON_REPORT = 32,
	ON_GRAPH = 64,
	ON_INFO = 128,
	ON_EXPORT = 256,
	ON_START = 512,
	ON_STATUS = 1024,
	ON_SNAPSHOT = 2048,
	ON_ADD = 4096,
	ON_REMOVE = 8192,
	ON_COUNT = 16384,
	ON_HIST = 32768,
	ON_TOP = 65536,
	ON_COUNTS = ON_COUNT | ON_HIST | ON_TOP,
	ON_CHANGE = ON_ADD | ON_REMOVE,
	ON_LIVE = ON_TRACE | ON_RECORD,
	ON_HERE = ON_LIVE | ON_COUNTS,	/* as long as we are there */
	ON_ATTACH = ON_HERE | ON_START,
	ON_RINGS = ON_LIVE | ON_START,
	ON_CALLS = ON_REPLAY | ON_REPORT | ON_GRAPH | ON_EXPORT,
	ON_STARTED = ON_STATUS | ON_SNAPSHOT | ON_CHANGE,
	ON_ALL = ON_ATTACH | ON_LIST | ON_STOP | ON_STARTED | ON_CALLS | ON_INFO,
};

#define SECOND 1000000000ull
#define DEFAULT_MAX_PAUSE 50000000ull

/* Options without a letter. */
enum {
	OPT_TID = 256, OPT_ENTRY_ONLY, OPT_TIME, OPT_MAX_PAUSE, OPT_JSON,
	OPT_NO_COLOR, OPT_FORCE, OPT_TRAP, OPT_KEEP, OPT_SORT, OPT_DIFF, OPT_TO,
	OPT_MAX_SIZE, OPT_ROTATE, OPT_SINCE, OPT_UNTIL, OPT_FOLLOW_FORK, OPT_LOG,
	OPT_COMPRESS, OPT_MAX_OVERHEAD, OPT_FOLLOW_EXEC, OPT_NET,
	OPT_SNAPSHOT_ON, OPT_WAIT, OPT_SHORT_NAMES, OPT_MIN_FREE, OPT_STUBS,
};

struct option_def {
	struct option getopt;
	int verbs;		/* ON_* */
};

#define WITH(name, key, verbs) { { name, required_argument, NULL, key }, verbs }
#define FLAG(name, key, verbs) { { name, no_argument, NULL, key }, verbs }

static const struct option_def defs[] = {
	WITH("pid", 'p', ON_ATTACH | ON_LIST | ON_STOP | ON_STARTED),
	WITH("function", 'f', ON_ATTACH | ON_CHANGE | ON_LIST | ON_CALLS),
	WITH("exclude", 'N', ON_ATTACH | ON_CHANGE | ON_LIST | ON_CALLS),
	WITH("min-duration", 't', ON_TRACE | ON_CALLS),
	WITH("depth", 'D', ON_TRACE | ON_CALLS),
	WITH("calls", 'n', ON_HERE | ON_CALLS),
	WITH("duration", 'd', ON_HERE),
	WITH("tid", OPT_TID, ON_HERE | ON_CALLS),
	WITH("output", 'o', ON_ATTACH | ON_LIST | ON_SNAPSHOT | ON_CALLS | ON_INFO),
	WITH("buffer", 'm', ON_RINGS),
	FLAG("entry-only", OPT_ENTRY_ONLY, ON_RINGS | ON_ADD | ON_LIST),
	FLAG("trap", OPT_TRAP, ON_HERE | ON_LIST),
	FLAG("time", OPT_TIME, ON_TRACE | ON_REPLAY),
	WITH("max-pause", OPT_MAX_PAUSE, ON_ATTACH | ON_CHANGE | ON_STOP),
	WITH("max-overhead", OPT_MAX_OVERHEAD, ON_ATTACH),
	FLAG("follow-exec", OPT_FOLLOW_EXEC, ON_HERE),
	FLAG("follow-fork", OPT_FOLLOW_FORK, ON_HERE),
	WITH("log", OPT_LOG, ON_ATTACH | ON_CHANGE | ON_SNAPSHOT | ON_STOP),
	FLAG("json", OPT_JSON, ON_TRACE | ON_COUNTS | ON_STATUS | ON_REPLAY),
	FLAG("quiet", 'q', ON_ALL),
	FLAG("verbose", 'v', ON_ALL),
	FLAG("no-color", OPT_NO_COLOR, ON_ALL),
	FLAG("short-names", OPT_SHORT_NAMES, ON_TRACE | ON_COUNTS | ON_LIST | ON_CALLS),
	FLAG("stubs", OPT_STUBS, ON_LIST),
	FLAG("force", OPT_FORCE, ON_STOP),
	FLAG("help", 'h', ON_ALL),
	FLAG("version", 'V', ON_ALL),
	WITH("keep", OPT_KEEP, ON_START),
	WITH("snapshot-on", OPT_SNAPSHOT_ON, ON_START),
	FLAG("wait", OPT_WAIT, ON_SNAPSHOT),
	WITH("max-size", OPT_MAX_SIZE, ON_RECORD),
	WITH("min-free", OPT_MIN_FREE, ON_RECORD),
	FLAG("rotate", OPT_ROTATE, ON_RECORD),
	FLAG("compress", OPT_COMPRESS, ON_RECORD),
	WITH("since", OPT_SINCE, ON_CALLS),
	WITH("until", OPT_UNTIL, ON_CALLS),
	FLAG("subtract-overhead", OPT_NET, ON_REPORT | ON_GRAPH | ON_EXPORT),
	WITH("sort", OPT_SORT, ON_REPORT | ON_TOP),
	WITH("diff", OPT_DIFF, ON_REPORT),
	WITH("to", OPT_TO, ON_EXPORT),
};

/* "-": words come in their place, so that those before "--" are known from
 * those behind it. ":": our own messages. */
static const char letters[] = "-:p:f:N:t:D:n:d:o:m:qvhV";

static const struct {
	const char *name;
	int on;
	enum verb verb;
} verbs[] = {
	{ "trace", ON_TRACE, VERB_TRACE },
	{ "record", ON_RECORD, VERB_RECORD },
	{ "count", ON_COUNT, VERB_COUNT },
	{ "hist", ON_HIST, VERB_HIST },
	{ "top", ON_TOP, VERB_TOP },
	{ "list", ON_LIST, VERB_LIST },
	{ "stop", ON_STOP, VERB_STOP },
	{ "start", ON_START, VERB_START },
	{ "status", ON_STATUS, VERB_STATUS },
	{ "snapshot", ON_SNAPSHOT, VERB_SNAPSHOT },
	{ "add", ON_ADD, VERB_ADD },
	{ "remove", ON_REMOVE, VERB_REMOVE },
	{ "replay", ON_REPLAY, VERB_REPLAY },
	{ "report", ON_REPORT, VERB_REPORT },
	{ "graph", ON_GRAPH, VERB_GRAPH },
	{ "info", ON_INFO, VERB_INFO },
	{ "export", ON_EXPORT, VERB_EXPORT },
};

static int find_verb(const char *word)
{
	for (size_t i = 0; i < ARRAY_SIZE(verbs); i++)
		if (strcmp(word, verbs[i].name) == 0)
			return (int)i;
	return -1;
}

/* The first word, where no option and no number stands: a verb that is misspelled, or a
 * command without the -- before it. */
static int unknown_verb(const char *word)
{
	const char *names[ARRAY_SIZE(verbs)], *near[2];
	size_t n;

	for (size_t i = 0; i < ARRAY_SIZE(verbs); i++)
		names[i] = verbs[i].name;
	n = words_near(names, ARRAY_SIZE(verbs), word, near, ARRAY_SIZE(near));
	if (!n)
		return fail(0, "unknown verb '%s'; inject --help has the verbs, and a command to "
			       "be started goes behind --", word);
	return fail(0, "unknown verb '%s'; is %s%s%s meant?", word, near[0],
		    n > 1 ? " or " : "", n > 1 ? near[1] : "");
}

static const struct option_def *find_def(int key)
{
	for (size_t i = 0; i < ARRAY_SIZE(defs); i++)
		if (defs[i].getopt.val == key)
			return &defs[i];
	return NULL;
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

static int span(const struct option_def *def, const char *text, uint64_t bare,
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

static int pattern_option(struct options *o, int key, const char *text)
{
	int err = check_pattern(key, text);
	struct pattern *p;

	if (err)
		return err;
	if (key == 'f')
		p = vec_push(o->include, o->ninclude, o->include_cap);
	else
		p = vec_push(o->exclude, o->nexclude, o->exclude_cap);
	return p ? pattern_parse(text, p) : -ENOMEM;
}

static int slow_option(struct options *o, const char *text)
{
	struct slow_call *slow = vec_push(o->slow, o->nslow, o->slow_cap);

	return slow ? options_slow(text, slow) : -ENOMEM;
}

static void set_flag(struct options *o, int key)
{
	switch (key) {
	case OPT_ROTATE: o->rotate = true; break;
	case OPT_NET: o->net = true; break;
	case OPT_WAIT: o->wait = true; break;
	case OPT_COMPRESS: o->compress = true; break;
	case OPT_ENTRY_ONLY: o->entry_only = true; break;
	case OPT_TRAP: o->trap = true; break;
	case OPT_TIME: o->time = true; break;
	case OPT_JSON: o->json = true; break;
	case OPT_FOLLOW_EXEC: o->follow_exec = true; break;
	case OPT_FOLLOW_FORK: o->follow_fork = true; break;
	case OPT_NO_COLOR: o->no_color = true; break;
	case OPT_FORCE: o->force = true; break;
	case OPT_SHORT_NAMES: o->short_names = true; break;
	case OPT_STUBS: o->stubs = true; break;
	case 'q': o->quiet = true; break;
	case 'v': o->verbose = true; break;
	case 'h': o->verb = VERB_HELP; break;
	case 'V': o->verb = VERB_VERSION; break;
	}
}

static int set(struct options *o, const struct option_def *def, const char *arg)
{
	int key = def->getopt.val;

	switch (key) {
	case 'p': return pid_option(def, arg, &o->pid);
	case OPT_TID: return pid_option(def, arg, &o->tid);
	case 'f': case 'N': return pattern_option(o, key, arg);
	case 't': return span(def, arg, 0, &o->min_duration);
	case 'd': return span(def, arg, SECOND, &o->duration);
	case OPT_MAX_PAUSE: return span(def, arg, 0, &o->max_pause);
	case 'D': return number(def, arg, UINT32_MAX, &o->depth);
	case 'n': return number(def, arg, UINT64_MAX, &o->calls);
	case 'o': return options_output(arg, &o->output);
	case OPT_LOG: o->log = arg; return 0;
	case 'm': return options_buffer(arg, &o->buffer);
	case OPT_MAX_OVERHEAD: return options_overhead(arg, &o->max_overhead);
	case OPT_KEEP: return options_keep(arg, &o->keep);
	case OPT_SNAPSHOT_ON: return slow_option(o, arg);
	case OPT_MAX_SIZE: return options_size(arg, &o->max_size);
	case OPT_MIN_FREE: return options_free(arg, &o->min_free);
	case OPT_SINCE: return span(def, arg, SECOND, &o->since);
	case OPT_UNTIL: return span(def, arg, SECOND, &o->until);
	case OPT_SORT: o->sort = arg; return 0;
	case OPT_DIFF: o->diff = arg; return 0;
	case OPT_TO: o->format = arg; return 0;
	}
	set_flag(o, key);
	return 0;
}

static bool reads_directory(enum verb verb)
{
	return verb == VERB_SNAPSHOT || (verb >= VERB_REPLAY && verb <= VERB_EXPORT);
}

/* A word that stands behind a pattern: what a shell has made of that, or a command. */
static int word_behind_pattern(const struct options *o, const char *text)
{
	const struct pattern *last = o->ninclude ? &o->include[o->ninclude - 1] :
		&o->exclude[o->nexclude - 1];

	if (access(last->glob, F_OK) == 0 && access(text, F_OK) == 0)
		return fail(0, "'%s' is left over, and '%s' is a file, too: the shell has expanded a pattern; quote it, as in -f '*'",
			    text, last->glob);
	if (!o->pid && strchr(text, '/') && access(text, X_OK) == 0)
		return fail(0, "'%s' is left over; a command goes behind --: -f '%s' -- %s",
			    text, last->glob, text);
	return fail(0, "'%s' is left over; did the shell expand a pattern? quote it, as in -f '%s*'; or a command? that goes behind --",
		    text, text);
}

/* A word that is no option: what is to be read, or a habit from elsewhere. */
static int word(struct options *o, const char *text)
{
	uint64_t n;

	if (o->verb == VERB_LIST) {
		const char **file = vec_push(o->files, o->nfiles, o->files_cap);

		if (!file)
			return fail(ENOMEM, "list %s", text);
		*file = text;
		return 0;
	}
	if (reads_directory(o->verb) && !o->directory) {
		o->directory = text;
		return 0;
	}
	if (find_verb(text) >= 0)
		return fail(0, "'%s' is left over; a verb comes first: inject %s ...", text, text);
	if (units_number(text, INT_MAX, &n) == 0)
		return fail(0, "'%s' is left over; a process is given as -p %s", text, text);
	if (o->ninclude || o->nexclude)
		return word_behind_pattern(o, text);
	return fail(0, "'%s' is left over; inject --help has the verbs", text);
}

/* What stands behind "--", if that was there. */
static int rest(struct options *o, char **argv, int argc, int at, bool dashes)
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
		err = word(o, argv[at]);
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
	if (optopt && find_def(optopt))
		return fail(0, "--%s takes no value", find_def(optopt)->getopt.name);
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
		return fail(0, "%s takes no %s; see inject --help", verb,
			    spelling(def, name));
	return 0;
}

static int missing_argument(int on, const char *verb, const char *arg)
{
	const struct option_def *def = find_def(optopt);
	int err = check_option(on, verb, def, arg);
	char name[32];

	if (err)
		return err;
	if (optopt == 'f' || optopt == 'N')
		return fail(0, "-%c wants a pattern, as in -%c 'net_*'", optopt, optopt);
	return fail(0, "%s wants a value; see inject --help", spelling(def, name));
}

/* --help and --version end the parse: nothing behind them can spoil it. */
static int parse_words(struct options *o, int argc, char **argv, int on,
		       const char *verb)
{
	struct option longs[ARRAY_SIZE(defs) + 1] = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(defs); i++)
		longs[i] = defs[i].getopt;
	optind = 0;
	opterr = 0;
	for (;;) {
		int at = optind ? optind : 1;
		int key = getopt_long(argc, argv, letters, longs, NULL);
		const struct option_def *def = find_def(key);
		int err;

		if (key == -1)
			return rest(o, argv, argc, optind, optind > at);
		if (key == 1)
			err = word(o, optarg);
		else if (key == '?')
			err = unknown_option(argv[at]);
		else if (key == ':')
			err = missing_argument(on, verb, argv[at]);
		else
			err = check_option(on, verb, def, argv[at]) ?:
			      set(o, def, optarg);
		if (err || o->verb == VERB_HELP || o->verb == VERB_VERSION)
			return err;
	}
}

int options_parse(int argc, char **argv, struct options *ret)
{
	int i = argc > 1 ? find_verb(argv[1]) : -1;
	int on = ON_TRACE, err;
	const char *verb = "trace";
	uint64_t pid;

	*ret = (struct options){ .max_pause = DEFAULT_MAX_PAUSE, .min_free = MIN_FREE_SHARE };
	if (i >= 0) {
		verb = verbs[i].name;
		on = verbs[i].on;
		ret->verb = verbs[i].verb;
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
	int verb = argc > 1 ? find_verb(argv[1]) : -1;

	if (verb >= 0 && !(verbs[verb].on & ON_HERE))
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
	for (size_t i = 0; i < o->nslow; i++)
		pattern_clear(&o->slow[i].function);
	free(o->slow);
	free(o->files);
	*o = (struct options){ 0 };
}
