/* SPDX-License-Identifier: MIT */
/*
 * trace: all of one program: attach (attach.c: steps 0 to 9), watch, and
 *
 * 10. remove	every probe is taken out again, and all code compared with its files
 * 11. unmap	the addresses of the rings are given back
 */
#include <errno.h>
#include <stdio.h>

#include "injector/log/clock.h"
#include "injector/log/say.h"
#include "injector/patch/unmap.h"
#include "injector/proc/procfs.h"
#include "injector/proc/signals.h"
#include "injector/ptrace/pace.h"
#include "injector/ptrace/tracing.h"
#include "injector/session/lease.h"
#include "injector/show/refused.h"
#include "injector/verbs/trace_impl.h"
#include "injector/verbs/verbs.h"

/* Children that were forked with the probes in. */
static bool has_children(void *ctx)
{
	struct trace *t = ctx;
	struct removal r = { .session = t->session_ino, .since = t->target.start_time };

	return remove_has_others(t->pid, &r);
}

/*
 * 10. Only what the process is afterwards tells what an error meant: with the
 * program its probes are gone, and forked children are left to be cleaned; in a
 * process that lives on they may stand, whatever the error was.
 */
static int take_out(struct trace *t, const struct follow *f, struct summary *s)
{
	struct removal r = {
		.changes = t->live.changes, .nchanges = t->live.nchanges, .before = &t->before,
		.session = t->session_ino, .max_pause = t->opt->max_pause,
		.since = t->target.start_time,
	};

	if (t->reader)
		reader_leave(t->reader);
	int err = trace_gone(t, f) ? 0 : remove_probes(t->pid, &r);
	struct cause cause = fail_keep();

	removal_say_pause(&r);
	s->gone = trace_gone_by(t, f, err);
	if (s->gone) {
		err = remove_from_others(t->pid, &r);
		cause = fail_keep();
	}
	s->removed = s->verified = !err && !s->gone;
	s->functions = t->live.nprobed;
	s->traps = t->live.ntraps;
	s->disarmed = t->overhead.disarmed;
	s->refused += t->grow.refused;
	s->pause_ns = MAX(MAX(t->pause, t->grow.pause), r.longest_pause);
	t->target.repaired += r.repaired;
	t->target.shortened += r.shortened;
	if (!err || s->gone)
		t->committed = false;
	if (err)
		s->remains = base_printf("PROBES REMAIN, or the code could not be verified: %s; "
					 "inject stop -p %d goes on from there",
					 cause.text, t->pid);
	else
		live_removed(&t->live, &t->inf);
	fail_clear();
	return err;
}

static void tick(void *ctx)
{
	struct trace *t = ctx;

	if (t->opt->command)
		launch_follow_stop(&t->launch);
	grow_tick(&t->grow, t->follow);
	overhead_tick(&t->overhead);
	spills_tick(&t->spills);
}

static int seen(void *ctx, const struct event *e)
{
	struct trace *t = ctx;

	return overhead_event(&t->overhead, e);
}

static int prepare_overhead(struct trace *t, struct follow *f)
{
	const struct options *o = t->opt;

	if (!o->max_overhead)
		return 0;
	f->seen = seen;
	t->others = (struct removal){ .session = t->session_ino, .since = t->target.start_time };
	t->overhead = (struct overhead){
		.target = &t->target, .reader = t->reader, .live = &t->live,
		.max_pause = o->max_pause, .others = o->follow_fork ? &t->others : NULL,
		.way = t->way, .session = t->inf.map.s,
	};
	return overhead_begin(&t->overhead, o->max_overhead);
}

static int prepare_growth(struct trace *t, struct follow *f)
{
	t->follow = f;
	t->grow = (struct grow){
		.target = &t->target, .infection = &t->inf, .live = &t->live,
		.commit = { &t->mods, t->opt->max_pause, signals_stop_wanted },
		.list = t->grow.list, .values = options_valued(t->opt, true),
		.callers = t->opt->stack ? &t->callers : NULL,
	};
	t->grow.values.mods = &t->mods;
	t->grow.values.tells_cpu = trace_tells_cpu(t);
	t->grow.values.outside = trace_asks_outside(t);
	t->grow.values.when = t->when ?: t->opt->when;
	trace_select(t, &t->grow.select);
	t->grow.select.later = true;
	return grow_begin(&t->grow, &t->mods);
}

/* Leave, with the probes in; or take them out, if that is not possible. */
static int trace_leave(struct trace *t)
{
	struct summary s = { .functions = t->live.nprobed, .refused = refused_count(&t->sel) };

	if (start_leave(t) == 0)
		return STATUS_DONE;
	struct cause cause = fail_keep();
	int left_over = take_out(t, NULL, &s);

	say("%s", cause.text);
	summary_say(&s);
	free((char *)s.remains);
	return left_over ? STATUS_REMAINS : s.gone ? STATUS_GONE : STATUS_FAILED;
}

/* 11. ns, the longest stop. */
static uint64_t give_back(struct trace *t)
{
	struct removal r = { .session = t->session_ino, .since = t->target.start_time,
			     .max_pause = t->opt->max_pause };

	session_close(&t->inf.map);
	unmap_rings(t->pid, &r);
	t->unmapped = true;
	t->target.repaired += r.repaired;
	t->target.shortened += r.shortened;
	return r.longest_pause;
}

static void drained(void *ctx, struct summary *s)
{
	if (!s->removed)
		return;
	uint64_t pause = give_back(ctx);
	s->pause_ns = MAX(s->pause_ns, pause);
}

