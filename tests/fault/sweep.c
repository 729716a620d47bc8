/* SPDX-License-Identifier: MIT */
/*
 * sweep HOW STATE VICTIM[,ARG...] [INJECT-ARG...]: does the target live on,
 * and is its text what its file holds, whichever system call of inject fails?
 *
 * Runs inject with its 1st, 2nd, 3rd ... system call failing (HOW `fail`), or
 * killed before it (`kill`), until several runs in a row make no n-th call any
 * more: those have succeeded, and so every call was taken. After each run the
 * victim is judged; a victim that is still well serves for the next point.
 * STATE of the victim before each:
 *
 *	fresh	inject has never mapped anything in it
 *	again	one whole trace has visited it before
 *	probed	a trace was killed while its probes were in
 *	started	inject start has left its probes in, to go on
 *
 * A lone @ among INJECT-ARGs stands for the victim's PID; without any, inject
 * traces for a moment. The environment has INJECT, TEXTCHECK and VICTIMS (a
 * directory), and:
 *
 *	ONLY=NR		only calls of that number count
 *	STRIDE=N	only every N-th of them is taken
 *	SEED=N		others of each N
 *	FROM=thread	counting begins with inject's second thread, before which it
 *			only reads, as inject list does
 *	ERRNO=N		each fails with this one and not with several in turn
 *	PACE=own	inject goes at its own pace (injector/ptrace/pace.h), otherwise at an
 *			equal one, which waits for no idle processor where none ever is
 *	TELL=WORD[,WORD] the victim is told the first once the probes are in, and the
 *			second when it has been judged, its children with it
 *	PROGRAMS=N	a run that says less than N times that it has put probes in
 *			is no end
 *
 * sweep.log gets a line per point. Exit status 0: no harm was done, and the end was
 * reached.
 */
#include "tests/fault/sweep_victim.h"

/* What inject says when it has put in probes. */
#define PAUSED "inject: paused "

/* How long a target may be stopped is not asked here, where many are at work. */
#define PATIENT (char *)"--max-pause", (char *)"10s"

/* A short trace that records all and prints nothing (no thread has that number): most system calls
 * are then those of the attach and the removal, which can do harm. */
static char *trace[] = { (char *)"inject", (char *)"-p", (char *)"@",
	(char *)"-f", (char *)"spin_*", (char *)"-f", (char *)"single_*",
	(char *)"-f", (char *)"exec_*", (char *)"-f", (char *)"fork_*",
	(char *)"-d", (char *)"0.01", (char *)"--tid", (char *)"1", (char *)"-o", (char *)"/dev/null",
	PATIENT, NULL };

/* Some of the functions of each victim, so that others are left to be added. */
static char *start[] = { (char *)"inject", (char *)"start", (char *)"-p", (char *)"@",
	(char *)"-f", (char *)"spin_l*", (char *)"-f", (char *)"single_*", (char *)"-m",
	(char *)"128K", NULL };

/* What the last run printed on standard error. */
static char said[4096];

/* --- runs --- */

