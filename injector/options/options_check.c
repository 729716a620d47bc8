/* SPDX-License-Identifier: MIT */
/* options_check: do the options of a verb go together, and is none missing? */
#include <ctype.h>
#include <string.h>
#include <unistd.h>

#include "injector/options/options.h"
#include "injector/options/options_values.h"
#include "trace/export/export.h"
#include "trace/show/report.h"

static int check_trace(const struct options *o)
{
	if (!o->pid && !o->command)
		return fail(0, "no process named; give -p PID (`pgrep -l NAME` "
			       "finds it) or -- COMMAND, or see inject --help");
	if (o->pid && o->command)
		return fail(0, "give -p PID or -- COMMAND; got both (%d and %s)",
			    o->pid, o->command[0]);
	if (o->command && !o->command[0][0])
		return fail(0, "-- wants the name of a command");
	if (o->command && o->tid)
		return fail(0, "--tid goes with -p: a thread of %s that has not started has no "
			       "number yet", o->command[0]);
	if (!o->ninclude && !o->nusdt && !o->nat && !o->naround)
		return fail(0, "no function named; give -f 'GLOB', or -f '*' for "
			       "all but the C library");
	if (o->follow_exec && o->follow_fork && o->verb == VERB_TOP)
		return fail(0, "--follow-exec and --follow-fork do not go together with top, which "
			       "shows one program at a time; give one of them, or inject count");
	if (o->max_overhead && o->follow_fork && options_way(o)->room)
		return fail(0, "--max-overhead and --follow-fork do not go together here: calls "
			       "of all processes are counted as one; give one of them");
	if (o->rotate && !o->max_size)
		return fail(0, "--rotate needs --max-size: what is older than fits is dropped");
	if (o->entry_only && (o->min_duration || o->depth))
		return fail(0, "%s needs to know when calls end, which --entry-only does not "
			       "record; give one of them", o->min_duration ? "-t" : "-D");
	if ((o->verb == VERB_RECORD || o->verb == VERB_TRACE) && o->max_overhead &&
	    (o->min_duration || o->when))
		return fail(0, "%s and --max-overhead do not go together here: what calls cost is "
			       "judged by those that are recorded; give one of them, or inject start",
			    o->min_duration ? "-t" : "-w");
	return 0;
}

static int check_points(const struct options *o)
{
	size_t functions = 0;
	bool ends = true;

	for (size_t i = 0; i < o->npoints; i++) {
		if (o->points[i].ends ? !i : !ends && o->points[i].group != o->points[i - 1].group)
			return fail(0, "--to goes behind the --from that it ends");
		ends = o->points[i].ends;
		functions += !o->points[i].usdt;
	}
	if (!ends)
		return fail(0, "--from wants a --to behind it: where the span ends");
	if (o->ninclude > functions || o->naround)
		return fail(0, "give functions (-f, --around) or spans (--from, --to), not both");
	if (o->depth || o->off_cpu)
		return fail(0, "%s is for calls, and does not go with --from and --to",
			    o->depth ? "-D" : "--off-cpu");
	return 0;
}

static int check_slow(const struct options *o)
{
	if (!o->min_duration)
		return fail(0, "slow wants to know how slow: give -t TIME, as in -t 10ms");
	if (!o->ninclude && !o->nusdt && !o->naround)
		return fail(0, "no function named; give -f 'GLOB', --from and --to, or --recipe NAME "
			       "(inject help slow has their names)");
	if (o->nwithin && (o->npoints || o->when || o->depth))
		return fail(0, "--within is for all calls of functions, and does not go with %s",
			    o->npoints ? "--from and --to" : o->when ? "-w" : "-D");
	if (o->nwithin && (o->ninclude == o->nwithin || o->naround))
		return fail(0, "--within is for what calls of -f make%s",
			    o->naround ? ", not of --around" : ": give -f GLOB, too");
	if (o->npoints)
		return check_points(o);
	return o->nby ? fail(0, "--by tells spans apart, and goes with --from and --to") : 0;
}

static int check_start(const struct options *o)
{
	if (o->nslow && o->keep == KEEP_FIRST)
		return fail(0, "--snapshot-on needs --keep last: it is about what came before");
	return 0;
}

static int check_range(const struct options *o)
{
	if (o->until && o->until <= o->since)
		return fail(0, "--until lies before --since: nothing is between them");
	return 0;
}

static int check_report(const struct options *o)
{
	enum report_key key;

	if (o->top && !o->nby)
		return fail(0, "--top goes with --by: without it there is a line for each function");
	return o->sort ? report_key(o->sort, &key) : 0;
}

/* What is for a process alone. */
static bool is_for_process(const struct options *o)
{
	return o->duration || o->max_overhead || o->log || o->follow_exec || o->follow_fork ||
		o->trap || o->buffer || o->off_cpu || o->nby_hand || o->nusdt || o->values.text ||
		o->values.deep != COMPILE_DEEP || o->max_pause != DEFAULT_MAX_PAUSE;
}

