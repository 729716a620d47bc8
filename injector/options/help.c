/* SPDX-License-Identifier: MIT */
/* help: what does inject say of itself, and of one verb? */
#include "injector/options/table.h"

#include <stdio.h>
#include <string.h>

#include "injector/options/recipe.h"
#include "trace/export/export.h"

enum { INDENT = 29 };	/* where the text of an option begins */

static const char general[] =
"inject " INJECT_VERSION ": trace functions of running processes\n"
"\n"
"  inject -p PID -f GLOB      print each call until Ctrl-C, then leave (trace)\n"
"  inject -f GLOB -- COMMAND  the same of a program, from its start\n"
"  list -p PID | FILE         how each function would be probed; touches nothing\n"
"  slow -p PID -f GLOB -t TIME    only slow calls, with arguments and stack\n"
"  top, hist, count           which functions take the time; how long; how often\n"
"  record                     as trace, into a directory (inject.data)\n"
"  report, graph, replay, info [DIR]    what such a directory holds\n"
"  export --to FORMAT [DIR]   for other tools: svg (a flame graph), perfetto ...\n"
"  start -p PID -f GLOB       probe and leave: it goes on recording by itself\n"
"  status, add, remove, filter, snapshot -p PID   look at that, change, copy it\n"
"  stop -p PID                remove every probe, also of a killed inject\n"
"\n"
"GLOB is a shell pattern over names, quoted: 'net_*', 'SSL_*@libssl.so*',\n"
"'*@exe', malloc@plt. -N GLOB leaves some out, -d TIME ends it, -v says more.\n"
"\n"
"inject help VERB has all that a verb takes; man inject the rest, and examples.\n"
"Exit status: 0 done, 1 failed and the target unchanged, 2 usage, 3 nothing to\n"
"probe, 4 the target ended, 5 probes remain (inject stop goes on from there);\n"
"with -- COMMAND its own, 125 if it was not started, 126 and 127 as in a shell.\n";

/* How it is called, and what it does. */
static const struct {
	int on;
	const char *usage, *does;
} of_verbs[] = {
	{ ON_TRACE, "inject [trace] -p PID -f GLOB... | -f GLOB... -- COMMAND [ARG...]",
	  "Print each call with its duration until Ctrl-C, then remove every probe." },
	{ ON_SLOW, "inject slow -p PID -f GLOB -t TIME | --recipe NAME [-t TIME]",
	  "Only the calls that take so long, with arguments, result and stack: the process\n"
	  "sorts them out. Or the time from one call to another: --from, --to." },
	{ ON_RECORD, "inject record -p PID -f GLOB... | -f GLOB... -- COMMAND [ARG...]",
	  "As trace, into a directory: inject.data, or -o DIR. report and replay read it." },
	{ ON_COUNT, "inject count -p PID -f GLOB... | -f GLOB... -- COMMAND [ARG...]",
	  "How often each function is called: the target counts, nothing is recorded." },
	{ ON_HIST, "inject hist -p PID -f GLOB[:VALUE]... | -f GLOB... -- COMMAND | [DIR]",
	  "How long calls take: a histogram of each function, added up in the target.\n"
	  "With VALUE (arg1, retval, a name, req.size) how that value is spread: such calls\n"
	  "are recorded, and added up here. DIR is a recording; inject.data unless given." },
	{ ON_TOP, "inject top -p PID -f GLOB... | -f GLOB... -- COMMAND [ARG...]",
	  "Which functions take the time now: a table, drawn each second." },
	{ ON_LIST, "inject list -p PID | FILE... [-f GLOB]",
	  "How each function would be probed, or why not. Touches nothing." },
	{ ON_STOP, "inject stop -p PID",
	  "Remove every probe that start, or an inject that was killed, has left." },
	{ ON_START, "inject start -p PID -f GLOB... [-o DIR]",
	  "Probe and leave: the process goes on recording its last calls by itself." },
	{ ON_STATUS, "inject status [-p PID]", "What is probed and recorded, and where." },
	{ ON_SNAPSHOT, "inject snapshot -p PID | DIR [-o DIR]",
	  "Copy what a started process, or a file of start -o, holds to a directory." },
	{ ON_ADD, "inject add -p PID -f GLOB... [-a] [-w EXPR]",
	  "Probe more functions of a started process; -a, --stack, -w, -t, -D are theirs." },
	{ ON_REMOVE, "inject remove -p PID -f GLOB...", "Probe fewer." },
	{ ON_FILTER, "inject filter -p PID [-t TIME] [-w EXPR] [-D N]",
	  "Keep other calls from now on, where start -t or -w has begun that; -D always." },
	{ ON_REPLAY, "inject replay [DIR]", "Print the calls of a recording." },
	{ ON_REPORT, "inject report [DIR]", "Calls and times of each function of a recording." },
	{ ON_GRAPH, "inject graph [DIR]", "Which calls were made by which, those of a kind together." },
	{ ON_INFO, "inject info [DIR]", "What a recording holds." },
	{ ON_EXPORT, "inject export --to FORMAT [DIR]",
	  "For other tools. (svg is a flame graph, as it is.)" },
};

