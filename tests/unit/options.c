/* SPDX-License-Identifier: MIT */
/* Is every sentence about the command line true? */
#include "injector/options/table.h"

#include <stdio.h>
#include <string.h>

#include "injector/log/units.h"
#include "tests/unit/check.h"
#include "trace/export/export.h"

enum { MAX_WORDS = 32 };

/* Split at blanks; a word '' stands for an empty one. */
static int split(char *line, char *argv[MAX_WORDS])
{
	static char empty[] = "";
	int argc = 0;

	for (char *w = strtok(line, " "); w; w = strtok(NULL, " "))
		argv[argc++] = strcmp(w, "''") == 0 ? empty : w;
	argv[argc] = NULL;
	return argc;
}

static char line[512];

static int parse(const char *words, struct options *ret)
{
	char *argv[MAX_WORDS];

	fail_clear();
	snprintf(line, sizeof(line), "inject %s", words);
	return options_parse(split(line, argv), argv, ret);
}

/* What is refused, and words that the message must have. */
static const struct {
	const char *words, *says;
} refused[] = {
	{ "", "give -p PID" },
	{ "-p 1", "give -f 'GLOB'" },
	{ "-f x", "give -p PID" },
	{ "-p 1 -f", "-f wants a pattern" },
	{ "-f -p 1", "--follow-fork" },
	{ "-p 1 -N -f x", "-N wants a pattern" },
	{ "-p 1 -f ''", "" },
	{ "-p 1 -f f+1x", "no distance" },
	{ "-p 1 --usdt", "--usdt wants a value" },
	{ "-p 1 --usdt -q", "--usdt wants a value" },
	{ "-p 1 --usdt libc", "PROVIDER:NAME" },
	{ "list --usdt=x a.out", "PROVIDER:NAME" },
	{ "-p 1 --usdt a:b+4", "PROVIDER:NAME" },
	{ "remove -p 1 --usdt a:b", "remove takes no --usdt" },
	{ "add -p 1 --usdt a:b -t 1ms", "places for tracers" },
	{ "add -p 1 --usdt ab", "PROVIDER:NAME" },
	{ "add -f x -a", "give -p PID" },
	{ "-p 1 --at a.c", "FILE:LINE" },
	{ "-p 1 --at a.c:0", "FILE:LINE" },
	{ "-p 1 --at a.c:x", "FILE:LINE" },
	{ "-p 1 --at :4", "FILE:LINE" },
	{ "list --at src/:4 a.out", "FILE:LINE" },
	{ "replay --at a.c:4", "replay takes no --at" },
	{ "-p 1 --around x", "--around wants PROVIDER:NAME" },
	{ "add -p 1 --around a:b", "add takes no --around" },
	{ "-p 1 -f x --recipe locks", "trace takes no --recipe" },
	{ "slow -p 1 -f x", "give -t TIME" },
	{ "slow -p 1 -t 1ms", "--recipe NAME" },
	{ "slow -f x -t 1ms", "give -p PID" },
	{ "slow -p 1 -f x -t 1ms -a", "slow takes no -a" },
	{ "slow -p 1 -t 1ms --from x", "--from wants a --to" },
	{ "slow -p 1 -t 1ms --to x", "--to goes behind" },
	{ "slow -p 1 -t 1ms --from x --to y --from z", "--from wants a --to" },
	{ "slow -p 1 -t 1ms --from x+4 --to y", "--from wants a function" },
	{ "slow -p 1 -t 1ms --from x --to y -f z", "not both" },
	{ "slow -p 1 -t 1ms --from x --to y --around a:b", "not both" },
	{ "slow -p 1 -t 1ms --from x --to y -D 2", "-D is for calls" },
	{ "slow -p 1 -t 1ms -f x --by arg1", "--by tells spans apart" },
	{ "slow -p 1 -t 1ms --within x", "give -f GLOB, too" },
	{ "slow -p 1 -t 1ms --within x --around a:b", "not of --around" },
	{ "slow -p 1 -t 1ms -f y --within x -w a", "does not go with -w" },
	{ "slow -p 1 -t 1ms --from y --to z --within x", "does not go with --from" },
	{ "slow --recipe", "--recipe wants a value" },
	{ "slow --recipe /dev/null --recipe /dev/null", "given twice" },
	{ "replay --unguarded", "replay takes no --unguarded" },
	{ "replay --inlined", "replay takes no --inlined" },
	{ "-p nginx -f x", "pgrep" },
	{ "-p 0 -f x", "wants a number" },
	{ "-p -1 -f x", "wants a number" },
	{ "-p 99999999999 -f x", "wants a number" },
	{ "-p 1,2 -f x", "takes one PID, not a list" },
	{ "-p 1 -p 2 -f x", "given twice" },
	{ "-p 1 -f x a.c", "quote it" },
	{ "-p 1 -f x list", "verb comes first" },
	{ "-f x 4121", "-p 4121" },
	{ "4121", "-p 4121" },
	{ "nginx", "unknown verb 'nginx'; inject --help has the verbs" },
	{ "reocrd -p 1 -f x", "is record meant?" },
	{ "stats -p 1", "is status or start meant?" },
	{ "'' -p 1", "unknown verb ''" },
	{ "trace nginx", "'nginx' is left over; inject --help" },
	{ "-p 1 -f x -- a", "got both (1 and a)" },
	{ "-f x -- ''", "name of a command" },
	{ "-f x --tid 3 -- a", "--tid goes with -p" },
	{ "-- a", "give -f 'GLOB'" },
	{ "-f x --", "-- wants a command" },
	{ "hist -f x --", "-- wants a command" },
	{ "add -f x --", "give -p PID" },
	{ "-f x -o --", "give -p PID" },
	{ "-p 1 -f x -t 5", "wants a unit" },
	{ "-p 1 -f x -t 5x", "wants a time" },
	{ "-p 1 -f x -t -5ms", "wants a time" },
	{ "-p 1 -f x -t 0ms", "longer than zero" },
	{ "-p 1 -f x -t 99999999999m", "too long" },
	{ "-p 1 -f x -t 1.ms", "wants a time" },
	{ "-p 1 -f x -t .ms", "wants a time" },
	{ "-p 1 -f x -d .", "wants a time" },
	{ "-p 1 -f x -t .5", "wants a unit" },
	{ "-p 1 -f x -t 0", "wants a time longer than zero" },
	{ "-p 1 -f x -t 0ms", "wants a time longer than zero" },
	{ "-p 1 -f x --max-overhead .%", "wants a percentage" },
	{ "-p 1 -f x -t 1e3ms", "wants a time" },
	{ "-p 1 -f x -d 0", "longer than zero" },
	{ "-p 1 -f x -d 1h", "wants a time" },
	{ "-p 1 -f x --max-pause 50", "wants a unit" },
	{ "-p 1 -f x --max-overhead 0", "out of range" },
	{ "-p 1 -f x --max-overhead 0.001", "out of range" },
	{ "-p 1 -f x --max-overhead 100.1", "out of range" },
	{ "-p 1 -f x --max-overhead 5ms", "wants a percentage" },
	{ "-p 1 -f x --max-overhead 5.%", "wants a percentage" },
	{ "list a.out --max-overhead 5", "list takes no --max-overhead" },
	{ "top -p 1 -f x --follow-exec --follow-fork", "do not go together with top" },
	{ "start -p 1 -f x --follow-exec", "start takes no --follow-exec" },
	{ "-p 1 -f x -n 0", "from 1 up" },
	{ "-p 1 -f x -n many", "from 1 up" },
	{ "-p 1 -f x -D 0", "from 1 up" },
	{ "-p 1 -f x -D 5000000000", "too large" },
	{ "-p 1 -f x --tid x", "wants a number" },
	{ "-p 1 -f x -m 64K", "too small" },
	{ "-p 1 -f x -m 2G", "too large" },
	{ "-p 1 -f x -m lots", "wants a size" },
	{ "-p 1 -f x -o ''", "name of a file" },
	{ "-p 1 -f x -o", "-o wants a value" },
	{ "-p 1 -f x --entry-only -D 3", "-D needs to know when calls end" },
	{ "-p 1 -f x --entry-only -t 1ms", "-t needs to know when calls end" },
	{ "-p 1 -f x -z", "unknown option -z" },
	{ "-p 1 -f x -qz", "unknown option -z" },
	{ "-p 1 -f x --nosuch", "unknown option --nosuch" },
	{ "-p 1 -f x --nosuch=5", "unknown option --nosuch;" },
	{ "-p 1 -f x --dura 5", "is --duration meant" },
	{ "-p 1 -f x --json=yes", "--json takes no value" },
	{ "-p 1 -f x --force", "trace takes no --force" },
	{ "list", "give a file" },
	{ "list -p 1 a.out", "both" },
	{ "list a.out -d 5", "list takes no -d" },
	{ "list a.out --json", "list takes no --json" },
	{ "list a.out -t 1ms", "list takes no -t" },
	{ "stop", "stop -p PID" },
	{ "stop -p 1 -f x", "stop takes no -f" },
	{ "stop 1", "-p 1" },
	{ "stop -p 1 -o x", "stop takes no -o" },
	/* Later: by name. */
	{ "top -p 1 -f x --sort name", "sort by rate, wall" },
	{ "count -p 1 -f x -t 1ms", "-t" },
	{ "count -p 1", "no function" },
	{ "-p 1 -f x --snapshot-on x>5ms", "--snapshot-on" },
	{ "start -p 1 -f x --snapshot-on x", "a function and a time" },
	{ "start -p 1 -f x --snapshot-on x>5ms --keep first", "--keep last" },
	{ "snapshot dir --wait", "-p" },
	{ "hist", "no process named" },
	{ "hist -p 1 -f x --entry-only", "hist takes no --entry-only" },
	{ "syscalls", "unknown verb 'syscalls'" },
	{ "add -f x", "give -p PID" },
	{ "add -p 1", "give -f 'GLOB'" },
	{ "remove -f x", "give -p PID" },
	{ "remove -p 1", "give -f 'GLOB'" },
	{ "export", "no format named" },
	{ "export --to png", "the format is chrome, ctf" },
	{ "report --sort name", "sort by total" },
	{ "record -p 1", "give -f 'GLOB'" },
	{ "record -p 1 -f x --json", "record takes no --json" },
	{ "record -p 1 -f x -o -", "cannot go to standard output" },
	{ "start -p 1 -f x -o -", "cannot go to standard output" },
	{ "snapshot -p 1 -o -", "cannot go to standard output" },
	{ "record -p 1 -f x --max-size 1", "at least 1M" },
	{ "record -p 1 -f x --max-size x", "wants a size" },
	{ "record -p 1 -f x --rotate", "needs --max-size" },
	{ "record -p 1 -f x --min-free x", "wants a size such as 500M or 2G, or 0" },
	{ "record -p 1 -f x --min-free 10%", "wants a size" },
	{ "record -p 1 -f x --min-free 99999999999G", "too large" },
	{ "trace -p 1 -f x --min-free 1G", "takes no --min-free" },
	{ "record -p 1 -f x --short-names", "it keeps everything" },
	{ "start -p 1 -f x --short-names", "takes no --short-names" },
	{ "trace -p 1 -f x --stubs", "takes no --stubs" },
	{ "export --to chrome --subtract-overhead", "is for sums" },
	{ "export --to ctf -t 1ms", "keeps every call" },
	{ "replay --subtract-overhead", "takes no --subtract-overhead" },
	{ "replay -p 1", "replay takes no -p" },
	{ "replay a b", "'b' is left over" },
	{ "replay --since 2s --until 1s", "nothing is between" },
	{ "info -f x", "info takes no -f" },
	{ "list --sort calls a", "list takes no --sort" },
	{ "count -p 1 -f x -a", "count takes no -a" },
	{ "-p 1 -f x -A f(a:foo)", "-A 'f(a:foo)', column 5: no such type" },
	{ "-p 1 -f x -s 5000", "-s 5000 is too large; at most 1024" },
	{ "-p 1 -f x --stack=0", "--stack wants a number from 1 up" },
	{ "-p 1 -f x --stack=129", "--stack 129 is too large; at most 128" },
	{ "count -p 1 -f x --stack", "count takes no --stack" },
	{ "-p 1 -f x --deep x", "--deep wants a number from 1 up" },
	{ "-p 1 -f x --keep last", "trace takes no --keep" },
	{ "start -f x", "give start -p PID" },
	{ "start -p 1", "give -f 'GLOB'" },
	{ "start -p 1 -f x --keep middle", "first or last" },
	{ "start -p 1 -f x -d 1", "start takes no -d" },
	{ "record -p 1 -f x -t 5ms --max-overhead 5", "-t and --max-overhead do not go together" },
	{ "-p 1 -f x -w arg1 --max-overhead 5", "-w and --max-overhead do not go together" },
	{ "start -p 1 -f x -t 5ms --entry-only", "-t needs to know" },
	{ "filter -p 1", "give filter -p PID, and -t TIME" }, { "filter -t 1s", "give filter -p PID" },
	{ "filter -p 1 -t 0s", "longer than zero" },
	{ "filter -p 1 -D x", "a number from 1 up" }, { "filter -p 1 -a", "takes no -a" },
	{ "-p 1 -f x -t 0", "wants a" },
	{ "start -f x -- a", "'a' is left over" },
	{ "snapshot", "snapshot -p PID" },
	{ "snapshot -p 1 d", "snapshot DIR" },
	{ "snapshot a b", "'b' is left over" },
	{ "snapshot -p 1 -f x", "snapshot takes no -f" },
	{ "report --top 3", "--top goes with --by" },
	{ "report --by 3x", "--by wants the name of a value" },
	{ "graph --by *retval.x", "goes with report alone" },
	{ "export --to uftrace --by x", "formats that have chains of calls" },
	{ "hist -f x:arg1", "no process named, and no recording" },
	{ "hist -p 1 -f x --top 3", "--top is for values" },
	{ "hist -p 1 --usdt x:arg1 --top 3", "--top is for values" },
	{ "hist -p 1 --usdt x", "PROVIDER:NAME" },
	{ "hist -p 1 -f x -s 9", "go with a value" },
	{ "hist -p 1 dir -f x:y", "got both" },
	{ "hist dir x:y -d 1", "hist of a recording takes" },
	{ "hist -p 1 -f x:y --until 3", "are for recordings" },
	{ "hist -p 1 -f x:y --short-names", "does not go with values" },
	{ "status -f x", "status takes no -f" },
};

