/* SPDX-License-Identifier: MIT */
/*
 * trace: the attach in ten steps, in this order; each leaves a target that
 * runs, whatever happens to us.
 *
 *  1. look	can this process be traced? (look.c, limits.c)
 *  2. symbols	functions of its modules (modules.c, symbols/)
 *  3. plan	where can jumps stand? (select.c, plan/)
 *  4. infect	session, arenas, payload (infect.c)
 *  5. journal	and stubs: nothing refers to them yet (probes.c)
 *  6. stop	\
 *  7. park	 | commit.c
 *  8. commit	 |
 *  9. release	/
 * 10. remove	(remove.c)
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "injector/launch/image.h"
#include "injector/log/clock.h"
#include "injector/log/say.h"
#include "injector/patch/foreign.h"
#include "injector/patch/remove.h"
#include "injector/patch/traps.h"
#include "injector/proc/procfs.h"
#include "injector/proc/signals.h"
#include "injector/ptrace/look.h"
#include "injector/ptrace/pace.h"
#include "injector/ptrace/surgery.h"
#include "injector/remote/handlers.h"
#include "injector/session/blobs.h"
#include "injector/session/lease.h"
#include "injector/show/cost.h"
#include "injector/show/refused.h"
#include "injector/verbs/trace_impl.h"
#include "injector/verbs/verbs.h"
#include "injector/verbs/watches.h"
#include "trace/place.h"

enum {
	LATER_SLOTS = 1 << 15,	/* for libraries that are loaded later */
};

/* Nobody waits for a program that has not begun. */
#define LAUNCH_MAX_PAUSE (3600 * 1000000000ull)

static void select_from(const struct trace *t, struct select_options *ret)
{
	const struct options *o = t->opt;

	*ret = (struct select_options){
		.include = o->include, .ninclude = o->ninclude,
		.exclude = o->exclude, .nexclude = o->nexclude,
		.caught = t->caught, .finders = true,
		.entry_only = o->entry_only || o->verb == VERB_COUNT,
		.timed = t->counting == COUNT_TIMES,
		.traps = t->traps, .short_names = o->short_names, .progress = say_progress,
	};
}

/* Is a library meant that a command may load later? Only by its name: a pattern
 * that matches nothing is a mistake as a rule. Or a program that it executes. */
static bool may_come(const struct trace *t)
{
	if (t->opt->follow_exec)
		return !t->relative;
	for (size_t i = 0; i < t->opt->ninclude && t->opt->command; i++) {
		const struct pattern *p = &t->opt->include[i];
		bool here = !p->module;

		for (size_t j = 0; j < t->mods.n && !here; j++)
			here = module_is_meant(&t->mods.v[j], p, t->mods.v[j].is_system);
		if (!here)
			return true;
	}
	return false;
}

/* 2 and 3. */
static int choose(struct trace *t)
{
	struct select_options so;

	t->traps = t->opt->trap && traps_allowed(t->pid);
	int err = modules_open_process(t->pid, &t->mods);
	/* A program that has not begun may come to handle any; faults, which few
	 * do, once it does. */
	if (!err)
		t->caught = t->held ? ~HANDLERS_FAULTS :
			handlers_caught(&t->target, &t->mods);
	t->counting = verb_counts(t->opt->verb);
	select_from(t, &so);
	err = err ? err : select_functions(&t->mods, &so, &t->sel);
	/* What the reader pairs is recorded, and the reader counts the times. */
	if (!err && t->counting == COUNT_TIMES && t->sel.unpaired)
		t->counting = COUNT_NONE;
	say_progress_end();
	if (!err)
		grow_find_list(&t->mods, &t->grow.list);
	err = err ? err : watches_choose(t->opt, &t->sel);
	if (err || may_come(t))
		return err;
	auto_free char *hint = select_hint(&t->mods, &so);
	if (t->sel.nfuncs) {
		if (hint)
			say_lines(hint);
		return 0;
	}
	/* Of a file that cannot be read nobody knows what would match. */
	t->nothing = !t->sel.unread[0];
	return fail(0, "nothing to probe in %d%s%s%s%s", t->pid,
		    t->nothing ? "" : ": ", t->sel.unread,
		    hint ? "\n" : ": no function matches", hint ? hint : "");
}