static int trace_watch(struct trace *t)
{
	struct summary s = { .functions = t->live.nprobed, .refused = refused_count(&t->sel),
			     .program = t->opt->follow_exec ? t->target.comm : NULL, .pid = t->pid,
			     .pause_ns = t->pause };
	struct follow f = { .reader = t->reader, .funcs = t->live.funcs,
			    .nfuncs = t->live.nfuncs, .out = t->out,
			    .options = t->opt, .pid = t->pid, .left = trace_left,
			     .others = t->opt->follow_fork ? has_children : NULL,
			    .tick = tick, .drained = drained, .ctx = t, .pidfd = -1,
			    .exe = modules_exe(&t->mods),
			    .unnamed = select_unnamed(&t->mods), .since = t->began,
			    .recorded = !t->way->room, .off_cpu = t->off_cpu,
			    .description = t->directory ? &t->description : NULL,
			    .directory = t->directory,
			    .names = t->opt->stack ? &t->names : NULL };
	t->naming = (struct naming){ .target = &t->target, .mods = &t->mods,
				     .callers = &t->callers };
	t->names = (struct caller_names){ naming_find, &t->naming };
	int err = follow_begin(&f, &s);

	err = err ? err : prepare_growth(t, &f);
	err = err ? err : prepare_overhead(t, &f);
	spills_begin(&t->target, t->inf.map.s, &t->spills);
	pace_set(PACE_EQUAL);
	if (t->family)
		family_root(t->family, t->pid, clock_monotonic());
	err = err ? err : follow(&f);
	t->began = f.since;
	if (!err)
		fail_clear();
	struct cause cause = fail_keep();
	int left_over = take_out(t, &f, &s);
	int written = follow_finish(&f, &s);

	if (cause.text[0] || written < 0)
		say("%s", cause.text[0] ? cause.text : fail_text());
	trace_say_disturbed(t);
	summary_say(&s);
	follow_end(&f);
	naming_end(&t->naming);
	overhead_end(&t->overhead);
	free((char *)s.remains);
	if (left_over)
		return STATUS_REMAINS;
	return s.gone ? STATUS_GONE : err || written < 0 ? STATUS_FAILED : STATUS_DONE;
}

/* The session stays for the next visit, closed and without a holder. */
static void close_session(struct trace *t)
{
	struct session *s = t->inf.map.s;

	if (!s || t->left)
		return;
	for (uint32_t i = 0; !t->committed && i < MIN(s->nslots, t->inf.map.shape.max_slots); i++)
		if (t->inf.map.slots[i].state == SLOT_PLANNED)
			t->inf.map.slots[i].state = SLOT_REMOVED;
	session_close(&t->inf.map);
	s->holder_pid = 0;
	lease_give(NULL);
	/* Nothing reads it any more: see is_over in unmap.c. */
	__atomic_store_n(&s->reader, 0, __ATOMIC_SEQ_CST);
	if (t->committed)
		return;
	session_empty(&t->inf.map);
	if (!t->unmapped)
		give_back(t);
}

void trace_clear(struct trace *t)
{
	close_session(t);
	reader_free(t->reader);
	switches_close(t->switches);
	grow_clear(&t->grow);
	spills_end(&t->spills);
	callers_clear(&t->callers);
	live_clear(&t->live);
	verify_clear(&t->before);
	free(t->needs);
	free(t->when);
	islands_clear(&t->islands);
	infection_clear(&t->inf);
	select_clear(&t->sel);
	describe_clear(&t->description);
	free(t->directory);
	modules_close(&t->mods);
	target_close(&t->target);
	output_close(t->out);
}

static int attach_running(struct trace *t)
{
	int err = attach(t);

	if (err)
		return err == -EINTR || !t->target.pid ? err : trace_blame_end(t, err);
	trace_say_banner(t);
	return 0;
}

/* A program that we start, and hold until all is in place. */
static int attach_command(void *ctx)
{
	struct trace *t = ctx;
	int err = launch_begin(t->opt->command, t->opt->environment, &t->launch);

	if (err)
		return err;
	t->pid = t->launch.pid;
	t->held = true;
	err = attach(t);
	if (!err)
		trace_say_banner(t);
	/* Interrupted: the command has got that signal, too. */
	if (err && !(err == -EINTR && signals_stop_wanted()))
		launch_cancel(&t->launch);
	else
		target_let_go(&t->target);
	return err;
}

/* What has failed is still to be said if it does not. */
bool trace_goes_on(struct trace *t)
{
	uint64_t then = t->target.start_time;
	struct cause cause = fail_keep();
	bool on = t->opt->follow_exec && trace_left(t) && procfs_live_thread(t->pid) && then &&
		procfs_start_time(t->pid) == then;

	fail_give_back(&cause);
	return on;
}

int trace_program(struct trace *t, bool start)
{
	int err = start ? tracing(attach_command, t) : attach_running(t);

	if (!err)
		return t->opt->verb == VERB_START ? trace_leave(t) : trace_watch(t);	/* 10 */
	bool stopped = err == -EINTR && signals_stop_wanted();
	if (t->relative && (err == -ESRCH || stopped || t->nothing)) {
		fail_clear();
		/* One that has no modules is between two programs. */
		return t->nothing && t->mods.n ? STATUS_NOTHING : STATUS_GONE;
	}
	if (stopped) {
		say("interrupted before any probe was in place");
		return STATUS_DONE;
	}
	if (err == -ESRCH && trace_goes_on(t))
		return STATUS_GONE;
	int status = verb_failed(err);
	return t->nothing ? STATUS_NOTHING : status;
}