static void test_refused(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(refused); i++) {
		struct options o;
		int err = parse(refused[i].words, &o);

		if (err >= 0 || !strstr(fail_text(), refused[i].says) ||
		    strchr(fail_text(), '\n')) {
			failures++;
			printf("'%s': %d, says '%s', not '%s'\n", refused[i].words,
			       err, fail_text(), refused[i].says);
		}
		options_clear(&o);
	}
}

static const char *const accepted[] = {
	"-p 1 -f x", "trace -p 1 -f x", "-f x -p 1", "-p1 -fx", "--pid=1 --function=x",
	"--pid 1 --function x --", "-p 1 -f x -f y -N z", "-p 1 -f x@exe -f y@libc.so*",
	"-p 1 -f x -qv --no-color --time --json", "-p 1 -f x -n 18446744073709551615",
	"-p 1 -f x -o out.txt", "-p 1 -f x -o -", "stop -p 1", "stop -p 1 --force -q",
	"stop -p 1 --max-pause 1s --log f", "-p 1 -f x --log f --follow-fork", "list a.out", "list a b", "list -f x a.out",
	"list -- -odd-name", "record -p 1 -f x", "record -p 1 -f x -o dir --max-size 1M --rotate --compress",
	"record -p 1 -f x --min-free 0", "record -p 1 -f x --min-free 2G", "report --short-names",
	"list x --short-names", "list x --stubs", "top -p 1 -f x --short-names",
	"record -f x -- sleep 1", "hist -p 1 -f x:arg1 -m 1M -s 8 --deep 0 --top 5 -A x(a:i32)",
	"hist dir x:arg1 -f y", "hist dir --since 1 -n 5", "hist dir --since 0 --until 10s", "hist -p 1 -f a::b:retval y:p->q[2].z",
	"report --by fd --by *p --top 3 --json", "graph --by req.x", "export --to svg --by arg1", "count -p 1 -f x -N y -d 3 -n 9 --json", "count -f x -- ls", "status --json",
	"start -p 1 -f x -t 5ms -D 2 --keep first", "filter -p 1 -t 5ms", "filter -p 1 -w arg1 -D 2 -t 0", "filter -p 1 -D 0",
	"filter -p 1 -t 0 --log f",
	"start -p 1 -f x -a -A x(a:i32) -s 9 --deep 2 --stack=4 --unguarded --max-overhead 5",
	"start -p 1 -f x -t 5ms -w arg1 --max-overhead 5",
	"start -p 1 -f x --snapshot-on x>5ms --snapshot-on y*@exe>1s", "snapshot -p 1 --wait",
	"replay", "replay dir --time -t 1us -D 3 -n 5 --tid 7",
	"replay --since 1.5 --until 2s -f x -N y --json", "report dir --diff other --sort p99",
	"info dir", "graph dir -D 4", "export --to svg -o x.svg", "export dir --to uftrace",
	"export --to ctf -f x --tid 7 --since 1s",
	"list -p 1", "list -p 1 -f x -N y --entry-only --trap -o out", "-p 1 -f x --trap",
	"-p 1 -f x --tid 7", "-p 1 -f x --follow-exec", "record -p 1 -f x --follow-exec",
	"slow -p 1 -f x -t 1ms --stack=0", "slow -t 1ms -f x -- ls", "slow -p 1 --around a:b -t 1s",
	"slow -p 1 -f x -t 1ms --within y --within z",
	"slow -p 1 -t 1ms --from a::b:return --from c:first --to d:e --by fd --from x --to x:return",
	"count -p 1 --around a:b", "-f x -- ls", "trace -f x -d 3 -- ls -f -p", "-f x -- -odd-name",
};