static int check_hist(const struct options *o)
{
	bool valued = options_by_value(o);

	if (!options_recorded(o) && o->directory)
		return fail(0, "give a process or a recording; got both (%s is left over)",
			    o->directory);
	if (options_recorded(o) && !o->directory && access(DEFAULT_DIRECTORY, F_OK) != 0)
		return fail(0, "no process named, and no recording: give -p PID (`pgrep -l NAME` "
			       "finds it), -- COMMAND, or a trace directory");
	if (options_recorded(o) && is_for_process(o))
		return fail(0, "hist of a recording takes -f, -N, -n, --tid, --since, --until and "
			       "--top; for a process give -p PID");
	if (!options_recorded(o) && (o->since || o->until))
		return fail(0, "--since and --until are for recordings");
	if (!valued && o->top)
		return fail(0, "--top is for values that are no numbers, as in -f 'open:path'");
	if (!valued && (o->buffer || o->nby_hand || o->values.text ||
			o->values.deep != COMPILE_DEEP))
		return fail(0, "-m, -A, -s and --deep go with a value, as in -f 'read:arg3'");
	if (valued && o->off_cpu)
		return fail(0, "--off-cpu is for durations, and does not go with values");
	if (valued && o->short_names && !options_recorded(o))
		return fail(0, "--short-names does not go with values here: functions are known by "
			       "their whole names; give one of them");
	return options_recorded(o) ? check_range(o) : check_trace(o);
}

static int check_top(const struct options *o)
{
	enum top_key key;

	int err = o->sort ? options_top(o->sort, &key) : 0;

	if (!err && o->sort && (key == TOP_CPU || key == TOP_WAIT) && !o->off_cpu)
		return fail(0, "--sort %s needs --off-cpu, which tells when threads have no processor",
			    o->sort);
	return err;
}

/* What is only known at a call's end cannot tell it from others as it begins. */
static int check_by(const struct options *o)
{
	for (size_t i = 0; i < o->nby; i++) {
		const char *name = o->by[i] + strspn(o->by[i], "*");

		if (!strncmp(name, "retval", 6) && name[6] != '_' &&
		    !isalnum((unsigned char)name[6]))
			return fail(0, "--by %s goes with report alone: here calls are told by what "
				       "is known as they begin", o->by[i]);
	}
	return 0;
}

static int check_export(const struct options *o)
{
	const struct export_format *format;

	if (!o->format)
		return fail(0, "no format named; give --to %s", export_names());
	int err = export_find(o->format, &format);
	if (!err && o->net && format->moments)
		return fail(0, "--subtract-overhead is for sums; %s shows when calls were",
			    o->format);
	if (!err && o->nby && !format->chains)
		return fail(0, "--by is for formats that have chains of calls: folded, svg, "
			       "speedscope, dot and pprof");
	if (!err && format->events && (o->min_duration || o->depth || o->calls))
		return fail(0, "--to %s keeps every call of the functions, threads and times "
			       "chosen: -t, -D and -n are not for it", o->format);
	return err;
}

static int check_list(const struct options *o)
{
	if (o->pid && o->nfiles)
		return fail(0, "list takes files or -p PID; got both (%s and %d)",
			    o->files[0], o->pid);
	if (!o->pid && !o->nfiles)
		return fail(0, "nothing to list; give a file, or -p PID");
	return 0;
}

static int check_change(const struct options *o)
{
	if (!o->pid)
		return fail(0, "no process named; give -p PID, and -f GLOB");
	if (o->min_duration && o->nusdt)
		return fail(0, "-t is for calls, and places for tracers (--usdt) are none: add them "
			       "without it");
	return check_trace(o);
}

/* What is recorded is files, or one that is mapped. */
static int check_output(const struct options *o)
{
	bool files = o->verb == VERB_RECORD || o->verb == VERB_SNAPSHOT || o->verb == VERB_START;

	return files && o->output && !strcmp(o->output, "-") ?
		fail(0, "a recording is a directory, and cannot go to standard output; give -o DIR "
			"(inject export writes one to standard output)") : 0;
}

int options_check(const struct options *o)
{
	int err = check_output(o);

	if (err)
		return err;
	switch (o->verb) {
	case VERB_TRACE:
		return (o->slow_only ? check_slow(o) : 0) ?: check_trace(o);
	case VERB_RECORD:
	case VERB_COUNT:
		return check_trace(o);
	case VERB_HIST:
		return check_hist(o);
	case VERB_TOP:
		return check_top(o) ?: check_trace(o);
	case VERB_ADD:
	case VERB_REMOVE:
		return check_change(o);
	case VERB_FILTER:
		return o->pid && (o->min_duration || o->all || o->when || o->depth ||
				  o->all_depths) ? 0 :
			fail(0, "give filter -p PID, and -t TIME, -w EXPR or -D N; -t 0, -w '' and "
			     "-D 0 end them");
	case VERB_START:
		return !o->pid ? fail(0, "no process named; give start -p PID -f GLOB") :
			check_start(o) ?: check_trace(o);
	case VERB_LIST:
		return check_list(o);
	case VERB_STOP:
		return o->pid ? 0 : fail(0, "no process named; give stop -p PID");
	case VERB_SNAPSHOT:
		return !o->pid == !o->directory ?
			fail(0, "name a process, or a directory of start -o: give snapshot -p PID, "
				"or snapshot DIR") :
			o->wait && !o->pid ? fail(0, "--wait goes with -p: a directory does not "
						  "change") : 0;
	case VERB_REPORT:
		return check_report(o) ?: check_range(o);
	case VERB_REPLAY:
		return check_range(o);
	case VERB_GRAPH:
		return check_by(o) ?: check_range(o);
	case VERB_EXPORT:
		return check_export(o) ?: check_by(o) ?: check_range(o);
	case VERB_STATUS:
	case VERB_INFO:
	case VERB_HELP:
	case VERB_VERSION:
		break;
	}
	return 0;
}