static bool anything_left(const struct trace *t)
{
	return refused_count(&t->sel) < t->sel.nfuncs;
}

/* Who has begun that wants it to go on. */
static int refuse_started(const struct trace *t)
{
	fail(0, "%d (%s) records by itself (inject status -p %d); inject stop -p %d ends that",
	     t->pid, t->target.comm, t->pid, t->pid);
	return -EBUSY;
}

/* An earlier injector may have died and left probes. Its stubs are used again
 * where nothing about them has changed. */
static int clear_earlier(struct trace *t)
{
	struct old_session old;
	struct payload_info payload;
	struct removal r = { .max_pause = t->opt->max_pause };
	int err = session_find(&t->target, &old);
	size_t pending = err ? 0 : session_pending(&old);

	if (!err && session_is_started(&old))
		err = refuse_started(t);
	else if (!err && pending) {
		size_t standing = session_standing(&t->target, &old);

		if (standing)
			say_hint("removing %zu probes that an earlier inject left behind", standing);
		err = remove_probes(t->pid, &r);
	}
	err = err ? err : payload_info(&payload);
	/* Stubs of another kind are not what this visit would make. */
	old.s.counting = t->counting;
	if (!err && session_reusable(&old, payload.build_id))
		err = probes_adopt(&t->target, &old, &t->sel);
	t->known_funcs = old.s.nfuncs;
	session_forget(&old);
	return err ? err : foreign_look(&t->target, &t->before);
}

/* Bytes per thread, 0: the usual. */
static uint64_t buffer_of(const struct trace *t)
{
	enum counting kind = t->counting;

	return kind ? counts_room(kind, t->known_funcs + t->sel.nfuncs) : start_buffer(t);
}

/* Where calls are counted or timed in the target, its threads hand their rings on as they are;
 * where we pair what hist and top time, we read them, and so nothing is overwritten. */
static bool keeps_last(const struct trace *t)
{
	return t->opt->keep == KEEP_LAST && t->counting == verb_counts(t->opt->verb);
}

static int do_infect(void *ctx)
{
	struct trace *t = ctx;
	struct infect_options o = {
		.buffer = buffer_of(t), .max_slots = t->slots + LATER_SLOTS,
		.reach = arch_host()->reach, .needs = t->needs, .nneeds = t->sel.n,
		.islands = &t->islands, .notes = start_room(t),
		.keep_last = keeps_last(t), .file = t->file,
		.counting = t->counting,
	};

	return infect(&t->target, &t->mods, &o, &t->inf);
}

static int do_commit(void *ctx)
{
	struct trace *t = ctx;
	struct commit_options o = {
		.mods = &t->mods, .cancelled = signals_stop_wanted,
		.max_pause = t->held ? LAUNCH_MAX_PAUSE : t->opt->max_pause,
	};

	return commit(&t->target, &t->inf, &t->live, &o);
}

static int nothing_left(struct trace *t)
{
	/* What could not be read was taken for changed. */
	if (trace_left(t))
		return -ESRCH;
	refused_say(&t->sel, t->opt->command ? 0 : t->pid, t->opt->verbose);
	t->nothing = true;
	return fail(0, "nothing to probe in %d: every function that matches was refused",
		    t->pid);
}