static void test_accepted(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(accepted); i++) {
		struct options o;

		if (parse(accepted[i], &o)) {
			failures++;
			printf("'%s' is refused: %s\n", accepted[i], fail_text());
		}
		options_clear(&o);
	}
}

static void test_values(void)
{
	struct options o;

	CHECK(parse("-p 4121 -f a -N b@c -f d -t 1.5ms -d 2.25 -n 10 -D 3 --tid 9 "
		    "-m 300K --max-pause 7ms -o f", &o) == 0);
	CHECK(o.verb == VERB_TRACE && o.pid == 4121 && o.tid == 9);
	CHECK(o.ninclude == 2 && strcmp(o.include[1].name, "d") == 0);
	CHECK(o.nexclude == 1 && strcmp(o.exclude[0].module, "c") == 0);
	CHECK(o.min_duration == 1500000 && o.duration == 2250000000);
	CHECK(o.calls == 10 && o.depth == 3 && o.max_pause == 7000000);
	CHECK(o.buffer == 320 * 1024 && strcmp(o.output, "f") == 0);
	options_clear(&o);

	CHECK(parse("-p 1 -f a --max-overhead 2.25%", &o) == 0 && o.max_overhead == 225);
	options_clear(&o);
	CHECK(parse("record -p 1 -f a --max-overhead 100", &o) == 0 && o.max_overhead == 10000);
	options_clear(&o);

	CHECK(parse("-p 1 -f a --stack", &o) == 0 && o.stack == 32);
	options_clear(&o);
	CHECK(parse("record -p 1 -f a --stack=5", &o) == 0 && o.stack == 5);
	options_clear(&o);

	CHECK(parse("slow -p 1 -f a -t 1ms", &o) == 0 && o.stack == 8 && o.args && !o.npoints);
	options_clear(&o);
	CHECK(parse("slow -p 1 -t 1ms --from a::b:return --from p:n --to c --from d:first --to e",
		    &o) == 0 && o.npoints == 5 && o.ninclude == 4 && o.nusdt == 1 && !o.stack);
	CHECK(o.points[0].at_return && !o.points[0].usdt);
	CHECK(!strcmp(o.points[0].pattern.name, "a::b"));
	CHECK(o.points[1].usdt && !o.points[1].ends && !o.points[1].group);
	CHECK(o.points[2].ends && !o.points[2].group);
	CHECK(o.points[3].first && o.points[3].group == 1);
	CHECK(o.points[4].ends && !o.points[4].first && o.points[4].group == 1);
	options_clear(&o);

	CHECK(parse("-p 1 --usdt libc:* --usdt=a:b@c", &o) == 0 && o.nusdt == 2 && !o.ninclude);
	CHECK(strcmp(o.usdt[0].name, "libc:*") == 0 && strcmp(o.usdt[1].module, "c") == 0);
	options_clear(&o);
	CHECK(parse("-p 1 --at src/a.c:17@lib*", &o) == 0 && o.nat == 1 && o.at[0].offset == 17);
	CHECK(!strcmp(o.at[0].name, "src/a.c:17") && !strcmp(o.at[0].module, "lib*"));
	options_clear(&o);
	CHECK(parse("hist -p 1 -f a::b:x.y -f f@libc.so*:retval -f g:duration -f ns::h", &o) == 0);
	CHECK(o.ninclude == 4 && o.nvalues_of == 4 && options_by_value(&o) && o.args);
	CHECK(strcmp(o.include[0].glob, "a::b") == 0 && strcmp(o.values_of[0], "x.y") == 0);
	CHECK(strcmp(o.include[1].module, "libc.so*") == 0 && strcmp(o.values_of[1], "retval") == 0);
	CHECK(!o.values_of[2] && strcmp(o.include[2].glob, "g") == 0);
	CHECK(!o.values_of[3] && strcmp(o.include[3].glob, "ns::h") == 0);
	options_clear(&o);
	CHECK(parse("hist -p 1 -f g:duration", &o) == 0 && !options_by_value(&o) && !o.args);
	CHECK(o.keep == KEEP_LAST && options_way(&o) == &way_times);
	options_clear(&o);

	CHECK(parse("list --usdt a.out", &o) == 0 && o.nusdt == 1 && o.nfiles == 1);
	CHECK(strcmp(o.usdt[0].name, "*:*") == 0);
	options_clear(&o);
	CHECK(parse("count --usdt a:b -- ls --usdt", &o) == 0 && o.nusdt == 1);
	CHECK(strcmp(o.command[1], "--usdt") == 0);
	options_clear(&o);

	CHECK(parse("list -- -odd-name", &o) == 0);
	CHECK(o.verb == VERB_LIST && strcmp(o.files[0], "-odd-name") == 0);
	options_clear(&o);

	CHECK(parse("list -f x a b -- -c", &o) == 0 && o.nfiles == 3);
	CHECK(strcmp(o.files[1], "b") == 0 && strcmp(o.files[2], "-c") == 0);
	options_clear(&o);

	CHECK(parse("-f x -q -- ls -l --color", &o) == 0);
	CHECK(o.quiet && !o.pid && strcmp(o.command[0], "ls") == 0);
	CHECK(strcmp(o.command[2], "--color") == 0 && !o.command[3]);
	options_clear(&o);

	CHECK(parse("-p 1 -f x", &o) == 0);
	CHECK(o.max_pause == 50000000 && !o.buffer && !o.json && !o.quiet);
	options_clear(&o);
}