static int open_scratch(const char *name)
{
	int fd = open(name, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	if (fd < 0)
		give_up(name);
	return fd;
}

static void run(const struct failing_want *want, char **command,
		struct failing_run *ret)
{
	struct failing_want w = *want;
	ssize_t n;

	w.text = victim.text;
	w.seconds = failing_patience();
	w.out = open_scratch("sweep.out");
	w.errors = open_scratch("sweep.err");
	if (failing_run(&w, command, ret))
		give_up("run inject");
	n = pread(w.errors, said, sizeof(said) - 1, 0);
	said[n > 0 ? n : 0] = '\0';
	close(w.out);
	close(w.errors);
}

/* The status of a run that nothing happens to. */
static int run_whole(char **command)
{
	struct failing_want none = { .n = FAILING_NONE };
	struct failing_run r;

	run(&none, command, &r);
	return WIFEXITED(r.status) ? WEXITSTATUS(r.status) : -1;
}

static int run_stop(void)
{
	char *stop[] = { sweep.inject[0], (char *)"stop", (char *)"-p",
		victim.text + strlen("/proc/"), PATIENT, NULL };

	return run_whole(stop);
}

/* As textcheck says. */
static int check_text(pid_t pid)
{
	char text[16], *check[] = { (char *)sweep.textcheck, text, NULL };

	snprintf(text, sizeof(text), "%d", pid);
	return run_whole(check);
}

static bool text_differs(void)
{
	return check_text(victim.pid) != 0;
}

/* Of one that ends meanwhile nothing can be told. */
static bool child_differs(void)
{
	pid_t pids[MOST_CHILDREN];
	int n = children(pids, MOST_CHILDREN);

	for (int i = 0; i < n; i++)
		if (check_text(pids[i]) == 1)
			return true;
	return false;
}

/* --- one point --- */

struct point {
	long n;
	struct failing_run run;
	int status;		/* of inject; 128 + signal */
	char said[4096];	/* and its standard error */
};

static void complain(const struct point *p, const char *what)
{
	total.harm++;
	printf("call %ld (system call %ld): status %d: %s\n", p->n, p->run.number,
	       p->status, what);
	printf("    %s\n", p->said);
	if (strcmp(said, p->said) != 0)
		printf("    and then: %s\n", said);
	fflush(stdout);
}

/* The last line that inject printed; the others are hints. */
static const char *last_line(struct point *p)
{
	size_t n = strlen(p->said);

	while (n && p->said[n - 1] == '\n')
		p->said[--n] = '\0';
	char *nl = strrchr(p->said, '\n');
	return nl ? nl + 1 : p->said;
}

/* The C library ends a program for which starting a thread fails so oddly. To
 * the target that is any other death of its tracer. */
static bool gave_up(const struct point *p)
{
	return failing_sanitizer_gave_up(p->said) ||
		(p->status == 128 + SIGABRT && strstr(p->said, "glibc error"));
}

/* A sanitizer that has no memory for us may have said so before. */
static bool has_said_why(const struct point *p)
{
	return strncmp(p->said, "inject: ", 8) == 0 || strstr(p->said, "\ninject: ");
}

static const char *wrong_status(const struct point *p)
{
	if (p->run.endless && !gave_up(p))
		return "no end";
	if (failing_sanitizer_found(p->said))
		return "what a sanitizer says";
	if (p->run.number < 0)
		return p->status ? "not one call failed" : NULL;
	/* Before main, the loader says what it wants; or nothing: glibc's ends by SIGSEGV
	 * where it gets no memory for its own lists, or for thread-local storage. */
	if (sweep.do_kill || !p->run.noted)
		return NULL;
	if (p->status == 4 && (sweep.err != ESRCH || strstr(p->said, "functions probed")))
		return "said to have ended";
	/* Victims have all their libraries as long as they live. */
	if (strstr(p->said, "library was unloaded"))
		return "a library said to be unloaded";
	/* One failure is no reason to leave probes; to be told that the target
	 * has ended, while it lives, is. */
	if (p->status == 5 && sweep.err != ESRCH)
		return "probes remain";
	if (p->status != 0 && p->status != 1 && p->status != 4 && p->status != 5 &&
	    !gave_up(p))
		return "an odd status";
	if (p->status && !has_said_why(p) && !gave_up(p))
		return "a failure without a word";
	if (strstr(p->said, "inject: failed"))
		return "a failure without a cause";
	return NULL;
}

/* Were probes left that are to stay? */
static bool has_started(const struct point *p)
{
	return sweep.state == STARTED || (!p->status && strcmp(sweep.inject[1], "start") == 0);
}

/* An inject that may have left something is followed by inject stop. */
static const char *not_stopped(const struct point *p)
{
	if (!sweep.do_kill && p->status != 5 && !gave_up(p) &&
	    sweep.state != PROBED && !has_started(p))
		return NULL;
	return run_stop() ? "inject stop failed" : NULL;
}

static bool settles(const char *what, int want)
{
	for (time_t end = time(NULL) + failing_patience(); entries(what) != want;) {
		if (time(NULL) > end)
			return false;
		usleep(1000);
	}
	return true;
}

/* Of all processes that there are, if no others are among them. */
static bool is_alone(void)
{
	struct dirent *e;
	DIR *d = getpid() == 1 ? opendir("/proc") : NULL;
	bool alone = true;

	while (d && (e = readdir(d))) {
		int pid = atoi(e->d_name);

		if (pid > 0 && pid != 1 && pid != victim.pid)
			alone = false;
	}
	if (d)
		closedir(d);
	return alone;
}

/* A child of inject's may see it killed, and end by itself. */
static const char *has_company(void)
{
	for (time_t end = time(NULL) + failing_patience(); !is_alone(); failing_rest()) {
		if (time(NULL) > end)
			return "a process of ours stayed";
		usleep(1000);
	}
	return NULL;
}

static const char *harm(const struct point *p)
{
	const char *why = wrong_status(p);

	/* The victim first: a killed tracer's thread restores itself. */
	why = why ? why : does_not_work();
	why = why ? why : not_stopped(p);
	why = why ? why : text_differs() ? "the text is not as it was" : NULL;
	why = why ? why : child_differs() ? "a child's text is not as it was" : NULL;
	if (sweep.afterwards)
		dprintf(victim.in, "%s\n", sweep.afterwards);
	why = why ? why : does_not_work();
	if (!why && !settles("task", victim.threads))
		why = "a thread of ours stayed";
	if (!why && !sweep.do_kill && !gave_up(p) && !settles("fd", victim.files))
		why = "a descriptor of ours stayed";
	return why ? why : has_company();
}

/* A victim whose probes are in, and whose tracer has died. A trace that waits
 * for something to happen has all of them in. */
static void leave_probes(void)
{
	struct failing_want killed = { .n = FAILING_FIRST, .nr = SYS_ppoll,
		.do_kill = true, .from_thread = true };
	struct failing_run r;

	run(&killed, trace, &r);
	if (r.number != SYS_ppoll || !text_differs())
		give_up("no probes were left");
}

/* Each that is killed in its first visit leaves some memory to a victim, and in a program
 * that has just been executed every visit is one: the next would always take longer. */
static bool may_pile_up(void)
{
	return sweep.do_kill && sweep.programs > 1;
}

/* A process that is just starting another program by vfork is refused: then it is asked again. */
static int run_in_between(char **command)
{
	time_t end = time(NULL) + failing_patience();
	int status;

	do
		status = run_whole(command);
	while (status && strstr(said, ", of vfork or clone, shares ") && time(NULL) < end);
	return status;
}

/* A victim in the state that the sweep is about. */
static void prepare(void)
{
	if (victim.pid && (sweep.state == FRESH || may_pile_up()) && is_mapped())
		victim_end();
	if (!victim.pid)
		victim_start();
	if (sweep.state != FRESH && !victim.visited && run_in_between(trace))
		give_up(said);
	victim.visited = true;
	if (sweep.state == PROBED)
		leave_probes();
	if (sweep.state == STARTED && run_whole(start))
		give_up(said);
}

/* By the point, not by the call: a stride that is a multiple would meet but one. */
static int errno_of(long n)
{
	static const int in_turn[] = { ENOMEM, EPERM, EIO, EINTR, EAGAIN };

	return sweep.err ? sweep.err :
		in_turn[(size_t)(n / sweep.stride) % (sizeof(in_turn) / sizeof(*in_turn))];
}

static void take(struct point *p, long n)
{
	struct failing_want want = { .n = n, .do_kill = sweep.do_kill,
		.err = errno_of(n), .only = sweep.only, .from_thread = sweep.from_thread,
		.waits = sweep.tell ? tell_victim : NULL };
	const char *why;

	*p = (struct point){ .n = n };
	run(&want, sweep.inject, &p->run);
	p->status = WIFEXITED(p->run.status) ? WEXITSTATUS(p->run.status) :
		128 + WTERMSIG(p->run.status);
	memcpy(p->said, said, sizeof(said));
	total.points += p->run.number >= 0;
	total.early += p->run.number >= 0 && !p->run.noted;
	total.by_status[p->status & 255] += p->run.number < 0 || p->run.noted;
	if (sweep.log)
		fprintf(sweep.log, "%ld\t%ld\t%d\t%d\t%s\n", n, p->run.number,
			want.err, p->status, last_line(p));
	why = harm(p);
	if (!why)
		return;
	complain(p, why);
	victim_end();
}

/* A run in which no call failed, and which had all that it was to have. */
static bool is_whole(const struct point *p)
{
	const char *at = p->said;
	int n = 0;

	while ((at = strstr(at, PAUSED)) && at++)
		n++;
	return p->run.number < 0 && n >= sweep.programs;
}

/* Until runs in a row have no n-th call: a single one may have been short. Where even the first
 * point is behind the end, as with a wide stride, the call in the middle is taken. */
static void take_all(void)
{
	struct point p;
	int unreached = 0, cut = 0;
	bool middle = false;

	for (long n = sweep.first; unreached < UNREACHED; n += sweep.stride) {
		prepare();
		take(&p, n);
		unreached = p.run.number < 0 ? unreached + is_whole(&p) : 0;
		if (p.run.number < 0 && !is_whole(&p) && ++cut == MOST_SHORT)
			give_up("what follows is not traced in time");
		if (total.harm >= MOST_HARM)
			return;
		if (!total.points && p.run.count && !middle) {
			middle = true;
			unreached = 0;
			n = (p.run.count + 1) / 2 - sweep.stride;
		}
	}
	if (p.run.count == 0)
		give_up("no such call was made");
	if (!total.points)
		give_up("no call was taken");
	printf("the end is behind call %ld\n", p.run.count);
}

static void say_totals(void)
{
	printf("%ld points, %ld victims, %ld did harm; %ld before it looked at the victim; "
	       "statuses of inject then:",
	       total.points, total.victims, total.harm, total.early);
	for (int i = 0; i < 256; i++)
		if (total.by_status[i])
			printf(" %d (%ld)", i, total.by_status[i]);
	putchar('\n');
}

/* --- what is asked for --- */

static char *need(const char *name)
{
	char *value = getenv(name);

	if (!value) {
		fprintf(stderr, "sweep: no %s in the environment\n", name);
		exit(2);
	}
	return value;
}

static int parse_state(const char *word)
{
	static const char *const words[] = { "fresh", "again", "probed", "started" };

	for (int i = 0; i < 4; i++)
		if (strcmp(word, words[i]) == 0)
			return i;
	return -1;
}

/* NAME,ARG,ARG */
static void parse_victim(char *words)
{
	static char path[4096];
	int n = 0;

	for (char *w = strtok(words, ","); w && n + 1 < MOST_ARGS; w = strtok(NULL, ","))
		sweep.victim[n++] = w;
	snprintf(path, sizeof(path), "%s/%s", need("VICTIMS"), sweep.victim[0]);
	sweep.victim[0] = path;
}

/* The PID of the victim of the moment, in the arguments. */
static char **fill(char **args)
{
	for (char **a = args; *a; a++)
		if (strcmp(*a, "@") == 0)
			*a = victim.text + strlen("/proc/");
	return args;
}

static int parse(int argc, char **argv)
{
	int state = argc < 4 ? -1 : parse_state(argv[2]);

	if (state < 0 || (strcmp(argv[1], "fail") && strcmp(argv[1], "kill")))
		return -1;
	sweep.do_kill = strcmp(argv[1], "kill") == 0;
	sweep.state = (enum state)state;
	parse_victim(argv[3]);
	fill(trace)[0] = need("INJECT");
	fill(start)[0] = trace[0];
	/* Its own arguments begin where the victim stood, now its name. */
	sweep.inject = argc > 4 ? fill(argv + 3) : trace;
	sweep.inject[0] = trace[0];
	sweep.textcheck = need("TEXTCHECK");
	if (getenv("STRIDE"))
		sweep.stride = atol(getenv("STRIDE"));
	if (getenv("ONLY"))
		sweep.only = atol(getenv("ONLY"));
	if (getenv("ERRNO"))
		sweep.err = atoi(getenv("ERRNO"));
	sweep.first = 1 + (getenv("SEED") ? atol(getenv("SEED")) : (sweep.stride - 1) / 2) %
		sweep.stride;
	sweep.from_thread = getenv("FROM") && strcmp(getenv("FROM"), "thread") == 0;
	if (getenv("PROGRAMS"))
		sweep.programs = atoi(getenv("PROGRAMS"));
	if (getenv("TELL")) {
		sweep.tell = strtok(getenv("TELL"), ",");
		sweep.afterwards = strtok(NULL, ",");
	}
	sweep.log = fopen("sweep.log", "we");
	return sweep.stride > 0 && sweep.log ? 0 : -1;
}

int main(int argc, char **argv)
{
	if (parse(argc, argv)) {
		fprintf(stderr, "usage: sweep fail|kill fresh|again|probed|started "
				"VICTIM[,ARG...] [INJECT-ARG...]\n");
		return 2;
	}
	/* A niceness that it was given is inject's own, and it leaves it alone. */
	if (strcmp(getenv("PACE") ?: "", "own") != 0 && nice(1) < 0)
		give_up("nice");
	take_all();
	victim_end();
	say_totals();
	return total.harm ? 1 : 0;
}
