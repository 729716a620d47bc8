/* SPDX-License-Identifier: MIT */
/* status: what has inject put into which processes, and what have they recorded? */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "injector/log/say.h"
#include "injector/proc/procfs.h"
#include "injector/ptrace/pace.h"
#include "injector/reader/reader.h"
#include "injector/reader/ring_snapshot.h"
#include "injector/verbs/verbs.h"
#include "injector/verbs/visit.h"
#include "injector/verbs/watches.h"
#include "trace/show/filter.h"
#include "trace/show/json.h"
#include "trace/output/output.h"
#include "trace/output/span.h"

/* ---- one process --------------------------------------------------------- */

struct counts {
	size_t functions;
	uint64_t recorded, held, lost;	/* events */
};

static int count_only(void *ctx, const struct event *e)
{
	return 0;
}

struct printing {
	struct output *out;
	bool json;
};

/* What its rings hold now, and what they have held. */
static int count_events(const struct visit *v, struct counts *ret)
{
	const struct about *a = &v->notes.about;
	struct reader *reader = NULL;
	struct reader_stats stats;
	struct ring_snapshot still;
	int err = ring_snapshot_take(&v->segment, &v->session.s, &still);
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
	ring_snapshot_clear(&still);
	return err;
}

static void status_wall(const struct about *a, uint64_t ticks, char *ret, size_t size)
{
	time_t second = (time_t)(clock_realtime(&a->clock, ticks) / 1000000000);
	struct tm tm;

	if (!localtime_r(&second, &tm) || !strftime(ret, size, "%Y-%m-%d %H:%M:%S", &tm))
		*ret = '\0';
}

static void status_span(uint64_t ns, char ret[SPAN_MOST])
{
	char text[SPAN_MOST], *p = text;

	*put_span(text, ns, false) = '\0';
	while (*p == ' ')
		p++;
	memcpy(ret, p, strlen(p) + 1);
}

static void print_header(const struct printing *p)
{
	if (!p->json)
		output_printf(p->out, "# PID\tPROGRAM\tSTATE\tFUNCTIONS\tSINCE\tRECORDED\tHELD"
				      "\tLOST\tPAUSE\tFILTER\n");
}

static const char *state_of(const struct visit *v)
{
	return watches_fired(&v->session.s) ? "triggered" : "recording";
}

/* But for places that are told as another of their name. */
static bool *list_probed(const struct visit *v, size_t *count)
{
	bool *probed = visit_probed(v, count);

	for (size_t i = 0; probed && i < v->notes.about.nfuncs; i++)
		if (probed[i] && v->notes.about.funcs[i].as) {
			probed[i] = false;
			--*count;
		}
	return probed;
}

static void print_text(const struct printing *p, const struct visit *v, const struct counts *c)
{
	const struct about *a = &v->notes.about;
	char since[64], pause[SPAN_MOST], comm[128];
	auto_free char *filter = filter_text(&a->filter);

	status_wall(a, a->begin, since, sizeof(since));
	status_span(a->pause_ns, pause);
	output_printf(p->out, "%d\t%s\t%s\t%zu\t%s\t%llu\t%llu\t%llu\t%s\t%s\n",
		      v->target.pid, say_clean(v->target.comm, comm, sizeof(comm)),
		      state_of(v), c->functions, since, (unsigned long long)c->recorded,
		      (unsigned long long)c->held, (unsigned long long)c->lost, pause,
		      filter ?: "?");
}

/* The begin of an object about a process. */
static void print_object(const struct printing *p, const struct visit *v, const char *state)
{
	output_printf(p->out, "{\"type\":\"status\",\"pid\":%d,\"program\":", v->target.pid);
	json_string(p->out, v->target.comm);
	output_printf(p->out, ",\"state\":\"%s\"", state);
}

static void json_filter(const struct printing *p, const struct about_filter *f)
{
	if (f->min_duration)
		output_printf(p->out, ",\"min_duration_ns\":%llu",
			      (unsigned long long)f->min_duration);
	if (f->depth)
		output_printf(p->out, ",\"depth\":%llu", (unsigned long long)f->depth);
	if (f->when) {
		output_printf(p->out, ",\"when\":");
		json_string(p->out, f->when);
	}
}

static void print_json(const struct printing *p, const struct visit *v, const struct counts *c)
{
	const struct about *a = &v->notes.about;

	print_object(p, v, state_of(v));
	output_printf(p->out, ",\"functions\":%zu,\"since_ns\":%llu,\"recorded\":%llu"
			      ",\"held\":%llu,\"lost\":%llu,\"pause_ns\":%llu", c->functions,
		      (unsigned long long)clock_realtime(&a->clock, a->begin),
		      (unsigned long long)c->recorded, (unsigned long long)c->held,
		      (unsigned long long)c->lost, (unsigned long long)a->pause_ns);
	json_filter(p, &a->filter);
	output_printf(p->out, "}\n");
}

static int print_started(const struct printing *p, const struct visit *v)
{
	struct counts c = { 0 };
	auto_free bool *probed = list_probed(v, &c.functions);
	int err = probed ? count_events(v, &c) : fail(ENOMEM, "list the functions");

	if (!err)
		(p->json ? print_json : print_text)(p, v, &c);
	return err;
}

