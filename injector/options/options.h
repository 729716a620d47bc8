/* SPDX-License-Identifier: MIT */
/* options: what does the command line ask for? */
#ifndef INJECTOR_OPTIONS_H
#define INJECTOR_OPTIONS_H

#include <sys/types.h>

#include "base/base.h"
#include "injector/modules/valued.h"
#include "injector/session/ways.h"
#include "payload/abi.h"
#include "symbols/symbols.h"
#include "trace/format/about.h"
#include "trace/read/spans.h"

/* What a line of top has, and by what lines are sorted. */
enum top_key { TOP_RATE, TOP_WALL, TOP_CALLS, TOP_TOTAL, TOP_SELF, TOP_CPU, TOP_WAIT, TOP_AVERAGE,
	       TOP_P99, TOP_MAX, TOP_KEYS };

enum verb {
	/* These may start a command. */
	VERB_TRACE,
	VERB_RECORD,
	VERB_COUNT,
	VERB_HIST,
	VERB_TOP,

	VERB_LIST,
	VERB_STOP,
	VERB_START,
	VERB_STATUS,
	VERB_SNAPSHOT,
	VERB_ADD,
	VERB_REMOVE,
	VERB_FILTER,
	VERB_REPLAY,
	VERB_REPORT,
	VERB_GRAPH,
	VERB_INFO,
	VERB_EXPORT,
	VERB_HELP,		/* print help_text(named) and exit 0 */
	VERB_VERSION,
};

/* What a full ring keeps. */
enum keep { KEEP_FIRST, KEEP_LAST };

/* A call that takes longer. */
struct slow_call {
	struct pattern function;
	uint64_t ns;
};

/* Strings are those of argv; patterns are owned. A 0 or NULL means "not
 * given", unless the field says otherwise. Times are in ns. */
struct options {
	enum verb verb;
	const char *named;	/* the verb's name, as given; NULL: none was */
	pid_t pid;
	const char *directory;	/* of a trace, to be read: see options_directory */
	const char **files;	/* of `list FILE...`; either these or a pid. The
				 * array is owned */
	size_t nfiles, files_cap;
	char **command;		/* of `-- COMMAND`, NULL behind its last word;
				 * exactly one of pid and command */
	char **environment;	/* for it; set by main */
	struct pattern *include, *exclude;
	size_t ninclude, include_cap, nexclude, exclude_cap;
	struct pattern *valued;	/* of hist: functions, and PROVIDER:NAME; they are in `include` or
				 * `usdt`, too */
	size_t nvalued, valued_cap;
	const char **values_of;	/* of each of these the value; NULL: its durations. The array is
				 * owned */
	size_t nvalues_of, values_of_cap;
	struct pattern *usdt;	/* of PROVIDER:NAME */
	size_t nusdt, usdt_cap;
	struct pattern *around;	/* of PROVIDER:NAME: functions that have such a place */
	size_t naround, around_cap;
	struct span_point *points;	/* --from and --to, in their order; their patterns are in
					 * `include` or `usdt`, too */
	size_t npoints, points_cap;
	struct pattern *within;	/* what is shown within slow calls; in `include`, too, behind
				 * the functions that these are of */
	size_t nwithin, within_cap;
	const char *recipe;	/* its name or path; NULL: none */
	char *recipe_text;	/* what that has; owned, and values refer to it */
	struct pattern *at;	/* of FILE:LINE; `offset` is the line */
	size_t nat, at_cap;
	bool inlined;
	bool unguarded;		/* read memory although a seccomp filter could come unseen */
	struct slow_call *slow;	/* --snapshot-on; owned */
	size_t nslow, slow_cap;
	struct hand_spec *by_hand;	/* -A; owned */
	size_t nby_hand, by_hand_cap;
	struct compile_options values;	/* -s and --deep */
	uint64_t min_duration;	/* -t */
	bool all;		/* -t 0 of filter: however short */
	const char *when;	/* -w; of filter "": none any more */
	uint64_t depth;		/* -D: calls at a depth below this one */
	bool all_depths;	/* -D 0 of filter */
	uint64_t calls;		/* -n */
	uint64_t duration;	/* -d */
	pid_t tid;
	const char *output;	/* -o; NULL: standard output */
	uint64_t buffer;	/* -m: bytes per thread, whole sub-buffers */
	enum keep keep;
	uint64_t max_size;	/* of a recording, in bytes */
	uint64_t min_free;	/* see options_min_free */
	uint64_t since, until;	/* from the begin of a recording */
	bool net;		/* --subtract-overhead */
	const char **by;	/* --by: names of values; the array is owned */
	size_t nby, by_cap;
	uint64_t top;		/* --top: lines, and the others in one */
	bool off_cpu;
	const char *sort, *diff, *format;
	uint64_t max_pause;	/* 50 ms unless given */
	uint32_t max_overhead;	/* in hundredths of a percent */
	bool args;		/* -a */
	bool slow_only;		/* `slow`: trace of what takes long, with all about it */
	uint32_t stack;		/* --stack: callers of each call; 0: none */
	bool rotate, compress, entry_only, trap, time, json, quiet, verbose, no_color, force;
	bool follow_fork, follow_exec, wait, short_names, stubs;
	const char *log;	/* --log; NULL: the system's only */
};

/*
 * 0, or a negative error with a message that names the next step: the exit
 * status is then 2. options_clear() is right after either.
 */
int options_parse(int argc, char **argv, struct options *ret);
/* The last part of it: do they go together, and is none missing? */
int options_check(const struct options *);
/* Is a command to be started, as far as can be said of a line that was refused? */
bool options_launch(int argc, char **argv);
void options_clear(struct options *);
/* As record_options has it: what was given, or else nothing where there is a limit to the
 * size, and a share where there is none. */
uint64_t options_min_free(const struct options *);
/* Which calls are recorded, and all others left out. */
struct about_filter options_filter(const struct options *);
/* Which values are to be read. */
/* Are values read of anything? */
bool options_reads(const struct options *);
struct valued_options options_valued(const struct options *, bool later);
/* -t and -D as terms of a condition, with another one (NULL: none); NULL in *ret: nothing is asked.
 * 0 or -ENOMEM. */
int options_terms(const struct options *, const char *when, char **ret);
#define DEFAULT_DIRECTORY "inject.data"
#define DEFAULT_MAX_PAUSE 50000000ull
/* Is a recording to be read, and no process? */
bool options_recorded(const struct options *);
/* The trace directory that is to be written or read. */
const char *options_directory(const struct options *);

/* What inject --help says, and inject help VERB, or VERB --help (`verb` a name, or NULL).
 * Owned by the caller; NULL: no memory. */
char *help_text(const char *verb);

/* What is to become of calls where this verb asks for them? Those are recorded of which a value is
 * to be shown. */
const struct way *options_way(const struct options *);
/* Is a value of a function asked for, and not its calls alone? */
bool options_by_value(const struct options *);

#endif
