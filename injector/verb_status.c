/* SPDX-License-Identifier: MIT */
/* status: what has inject put into which processes, and what have they recorded? */
#include <dirent.h>
#include <errno.h>
#include <string.h>
#include <time.h>

#include "injector/haste.h"
#include "injector/procfs.h"
#include "injector/reader.h"
#include "injector/say.h"
#include "injector/still.h"
#include "injector/verbs.h"
#include "injector/visit.h"
#include "trace/output.h"
#include "trace/span.h"

/* ---- one process --------------------------------------------------------- */

struct counts {
	size_t functions;
	uint64_t recorded, held, lost;	/* events */
};

static int count_only(void *ctx, const struct event *e)
{
	return 0;
}

/* What its rings hold now, and what they have held. */
static int count_events(const struct visit *v, struct counts *ret)
{
	const struct about *a = &v->notes.about;
	struct reader *reader = NULL;
	struct reader_stats stats;
	struct still still;
	int err = still_take(&v->segment, &v->session.s, &still);
	int64_t n;

	err = err ? err : reader_new(still.map, still.size, v->target.pid, a->funcs, a->nfuncs,
				     &reader);
	if (!err) {
		do {
			n = reader_drain(reader, true, count_only, NULL);
		} while (n > 0);
		reader_stats(reader, &stats);
		ret->held = stats.events;
		ret->recorded = stats.events + still.overwritten;
		ret->lost = still.lost;
	}
	reader_free(reader);
	still_clear(&still);
	return err;
}

static void wall(const struct about *a, uint64_t ticks, char *ret, size_t size)
{
	time_t second = (time_t)(clock_realtime(&a->clock, ticks) / 1000000000);
	struct tm tm;

	if (!localtime_r(&second, &tm) || !strftime(ret, size, "%Y-%m-%d %H:%M:%S", &tm))
		*ret = '\0';
}

static void span(uint64_t ns, char ret[SPAN_MOST])
{
	char text[SPAN_MOST], *p = text;

	*put_span(text, ns, false) = '\0';
	while (*p == ' ')
		p++;
	memcpy(ret, p, strlen(p) + 1);
}

static void print_header(struct output *out)
{
	output_printf(out, "# PID\tPROGRAM\tSTATE\tFUNCTIONS\tSINCE\tRECORDED\tHELD\tLOST\tPAUSE\n");
}

static int print_started(const struct visit *v, struct output *out)
{
	const struct about *a = &v->notes.about;
	char since[64], pause[SPAN_MOST], comm[128];
	struct counts c = { 0 };
	auto_free bool *probed = visit_probed(v, &c.functions);
	int err = probed ? count_events(v, &c) : fail(ENOMEM, "list the functions");

	if (err)
		return err;
	wall(a, a->begin, since, sizeof(since));
	span(a->pause_ns, pause);
	output_printf(out, "%d\t%s\trecording\t%zu\t%s\t%llu\t%llu\t%llu\t%s\n", v->target.pid,
		      say_clean(v->target.comm, comm, sizeof(comm)),
		      c.functions, since, (unsigned long long)c.recorded,
		      (unsigned long long)c.held, (unsigned long long)c.lost, pause);
	return 0;
}

/* A session of another kind; false if there is nothing to be told. */
static bool print_other(const struct visit *v, struct output *out)
{
	pid_t holder = v->session.found ? session_holder(&v->session.s) : 0;
	size_t pending = session_pending(&v->session);
	char comm[128];

	if (!holder && !pending)
		return false;
	output_printf(out, "%d\t%s\t%s\t%zu sites\t-\t-\t-\t-\t-\n", v->target.pid,
		      say_clean(v->target.comm, comm, sizeof(comm)),
		      holder ? "traced" : "left behind", pending);
	return true;
}

static int print_functions(const struct visit *v, struct output *out)
{
	const struct about *a = &v->notes.about;
	size_t n;
	auto_free bool *probed = visit_probed(v, &n);

	if (!probed)
		return fail(ENOMEM, "list the functions");
	output_printf(out, "# FUNCTION\tMODULE\tPROBED AT\n");
	for (size_t i = 0; i < a->nfuncs; i++)
		if (probed[i])
			output_printf(out, "%s\t%s\t%s\n", a->funcs[i].name, a->funcs[i].module,
				      a->funcs[i].entry_only ? "entry" : "entry and exit");
	return 0;
}

static int status_of(pid_t pid, struct output *out)
{
	struct visit v;
	int err = visit_open(pid, &v);

	if (err)
		return err;
	if (session_is_started(&v.session)) {
		err = visit_started(&v, false);
		print_header(out);
		err = err ? err : print_started(&v, out);
		err = err ? err : print_functions(&v, out);
	} else {
		print_header(out);
		if (!print_other(&v, out))
			say("inject has no probes in %d (%s)", pid, v.target.comm);
	}
	visit_close(&v);
	return err;
}

/* ---- every process ------------------------------------------------------- */

static int maps_session(void *ctx, const struct mapping *m)
{
	return session_is_mapping(m);
}

/* A forked child has the session's memory, too, and records nothing. */
static bool is_child(const struct visit *v)
{
	pid_t outer = 0, inner = 0;

	return procfs_ids(v->target.pid, v->target.pid, &outer, &inner) &&
		inner != v->session.s.pid;
}

static bool print_one(pid_t pid, struct output *out)
{
	struct visit v;
	bool any = false;

	/* Of what may not be looked at, or ends meanwhile, nothing is said. */
	if (procfs_maps(pid, maps_session, NULL) == 1 && visit_open(pid, &v) == 0) {
		if (is_child(&v))
			any = false;
		else if (session_is_started(&v.session))
			any = !visit_started(&v, false) && !print_started(&v, out);
		else
			any = print_other(&v, out);
		visit_close(&v);
	}
	fail_clear();
	return any;
}

static int status_of_all(struct output *out)
{
	DIR *d = opendir("/proc");
	struct dirent *e;
	size_t n = 0;

	if (!d)
		return fail(errno, "read /proc");
	print_header(out);
	while ((e = readdir(d))) {
		pid_t pid = atoi(e->d_name);

		n += pid > 0 && pid != getpid() && print_one(pid, out);
	}
	closedir(d);
	if (!n)
		say_hint("no process here has probes of inject, as far as you may look");
	return 0;
}

int verb_status(const struct options *o)
{
	struct output *out = NULL;

	say_quiet(o->quiet);
	haste(true);
	int err = output_open(NULL, &out);
	err = err ? err : o->pid ? status_of(o->pid, out) : status_of_all(out);
	int written = out ? output_finish(out, NULL) : 0;
	output_close(out);
	if (err)
		return verb_failed(err);
	return written && written != -EPIPE ? verb_failed(written) : STATUS_DONE;
}