/* What an option does for these verbs, in the order in which help has them. Of each option
 * and each verb that takes it there is one (tests/unit/options.c). */
static const struct {
	int key, on;
	const char *value, *text;
} of_options[] = {
	{ 'p', ON_ALL, "PID", "the process" },
	{ 'f', ON_HIST, "GLOB[@MODULE][:VALUE]",
	  "a shell pattern over names, quoted; repeatable.\n"
	  "@exe is the executable, '@libc.so*' the C library;\n"
	  "without @MODULE: all but libc and the loader.\n"
	  "VALUE: arg1, retval, fd, req.size; else durations" },
	{ 'f', ON_ALL & ~ON_HIST, "GLOB[@MODULE]",
	  "a shell pattern over names, quoted; repeatable.\n"
	  "@exe is the executable, '@libc.so*' the C library;\n"
	  "without @MODULE: all but libc and the loader.\n"
	  "NAME@plt: calls into other libraries;\n"
	  "NAME+0x1c: a place within a function" },
	{ OPT_USDT, ON_LIST, "PROVIDER:NAME",
	  "places that the file's makers meant for tracers:\n"
	  "--usdt=GLOB:GLOB, or --usdt for all" },
	{ OPT_USDT, ON_HIST, "PROVIDER:NAME[:VALUE]",
	  "places that the program's makers meant for tracers;\n"
	  "VALUE: arg1, arg2; else how often. Repeatable" },
	{ OPT_USDT, ON_ALL & ~(ON_LIST | ON_HIST), "PROVIDER:NAME",
	  "places that the program's makers meant for tracers,\n"
	  "with their arguments; shell patterns, repeatable" },
	{ OPT_RECIPE, ON_ALL, "NAME", "what to look at in a well-known program: see below" },
	{ OPT_FROM, ON_ALL, "POINT", "where a span begins: GLOB, GLOB:return,\n"
	  "GLOB:first (unless one is open), or PROVIDER:NAME" },
	{ OPT_TO, ON_SLOW, "POINT", "and where it ends: in the same thread, or with the\n"
	  "same values of --by" },
	{ OPT_WITHIN, ON_ALL, "GLOB[@MODULE]", "with the calls of these that are made within them,\n"
	  "as short as they may be; repeatable" },
	{ OPT_AROUND, ON_ALL, "PROVIDER:NAME",
	  "functions that have such a place for tracers, also\n"
	  "in a stripped program; repeatable" },
	{ OPT_INLINED, ON_ALL, NULL, "of what -f matches also copies that were inlined:\n"
	  "with durations where it is certain where they end" },
	{ OPT_AT, ON_ALL, "FILE:LINE", "places where a line's code begins; with -a what\n"
	  "variables have there. Repeatable" },
	{ 'N', ON_ALL, "GLOB[@MODULE]", "leave these out; repeatable" },
	{ 'a', ON_ALL, NULL, "with arguments and results, by debug information\n"
	  "or a table of well-known functions" },
	{ 'A', ON_ALL, "'F(ARG:TYPE, ...)'", "with these, by hand, as in\n"
	  "-A 'f(fd:i32, s:str, ret:f64)'; repeatable" },
	{ 's', ON_ALL, "N", "bytes of a text or buffer that are shown (64)" },
	{ OPT_UNGUARDED, ON_ALL, NULL, "read memory where no C library tells before the\n"
	  "process sets a seccomp filter" },
	{ OPT_DEEP, ON_ALL, "N", "pointers followed, one behind the other (1)" },
	{ OPT_STACK, ON_SLOW, "[=N]", "callers shown (8; of spans 0)" },
	{ OPT_STACK, ON_ALL & ~ON_SLOW, "[=N]", "with its callers, up the stack: at most N (32)" },
	{ OPT_ENTRY_ONLY, ON_ALL, NULL, "probe entries only: no durations" },
	{ OPT_TRAP, ON_ALL, NULL,
	  "breakpoints where no jump has room: slow, and a\n"
	  "process that comes to block SIGTRAP would die" },
	{ OPT_STUBS, ON_ALL, NULL, "what would be written, and each stub's code" },
	{ 't', ON_FILTER, "TIME", "calls that take at least so long; 0: all" },
	{ 't', ON_ALL & ~ON_FILTER, "TIME", "calls that took at least so long" },
	{ 'w', ON_FILTER, "EXPR", "calls that this holds for; '': all" },
	{ 'w', ON_ALL & ~ON_FILTER, "EXPR", "calls that this holds for: 'len > 99 || retval < 0'" },
	{ 'D', ON_FILTER, "N", "the N outermost levels of calls; 0: all" },
	{ 'D', ON_ALL & ~ON_FILTER, "N", "the N outermost levels of calls" },
	{ OPT_TID, ON_ALL, "TID", "calls of one thread" },
	{ OPT_SINCE, ON_ALL, "TIME", "from then on, from the begin of the recording" },
	{ OPT_UNTIL, ON_ALL, "TIME", "and until then" },
	{ OPT_FOLLOW_FORK, ON_ALL, NULL, "of forked children, too" },
	{ OPT_FOLLOW_EXEC, ON_ALL, NULL, "of the programs that it executes" },
	{ 'd', ON_ALL, "TIME", "stop after TIME (a bare number is seconds)" },
	{ 'n', ON_ALL, "N", "stop after N calls" },
	{ 'o', ON_RECORD | ON_SNAPSHOT, "DIR", "the directory; inject.data unless given" },
	{ 'o', ON_START, "DIR", "of a file to record into: that survives a crash" },
	{ 'o', ON_ALL & ~(ON_RECORD | ON_SNAPSHOT | ON_START), "FILE",
	  "results to a file instead of standard output" },
	{ OPT_TO, ON_EXPORT, "FORMAT", "the format" },
	{ OPT_MAX_SIZE, ON_ALL, "SIZE", "stop when the directory is so large" },
	{ OPT_ROTATE, ON_ALL, NULL, "go on then, and drop the oldest" },
	{ OPT_MIN_FREE, ON_ALL, "SIZE",
	  "stop when the disk has no more left (0: no);\n"
	  "without --max-size: a tenth of what was free" },
	{ OPT_COMPRESS, ON_ALL, NULL, "by zstd, as it is written" },
	{ OPT_SORT, ON_REPORT, "KEY", "total, self, cpu, wait, calls, avg, min, max, p50\n"
	  "or p99" },
	{ OPT_SORT, ON_TOP, "KEY", "rate, wall, calls, total, self, cpu, wait, avg, p99\n"
	  "or max" },
	{ OPT_BY, ON_SLOW, "VALUE", "spans with other values apart: arg1, fd; repeatable" },
	{ OPT_BY, ON_GRAPH | ON_EXPORT, "VALUE", "calls with other values apart, as f(fd=3): arg1,\n"
	  "a name, or a member such as req.method; repeatable" },
	{ OPT_BY, ON_REPORT, "VALUE", "a line for each function and value: arg1, retval,\n"
	  "a name, or a member such as req.method; repeatable" },
	{ OPT_TOP, ON_HIST, "N", "so many texts, the others in one line (100)" },
	{ OPT_TOP, ON_REPORT, "N", "with --by: so many lines, the others in one (100)" },
	{ OPT_NET, ON_ALL, NULL, "less what recording took" },
	{ OPT_DIFF, ON_ALL, "DIR", "compare with another directory" },
	{ OPT_OFF_CPU, ON_LIVE, NULL, "how much of each call its thread had a processor,\n"
	  "and how much it waited, where the kernel tells us" },
	{ OPT_OFF_CPU, ON_HIST | ON_TOP, NULL, "how much of the time threads had a processor, and\n"
	  "how much they waited; calls are recorded for it" },
	{ OPT_TIME, ON_ALL, NULL, "wall clock at each line" },
	{ OPT_JSON, ON_ALL, NULL, "one JSON object per line" },
	{ OPT_SHORT_NAMES, ON_ALL, NULL, "std::vector<>::push_back: templates without their\n"
	  "arguments" },
	{ 'm', ON_ALL, "SIZE", "memory for records, per thread" },
	{ OPT_KEEP, ON_ALL, "first|last", "what a full buffer keeps (last)" },
	{ OPT_SNAPSHOT_ON, ON_ALL, "'GLOB > TIME'",
	  "keep what comes before and after a call that takes\n"
	  "longer, until a snapshot has it" },
	{ OPT_WAIT, ON_ALL, NULL, "wait for a call that --snapshot-on catches" },
	{ OPT_MAX_PAUSE, ON_ALL, "TIME", "give up rather than stop it longer (50ms)" },
	{ OPT_MAX_OVERHEAD, ON_START, "PERCENT",
	  "record functions no more that cost it more of its\n"
	  "time (10)" },
	{ OPT_MAX_OVERHEAD, ON_ALL & ~ON_START, "PERCENT",
	  "take out the probes that cost it more of its\n"
	  "processor time; the others stay" },
	{ OPT_FORCE, ON_ALL, NULL, "although another inject holds the target" },
	{ OPT_LOG, ON_ALL, "FILE", "also to FILE: user, command, and how it ended" },
	{ OPT_NO_COLOR, ON_ALL, NULL, "plain text on terminals too" },
	{ 'q', ON_ALL, NULL, "no banner, hints or progress" },
	{ 'v', ON_LIST, NULL, "say more: also the types of arguments and results" },
	{ 'v', ON_ALL & ~ON_LIST, NULL, "say more" },
	{ 'h', ON_ALL, NULL, "this text" },
	{ 'V', ON_ALL, NULL, "the version" },
};