/* 4 to 9. */
static int attach(struct trace *t)
{
	struct stat st;
	int err = clear_earlier(t);

	err = err ? err : probes_check(&t->target, &t->sel);
	err = err ? err : islands_choose(&t->target, &t->sel, &t->islands);
	if (!err && !anything_left(t) && !may_come(t))
		return nothing_left(t);
	err = err ? err : probes_needs(&t->sel, &t->needs, &t->slots);
	if (!err && t->opt->verb == VERB_RECORD && t->program == 1 && !t->relative)
		trace_say_room(t->opt);
	err = err ? err : surgery(do_infect, t);				/* 4 */
	if (err)
		return err;
	t->session_ino = fstat(t->inf.map.fd, &st) == 0 ? st.st_ino : 0;
	lease_give(&t->inf.map.s->reader);
	t->inf.map.s->follow_forks = t->opt->follow_fork;
	foreign_write(&t->inf.map, &t->before);
	islands_check(&t->islands, &t->sel);
	err = counts_fit(t->counting, t->inf.map.shape.nsub, t->known_funcs,
			 probes_ids(&t->sel, MAX(t->known_funcs, 1u)));
	err = err ? err :							/* 5 */
	      probes_place(&t->target, &t->inf, &t->sel, t->needs, &t->live);
	if (!err && !t->live.nprobed && !may_come(t))
		return nothing_left(t);
	err = err ? err : reader_new(t->inf.map.s, t->inf.map.shape.total, t->pid,
				     t->live.funcs, t->live.nfuncs, &t->reader);
	if (!err && t->opt->verb == VERB_START)
		err = start_limits(t);
	if (!err)
		counts_prepare(t->opt, t->pid, t->inf.map.s, reader_clock(t->reader));
	if (!err && t->opt->verb == VERB_RECORD)
		err = trace_describe(t);
	err = err ? err : surgery(do_commit, t);			/* 6 to 9 */
	if (err && !anything_left(t))
		return nothing_left(t);
	/* Where there is but one thread, to borrow it is to stop everything. */
	t->pause = MAX(t->target.longest_pause, t->nthreads == 1 ? t->target.longest_loan : 0);
	t->committed = !err;
	return err;
}

/* Children that were forked with the probes in. */
static bool has_children(void *ctx)
{
	struct trace *t = ctx;
	struct removal r = { .session = t->session_ino, .since = t->target.start_time };

	return remove_has_others(t->pid, &r);
}

/* The journal's last word, so that a later visit does not look for them. */
static void mark_removed(struct trace *t)
{
	for (size_t i = 0; i < t->live.nchanges; i++)
		t->inf.map.slots[t->live.changes[i].slot].state = SLOT_REMOVED;
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
	char cause[sizeof(r.left)];
	int err = trace_gone(t, f) ? 0 : remove_probes(t->pid, &r);

	snprintf(cause, sizeof(cause), "%s", fail_text());
	removal_say_pause(&r);
	s->gone = trace_gone_by(t, f, err);
	if (s->gone) {
		err = remove_from_others(t->pid, &r);
		snprintf(cause, sizeof(cause), "%s", fail_text());
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
					 cause, t->pid);
	else
		mark_removed(t);
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
	rooms_tick(&t->rooms);
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
		.counting = t->counting,
	};
	return overhead_begin(&t->overhead, o->max_overhead);
}

static int prepare_growth(struct trace *t, struct follow *f)
{
	t->follow = f;
	t->grow = (struct grow){
		.target = &t->target, .infection = &t->inf, .live = &t->live,
		.commit = { &t->mods, t->opt->max_pause, signals_stop_wanted },
		.list = t->grow.list,
	};
	select_from(t, &t->grow.select);
	t->grow.select.later = true;
	return grow_begin(&t->grow, &t->mods);
}

/* Go, and leave the probes in; or take them out, if that is not possible. */
static int leave(struct trace *t)
{
	struct summary s = { .functions = t->live.nprobed, .refused = refused_count(&t->sel) };
	char cause[512];

	if (start_leave(t) == 0)
		return STATUS_DONE;
	snprintf(cause, sizeof(cause), "%s", fail_text());
	fail_clear();
	int left_over = take_out(t, NULL, &s);
	say("%s", cause);
	summary_say(&s);
	free((char *)s.remains);
	return left_over ? STATUS_REMAINS : s.gone ? STATUS_GONE : STATUS_FAILED;
}

