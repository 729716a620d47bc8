/* SPDX-License-Identifier: MIT */
#include "injector/options/table.h"

#include <string.h>

#define WITH(name, key, verbs) { { name, required_argument, NULL, key }, verbs }
#define FLAG(name, key, verbs) { { name, no_argument, NULL, key }, verbs }

const struct option_def option_defs[OPTION_DEFS] = {
	WITH("pid", 'p', ON_ATTACH | ON_LIST | ON_STOP | ON_STARTED),
	WITH("function", 'f', ON_ATTACH | ON_CHANGE | ON_LIST | ON_CALLS),
	WITH("exclude", 'N', ON_ATTACH | ON_CHANGE | ON_LIST | ON_CALLS),
	/* Its value may be left out, by list alone: options_usdt has it otherwise. */
	{ { "usdt", optional_argument, NULL, OPT_USDT },
	  (ON_ATTACH | ON_LIST | ON_ADD) & ~ON_SLOW },
	WITH("around", OPT_AROUND, ON_ATTACH | ON_LIST),
	WITH("at", OPT_AT, (ON_ATTACH | ON_LIST) & ~ON_SLOW),
	FLAG("inlined", OPT_INLINED, (ON_ATTACH | ON_LIST) & ~ON_SLOW),
	WITH("recipe", OPT_RECIPE, ON_SLOW),
	WITH("from", OPT_FROM, ON_SLOW),
	WITH("within", OPT_WITHIN, ON_SLOW),
	WITH("min-duration", 't', ON_RINGS | ON_CALLS | ON_FILTER | ON_ADD),
	WITH("when", 'w', ON_RINGS | ON_FILTER | ON_ADD),
	WITH("depth", 'D', ON_RINGS | ON_CALLS | ON_FILTER | ON_ADD),
	WITH("calls", 'n', ON_HERE | ON_CALLS),
	WITH("duration", 'd', ON_HERE),
	WITH("tid", OPT_TID, ON_HERE | ON_CALLS),
	WITH("output", 'o', ON_ATTACH | ON_LIST | ON_SNAPSHOT | ON_CALLS | ON_INFO),
	WITH("buffer", 'm', ON_RINGS | ON_HIST),
	FLAG("args", 'a', (ON_RINGS | ON_ADD) & ~ON_SLOW),
	WITH("arg", 'A', ON_RINGS | ON_HIST | ON_ADD),
	FLAG("unguarded", OPT_UNGUARDED, ON_RINGS | ON_ADD),
	WITH("string", 's', ON_RINGS | ON_HIST | ON_LIST | ON_ADD),
	WITH("deep", OPT_DEEP, ON_RINGS | ON_HIST | ON_LIST | ON_ADD),
	{ { "stack", optional_argument, NULL, OPT_STACK }, ON_RINGS | ON_ADD },
	FLAG("entry-only", OPT_ENTRY_ONLY, (ON_RINGS | ON_ADD | ON_LIST) & ~ON_SLOW),
	FLAG("trap", OPT_TRAP, ON_HERE | ON_LIST),
	FLAG("off-cpu", OPT_OFF_CPU, ON_SPANS),
	FLAG("time", OPT_TIME, ON_SHOWN | ON_REPLAY),
	WITH("max-pause", OPT_MAX_PAUSE, ON_ATTACH | ON_CHANGE | ON_STOP),
	WITH("max-overhead", OPT_MAX_OVERHEAD, ON_ATTACH & ~ON_SLOW),
	FLAG("follow-exec", OPT_FOLLOW_EXEC, ON_HERE),
	FLAG("follow-fork", OPT_FOLLOW_FORK, ON_HERE),
	WITH("log", OPT_LOG, ON_ATTACH | ON_CHANGE | ON_FILTER | ON_SNAPSHOT | ON_STOP),
	FLAG("json", OPT_JSON, ON_SHOWN | ON_COUNTS | ON_STATUS | ON_REPLAY | ON_REPORT),
	FLAG("quiet", 'q', ON_ALL),
	FLAG("verbose", 'v', ON_ALL),
	FLAG("no-color", OPT_NO_COLOR, ON_ALL),
	FLAG("short-names", OPT_SHORT_NAMES, ON_SHOWN | ON_COUNTS | ON_LIST | ON_CALLS),
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
	WITH("since", OPT_SINCE, ON_CALLS | ON_HIST),
	WITH("until", OPT_UNTIL, ON_CALLS | ON_HIST),
	FLAG("subtract-overhead", OPT_NET, ON_REPORT | ON_GRAPH | ON_EXPORT),
	WITH("sort", OPT_SORT, ON_REPORT | ON_TOP),
	WITH("diff", OPT_DIFF, ON_REPORT),
	WITH("to", OPT_TO, ON_SLOW | ON_EXPORT),
	WITH("by", OPT_BY, ON_SLOW | ON_REPORT | ON_GRAPH | ON_EXPORT),
	WITH("top", OPT_TOP, ON_REPORT | ON_HIST),
};

const struct verb_def verb_defs[VERB_DEFS] = {
	{ "trace", ON_TRACE, VERB_TRACE, NULL },
	{ "slow", ON_SLOW, VERB_TRACE, NULL },
	{ "record", ON_RECORD, VERB_RECORD, NULL },
	{ "count", ON_COUNT, VERB_COUNT, &way_counts },
	{ "hist", ON_HIST, VERB_HIST, &way_times },
	{ "top", ON_TOP, VERB_TOP, &way_times },
	{ "list", ON_LIST, VERB_LIST, NULL },
	{ "stop", ON_STOP, VERB_STOP, NULL },
	{ "start", ON_START, VERB_START, NULL },
	{ "status", ON_STATUS, VERB_STATUS, NULL },
	{ "snapshot", ON_SNAPSHOT, VERB_SNAPSHOT, NULL },
	{ "add", ON_ADD, VERB_ADD, NULL },
	{ "remove", ON_REMOVE, VERB_REMOVE, NULL },
	{ "filter", ON_FILTER, VERB_FILTER, NULL },
	{ "replay", ON_REPLAY, VERB_REPLAY, NULL },
	{ "report", ON_REPORT, VERB_REPORT, NULL },
	{ "graph", ON_GRAPH, VERB_GRAPH, NULL },
	{ "info", ON_INFO, VERB_INFO, NULL },
	{ "export", ON_EXPORT, VERB_EXPORT, NULL },
};

const struct verb_def *verb_named(const char *word)
{
	for (size_t i = 0; i < VERB_DEFS; i++)
		if (strcmp(word, verb_defs[i].name) == 0)
			return &verb_defs[i];
	return NULL;
}

bool verb_reads_directory(enum verb verb)
{
	return verb == VERB_SNAPSHOT || (verb >= VERB_REPLAY && verb <= VERB_EXPORT);
}

bool options_recorded(const struct options *o)
{
	return verb_reads_directory(o->verb) || (o->verb == VERB_HIST && !o->pid && !o->command);
}

bool options_by_value(const struct options *o)
{
	for (size_t i = 0; i < o->nvalues_of; i++)
		if (o->values_of[i])
			return true;
	return false;
}

const struct way *options_way(const struct options *o)
{
	for (size_t i = 0; i < VERB_DEFS && !options_by_value(o); i++)
		if (verb_defs[i].verb == o->verb && verb_defs[i].way)
			return verb_defs[i].way;
	return &way_records;
}

const struct option_def *option_of(int key)
{
	for (size_t i = 0; i < OPTION_DEFS; i++)
		if (option_defs[i].getopt.val == key)
			return &option_defs[i];
	return NULL;
}