static void test_help(void)
{
	struct options o;

	CHECK(parse("--help", &o) == 0 && o.verb == VERB_HELP);
	CHECK(parse("-h", &o) == 0 && o.verb == VERB_HELP);
	CHECK(parse("list -h", &o) == 0 && o.verb == VERB_HELP);
	CHECK(parse("stop --version", &o) == 0 && o.verb == VERB_VERSION);
	CHECK(parse("-V -p", &o) == 0 && o.verb == VERB_VERSION);
	CHECK(parse("help", &o) == 0 && o.verb == VERB_HELP && !o.named);
	CHECK(parse("help top", &o) == 0 && o.verb == VERB_HELP && strcmp(o.named, "top") == 0);
	CHECK(parse("top -h", &o) == 0 && strcmp(o.named, "top") == 0);
	CHECK(parse("help tops", &o) < 0 && parse("help top x", &o) < 0);
	fail_clear();
}

/* How many lines of the text describe the option? */
static size_t described(const char *text, const char *name)
{
	char option[40];
	size_t n = 0;

	snprintf(option, sizeof(option), "--%s", name);
	for (const char *p = text; (p = strstr(p, option)); p += strlen(option))
		n += p >= text + 7 && p[-7] == '\n' && !strchr("-abcdefghijklmnopqrstuvwxyz",
								 p[strlen(option)]);
	return n;
}

