/* SPDX-License-Identifier: MIT */
/* trace_programs: from program to program, and from process to process: whose turn is it
 * to be traced (trace.c)? */
#include <errno.h>
#include <stdlib.h>

#include "injector/launch/image.h"
#include "injector/log/say.h"
#include "injector/proc/signals.h"
#include "injector/ptrace/pace.h"
#include "injector/session/lease.h"
#include "injector/verbs/audit.h"
#include "injector/verbs/trace_impl.h"
#include "injector/verbs/verbs.h"
#include "trace/output/place.h"

static unsigned int next_number(const struct trace *t)
{
	return t->family ? family_number(t->family) : t->program + 1;
}

/* What there was to know of the program before is forgotten; not at leisure, for calls
 * of the next one are missed meanwhile. */
static void begin_next(struct trace *t)
{
	struct trace next = { .opt = t->opt, .pid = t->pid, .launch = t->launch, .out = t->out,
			      .began = t->began, .cost = t->cost, .program = next_number(t),
			      .family = t->family, .relative = t->relative,
			      .target.mem = -1, .inf.map.fd = -1 };

	t->out = NULL;
	pace_set(PACE_EQUAL);
	trace_clear(t);
	fail_clear();
	*t = next;
	image_wait(t->pid, signals_stop_wanted);
}

static int trace_programs(struct trace *t, bool start)
{
	int status = trace_program(t, start);

	while (status == STATUS_GONE && trace_goes_on(t)) {
		begin_next(t);
		status = signals_stop_wanted() ? STATUS_DONE : trace_program(t, false);
	}
	return status;
}

/* In a worker: a process that was not named, as the one that was. `named` is as it
 * was when the watcher was forked. */
static int trace_relative(void *ctx, pid_t pid)
{
	const struct trace *named = ctx;
	struct options o = *named->opt;
	struct trace t = { .opt = &o, .pid = pid, .out = named->out, .cost = named->cost,
			   .began = family_began(named->family), .family = named->family,
			   .relative = true, .program = next_number(named),
			   .target.mem = -1, .inf.map.fd = -1, .launch = { .pidfd = -1 } };

	o.pid = pid;
	o.command = NULL;
	int err = audit_other(pid);
	image_wait(pid, signals_stop_wanted);
	int status = err ? verb_failed(err) : trace_programs(&t, false);
	audit_end(status);
	pace_set(PACE_LEISURE);
	trace_clear(&t);
	pace_set(PACE_EQUAL);
	return status;
}

/* Everything that is not about the target. */
static int programs_begin(struct trace *t, struct family *family)
{
	const struct options *o = t->opt;
	int err = signals_begin();

	err = err ? err : lease_begin();
	if (!err && o->verb == VERB_RECORD)
		err = place_check(options_directory(o));
	else if (!err)
		err = o->verb == VERB_START ? start_begin(t) : output_open(o->output, &t->out);
	if (!err && (o->verb == VERB_RECORD || o->verb == VERB_START))
		cost_measure(&t->cost);
	if (err || !o->follow_exec || !o->follow_fork)
		return err;
	t->family = family;
	err = family_begin(family);
	if (err)
		t->family = NULL;
	return err;
}

/* The others go on when the one that was named has ended, and only then. */
static int end_family(struct trace *t, int status)
{
	int others = t->family ? family_end(t->family, status == STATUS_GONE) : STATUS_DONE;

	return others == STATUS_DONE ? status : others;
}

int verb_trace(const struct options *o)
{
	struct trace t = { .opt = o, .pid = o->pid, .program = 1, .target.mem = -1,
			   .inf.map.fd = -1, .launch = { .pidfd = -1, .status = LAUNCH_FAILED } };
	struct family family = { .trace = trace_relative, .ctx = &t };

	say_quiet(o->quiet);
	int err = programs_begin(&t, &family);
	int status = err ? verb_failed(err) : trace_programs(&t, o->command);
	start_end(&t);
	pace_set(PACE_LEISURE);
	trace_clear(&t);
	status = end_family(&t, status);
	if (o->command)
		status = launch_wait(&t.launch);
	launch_clear(&t.launch);
	return status;
}
