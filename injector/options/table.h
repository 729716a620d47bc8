/* SPDX-License-Identifier: MIT */
/* table: the verbs, their options, and which verb takes which. */
#ifndef INJECTOR_OPTIONS_TABLE_H
#define INJECTOR_OPTIONS_TABLE_H

#include <getopt.h>

#include "injector/options/options.h"

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
	ON_SLOW = 131072,
	ON_FILTER = 262144,
	ON_COUNTS = ON_COUNT | ON_HIST | ON_TOP,
	ON_CHANGE = ON_ADD | ON_REMOVE,
	ON_SHOWN = ON_TRACE | ON_SLOW,	/* each call, as it happens */
	ON_LIVE = ON_SHOWN | ON_RECORD,
	ON_HERE = ON_LIVE | ON_COUNTS,	/* as long as we are there */
	ON_SPANS = ON_LIVE | ON_HIST | ON_TOP,
	ON_ATTACH = ON_HERE | ON_START,
	ON_RINGS = ON_LIVE | ON_START,	/* what passes is recorded; nothing else is */
	ON_CALLS = ON_REPLAY | ON_REPORT | ON_GRAPH | ON_EXPORT,
	ON_STARTED = ON_STATUS | ON_SNAPSHOT | ON_CHANGE | ON_FILTER,
	ON_ALL = ON_ATTACH | ON_LIST | ON_STOP | ON_STARTED | ON_CALLS | ON_INFO,
};

/* Options without a letter. */
enum {
	OPT_TID = 256, OPT_ENTRY_ONLY, OPT_TIME, OPT_MAX_PAUSE, OPT_JSON,
	OPT_NO_COLOR, OPT_FORCE, OPT_TRAP, OPT_KEEP, OPT_SORT, OPT_DIFF, OPT_TO,
	OPT_MAX_SIZE, OPT_ROTATE, OPT_SINCE, OPT_UNTIL, OPT_FOLLOW_FORK, OPT_LOG,
	OPT_COMPRESS, OPT_MAX_OVERHEAD, OPT_FOLLOW_EXEC, OPT_NET,
	OPT_SNAPSHOT_ON, OPT_WAIT, OPT_SHORT_NAMES, OPT_MIN_FREE, OPT_STUBS, OPT_DEEP,
	OPT_USDT, OPT_AT, OPT_BY, OPT_TOP, OPT_STACK, OPT_OFF_CPU,
	OPT_INLINED, OPT_UNGUARDED, OPT_AROUND, OPT_FROM, OPT_RECIPE, OPT_WITHIN,
};

struct option_def {
	struct option getopt;
	int verbs;		/* ON_* */
};

struct verb_def {
	const char *name;
	int on;
	enum verb verb;
	const struct way *way;	/* to record; NULL: it has none of its own */
};

enum { OPTION_DEFS = 57, VERB_DEFS = 19 };

extern const struct option_def option_defs[OPTION_DEFS];
extern const struct verb_def verb_defs[VERB_DEFS];

/* NULL: there is none. */
const struct verb_def *verb_named(const char *word);
/* Does it read one, or a word of the line name one? */
bool verb_reads_directory(enum verb);
const struct option_def *option_of(int key);

#endif