static size_t lines_of(const char *text)
{
	size_t n = 0;

	for (const char *end; *text; text = end + 1, n++) {
		end = strchr(text, '\n');
		CHECK(end && end - text <= 80);
		if (!end)
			break;
	}
	return n;
}

/* --help fits a screen; that of a verb has each option that it takes once, and no other. */
static void test_help_text(void)
{
	auto_free char *all = help_text(NULL);

	CHECK(all && lines_of(all) <= 24);
	for (size_t i = 0; i < VERB_DEFS; i++) {
		const struct verb_def *v = &verb_defs[i];
		auto_free char *text = help_text(v->name);

		CHECK(text && lines_of(text) > 8 && strstr(all, v->name));
		for (size_t k = 0; text && k < OPTION_DEFS; k++) {
			const struct option_def *def = &option_defs[k];
			size_t want = (def->verbs & v->on) != 0;

			if (described(text, def->getopt.name) == want)
				continue;
			failures++;
			printf("help %s has --%s %zu times, not %zu\n", v->name,
			       def->getopt.name, described(text, def->getopt.name), want);
		}
	}
}

static void test_units(void)
{
	uint64_t v;

	CHECK(units_time("7ns", 0, &v) == 0 && v == 7);
	CHECK(units_time("7us", 0, &v) == 0 && v == 7000);
	CHECK(units_time("0.5s", 0, &v) == 0 && v == 500000000);
	CHECK(units_time("1.000000001s", 0, &v) == 0 && v == 1000000001);
	CHECK(units_time("2m", 0, &v) == 0 && v == 120000000000);
	CHECK(units_time("3", 1000000000, &v) == 0 && v == 3000000000);
	CHECK(units_time("0.1", 1000000000, &v) == 0 && v == 100000000);
	CHECK(units_time("1.5ns", 0, &v) == 0 && v == 1);
	CHECK(units_time(".2", 1000000000, &v) == 0 && v == 200000000);
	CHECK(units_time(".5ms", 0, &v) == 0 && v == 500000);
	CHECK(units_time(".", 1, &v) < 0 && units_time("..5s", 1, &v) < 0);
	CHECK(units_time("18446744073709551616ns", 0, &v) < 0);
	CHECK(units_time("", 1, &v) < 0 && units_time("ms", 1, &v) < 0);
	CHECK(units_time("1 ms", 1, &v) < 0 && units_time("1MS", 1, &v) < 0);
	CHECK(units_size("4M", &v) == 0 && v == 4 << 20);
	CHECK(units_size("65536", &v) == 0 && v == 65536);
	CHECK(units_size("1x", &v) < 0 && units_size("-1", &v) < 0);
	CHECK(units_size("99999999999999G", &v) < 0);
	CHECK(units_number("12", 12, &v) == 0 && v == 12);
	CHECK(units_number("13", 12, &v) < 0 && units_number("+1", 12, &v) < 0);
	CHECK(units_number(" 1", 12, &v) < 0 && units_number("0x1", 12, &v) < 0);
}