/* A session of another kind; false if there is nothing to be told. */
static bool print_other(const struct printing *p, const struct visit *v)
{
	pid_t holder = v->session.found ? session_holder(&v->session.s) : 0;
	size_t standing = session_standing(&v->target, &v->session);
	const char *state = holder ? "traced" : "left behind";
	char comm[128];

	if (!holder && !standing)
		return false;
	if (p->json) {
		print_object(p, v, state);
		output_printf(p->out, ",\"sites\":%zu}\n", standing);
	} else {
		output_printf(p->out, "%d\t%s\t%s\t%zu sites\t-\t-\t-\t-\t-\t-\n", v->target.pid,
			      say_clean(v->target.comm, comm, sizeof(comm)), state, standing);
	}
	return true;
}

static void print_function(const struct printing *p, const struct reader_func *f, bool disarmed)
{
	if (!p->json) {
		output_printf(p->out, "%s\t%s\t%s%s\n", f->name, f->module,
			      f->entry_only ? "entry" : "entry and exit",
			      disarmed ? ", disarmed" : "");
		return;
	}
	output_printf(p->out, "{\"type\":\"function\",");
	json_func(p->out, f);
	output_printf(p->out, "%s%s}\n", f->entry_only ? ",\"entry_only\":true" : "",
		      disarmed ? ",\"disarmed\":true" : "");
}

static int print_functions(const struct printing *p, const struct visit *v)
{
	const struct about *a = &v->notes.about;
	size_t n;
	auto_free bool *probed = list_probed(v, &n);
	auto_free bool *disarmed = visit_disarmed(v, &n);

	if (!probed || !disarmed)
		return fail(ENOMEM, "list the functions");
	if (!p->json)
		output_printf(p->out, "# FUNCTION\tMODULE\tPROBED AT\n");
	for (size_t i = 0; i < a->nfuncs; i++)
		if (probed[i])
			print_function(p, &a->funcs[i], disarmed[i]);
	return 0;
}

/* What was unloaded is not told as probed, if it can be known. */
static int status_started(struct visit *v)
{
	struct modules mods = { 0 };
	int err = visit_started(v, false);

	if (err)
		return err;
	if (!modules_open_process(v->target.pid, &mods))
		visit_forget_gone(v, &mods);
	modules_close(&mods);
	fail_clear();
	return 0;
}

static int status_of(pid_t pid, const struct printing *p)
{
	struct visit v;
	int err = visit_open(pid, &v);

	if (err)
		return err;
	if (session_is_started(&v.session)) {
		err = status_started(&v);
		print_header(p);
		err = err ? err : print_started(p, &v);
		err = err ? err : print_functions(p, &v);
	} else {
		print_header(p);
		if (!print_other(p, &v))
			say("inject has no probes in %d (%s)", pid, v.target.comm);
	}
	visit_close(&v);
	return err;
}

/* ---- every process ------------------------------------------------------- */

static int maps_session(void *ctx, const struct mapping *m)
{
	return session_is_mapping(*(const pid_t *)ctx, m);
}

/* What was told so far. */
struct listing {
	const struct printing *p;
	ino_t *sessions;	/* that their own processes were listed with; owned */
	size_t nsessions, cap;
	bool any;
};

static bool print_own(const struct printing *p, struct visit *v)
{
	if (session_is_started(&v->session))
		return !status_started(v) && !print_started(p, v);
	return print_other(p, v);
}

/* With its parent, a child is to be cleaned by the same stop, and is not told of. */
static bool print_child(const struct listing *l, const struct visit *v)
{
	for (size_t i = 0; i < l->nsessions; i++)
		if (l->sessions[i] == v->session.ino)
			return false;
	return session_standing(&v->target, &v->session) && print_other(l->p, v);
}

static void note_session(struct listing *l, ino_t ino)
{
	ino_t *new = vec_push(l->sessions, l->nsessions, l->cap);

	if (new)
		*new = ino;
	l->any = true;
}

/* True if it is a child, which is looked at when all sessions' own processes were. */
static bool list_one(pid_t pid, bool children, struct listing *l)
{
	struct visit v;
	bool child = false;

	/* Of what may not be looked at, or ends meanwhile, nothing is said. */
	if (procfs_maps(pid, maps_session, &pid) == 1 && visit_open(pid, &v) == 0) {
		child = visit_is_child(&v);
		if (child && children)
			l->any |= print_child(l, &v);
		else if (!child && !children && print_own(l->p, &v))
			note_session(l, v.session.ino);
		visit_close(&v);
	}
	fail_clear();
	return child;
}

static int status_of_all(const struct printing *p)
{
	struct listing l = { .p = p };
	auto_free pid_t *pids = NULL;
	int n = procfs_processes(&pids), nchildren = 0;

	if (n < 0)
		return fail(-n, "read /proc");
	print_header(p);
	for (int i = 0; i < n; i++)
		if (pids[i] != getpid() && list_one(pids[i], false, &l))
			pids[nchildren++] = pids[i];
	for (int i = 0; i < nchildren; i++)
		list_one(pids[i], true, &l);
	free(l.sessions);
	if (!l.any)
		say_hint("no process here has probes of inject, as far as you may look");
	return 0;
}

int verb_status(const struct options *o)
{
	struct printing p = { .json = o->json };

	say_quiet(o->quiet);
	pace_set(PACE_LEISURE);
	int err = output_open(NULL, &p.out);
	err = err ? err : o->pid ? status_of(o->pid, &p) : status_of_all(&p);
	int written = p.out ? output_finish(p.out, NULL) : 0;
	output_close(p.out);
	if (err)
		return verb_failed(err);
	return written && written != -EPIPE ? verb_failed(written) : STATUS_DONE;
}