static int watch(struct trace *t)
{
	struct summary s = { .functions = t->live.nprobed, .refused = refused_count(&t->sel),
			     .pause_ns = t->pause };
	struct follow f = { .reader = t->reader, .funcs = t->live.funcs,
			    .nfuncs = t->live.nfuncs, .out = t->out,
			    .options = t->opt, .pid = t->pid, .left = trace_left,
			     .others = t->opt->follow_fork ? has_children : NULL,
			    .tick = tick, .ctx = t, .pidfd = -1,
			    .unnamed = select_unnamed(&t->mods), .since = t->began,
			    .recorded = t->counting == COUNT_NONE,
			    .description = t->directory ? &t->description : NULL,
			    .directory = t->directory };
	char cause[512] = "";
	int err = follow_begin(&f, &s);

	err = err ? err : prepare_growth(t, &f);
	err = err ? err : prepare_overhead(t, &f);
	rooms_begin(&t->target, t->inf.map.s, &t->rooms);
	pace_set(PACE_EQUAL);
	if (t->family)
		family_root(t->family, t->pid, clock_monotonic());
	err = err ? err : follow(&f);
	t->began = f.since;
	if (err)
		snprintf(cause, sizeof(cause), "%s", fail_text());
	fail_clear();
	int left_over = take_out(t, &f, &s);
	int written = follow_finish(&f, &s);
	if (cause[0] || written < 0)
		say("%s", cause[0] ? cause : fail_text());
	trace_say_disturbed(t);
	summary_say(&s);
	follow_end(&f);
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
	if (!t->committed)
		session_empty(&t->inf.map);
}

void trace_clear(struct trace *t)
{
	close_session(t);
	reader_free(t->reader);
	grow_clear(&t->grow);
	rooms_end(&t->rooms);
	probes_clear(&t->live);
	verify_clear(&t->before);
	free(t->needs);
	islands_clear(&t->islands);
	infection_clear(&t->inf);
	select_clear(&t->sel);
	describe_clear(&t->description);
	free(t->directory);
	modules_close(&t->mods);
	target_close(&t->target);
	output_close(t->out);
}

/* A process that runs. */
static int attach_running(struct trace *t)
{
	/* Of another program calls are missed meanwhile. */
	pace_set(t->relative || t->program > 1 ? PACE_HASTE : PACE_LEISURE);
	int err = look(t->pid);						/* 1 */

	if (err)
		return err;
	err = target_open(t->pid, &t->target);
	err = err ? err : target_claim(&t->target);
	err = err ? err : choose(t);					/* 2, 3 */
	t->nthreads = procfs_count_threads(t->pid);
	err = err ? err : attach(t);					/* 4 to 9 */
	if (err)
		return err == -EINTR ? err : trace_blame_end(t, err);
	trace_say_banner(t);
	return 0;
}

/* A program that we start, and hold until all is in place. */
static int attach_held(struct trace *t)
{
	int err = target_open(t->pid, &t->target);

	err = err ? err : look_started(t->pid);				/* 1 */
	err = err ? err : launch_loaded(&t->launch, &t->target);
	err = err ? err : target_claim(&t->target);
	err = err ? err : choose(t);					/* 2, 3 */
	t->nthreads = 1;
	return err ? err : attach(t);					/* 4 to 9 */
}

static int attach_command(void *ctx)
{
	struct trace *t = ctx;
	int err = launch_begin(t->opt->command, t->opt->environment, &t->launch);

	if (err)
		return err;
	t->pid = t->launch.pid;
	t->held = true;
	err = attach_held(t);
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
	char cause[512];

	snprintf(cause, sizeof(cause), "%s", fail_text());
	bool on = t->opt->follow_exec && trace_left(t) && procfs_live_thread(t->pid) && then &&
		procfs_start_time(t->pid) == then;
	if (cause[0])
		fail(0, "%s", cause);
	return on;
}

int trace_program(struct trace *t, bool start)
{
	int err = start ? surgery(attach_command, t) : attach_running(t);

	if (!err)
		return t->opt->verb == VERB_START ? leave(t) : watch(t);	/* 10 */
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