/* The shell completes the formats that there are, and no other. */
static void test_completion(void)
{
	char formats[256] = "\t\t_inject_words \"", said[256];
	const struct export_format *f;
	bool found = false;

	for (size_t i = 0; (f = export_format_at(i)); i++) {
		strcat(formats, i ? " " : "");
		strcat(formats, f->name);
	}
	strcat(formats, "\" \"$cur\"\n");
	/* Tests run in a directory of their own; ROOT is the tree's (tests/run). */
	const char *root = getenv("ROOT");
	char path[512];

	snprintf(path, sizeof(path), "%s/man/inject.bash", root ? root : ".");
	FILE *file = fopen(path, "re");

	CHECK(file);
	while (file && fgets(said, sizeof(said), file))
		found |= strcmp(said, formats) == 0;
	CHECK(found);
	if (file)
		fclose(file);
}

/* Is this one of the words that the shell offers? */
static bool offers(const char *words, const char *name)
{
	size_t n = strlen(name);

	for (const char *at = words; (at = strstr(at, name)); at += n)
		if (at - words >= 3 && !memcmp(at - 3, " --", 3) && strchr(" \n", at[n]))
			return true;
	return false;
}

static size_t count_long(const char *words)
{
	size_t n = 0;

	for (const char *at = words; (at = strstr(at, " --")); at++)
		n++;
	return n;
}