/* "  -p, --pid PID", and a text of some lines beside it, or below it if that is too long. */
static void print_option(FILE *f, const struct option_def *def, const char *value,
			 const char *text)
{
	int key = def->getopt.val;
	char letter[8] = "    ";

	if (key < 256)
		snprintf(letter, sizeof(letter), "-%c, ", key);
	int n = fprintf(f, "  %s--%s%s%s", letter, def->getopt.name,
			value && *value != '[' ? " " : "",
			value ? value : "");
	if (n >= INDENT)
		n = fprintf(f, "\n") - 1;
	for (const char *end; ; text = end + 1, n = 0) {
		end = strchr(text, '\n');
		fprintf(f, "%*s%.*s\n", INDENT - n, "", end ? (int)(end - text) : (int)strlen(text),
			text);
		if (!end)
			return;
	}
}

static void print_recipes(FILE *f)
{
	auto_free char *list = recipe_list();

	fprintf(f, "\nRecipes, each a text file that may be read, and copied to\n"
		   "~/.config/inject/recipes, or given by its path:\n\n%s",
		list && *list ? list : "  None was found. They are sought there, in /etc/inject/recipes\n"
				       "  and in ../share/inject/recipes of the directory that inject is in.\n");
}

static void print_verb(FILE *f, const struct verb_def *verb)
{
	for (size_t i = 0; i < ARRAY_SIZE(of_verbs); i++)
		if (of_verbs[i].on == verb->on)
			fprintf(f, "%s\n\n%s\n\n", of_verbs[i].usage, of_verbs[i].does);
	for (size_t i = 0; i < ARRAY_SIZE(of_options); i++) {
		const struct option_def *def = option_of(of_options[i].key);

		if (def && of_options[i].on & def->verbs & verb->on)
			print_option(f, def, of_options[i].value, of_options[i].text);
	}
	if (verb->on == ON_SLOW)
		print_recipes(f);
	if (verb->on == ON_EXPORT)
		fprintf(f, "\nFORMAT: %s\n", export_names());
	fprintf(f, "\nTIME is a number with ns, us, ms, s or m; SIZE one with K, M or G.\n");
}

char *help_text(const char *name)
{
	const struct verb_def *verb = name ? verb_named(name) : NULL;
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	if (!f)
		return NULL;
	if (verb)
		print_verb(f, verb);
	else
		fputs(general, f);
	if (fclose(f) == 0)
		return text;
	free(text);
	return NULL;
}