/* It completes the options that a verb has, and no other. */
static void test_completed_options(void)
{
	const char *root = getenv("ROOT");

	for (size_t i = 0; i < VERB_DEFS; i++) {
		char command[1024], words[4096] = " ";
		size_t have = 0;

		snprintf(command, sizeof(command), "exec bash -c '. \"$0\"; _inject_options %s' "
			 "%s/man/inject.bash", verb_defs[i].name, root ? root : ".");
		FILE *f = popen(command, "r");

		CHECK(f && fgets(words + 1, sizeof(words) - 1, f));
		CHECK(f && pclose(f) == 0);
		for (size_t k = 0; k < OPTION_DEFS; k++) {
			const struct option_def *o = &option_defs[k];
			bool has = o->verbs & verb_defs[i].on;

			have += has;
			if (has != offers(words, o->getopt.name)) {
				fprintf(stderr, "%s: --%s\n", verb_defs[i].name, o->getopt.name);
				failures++;
			}
		}
		CHECK(count_long(words) == have);
	}
}

int main(void)
{
	test_completion();
	test_completed_options();
	test_refused();
	test_accepted();
	test_values();
	test_help();
	test_help_text();
	test_units();
	if (!failures)
		printf("options: %zu refused, %zu accepted\n", ARRAY_SIZE(refused),
		       ARRAY_SIZE(accepted));
	return failures != 0;
}
