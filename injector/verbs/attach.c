/* SPDX-License-Identifier: MIT */
/*
 * attach: from a process to probes that record: steps 0 to 9, in attach() at the end of
 * this file. The target runs, and is unharmed, if we are killed at any moment of any step.
 */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "injector/log/say.h"
#include "injector/patch/foreign.h"
#include "injector/patch/remove.h"
#include "injector/patch/traps.h"
#include "injector/proc/procfs.h"
#include "injector/proc/signals.h"
#include "injector/ptrace/preflight.h"
#include "injector/ptrace/pace.h"
#include "injector/ptrace/rseq.h"
#include "injector/ptrace/tracing.h"
#include "injector/remote/handlers.h"
#include "injector/session/blobs.h"
#include "injector/session/lease.h"
#include "injector/show/refused.h"
#include "injector/verbs/trace_impl.h"
#include "injector/verbs/verbs.h"
#include "injector/verbs/watches.h"

enum {
	LATER_SLOTS = 1 << 15,	/* for libraries that are loaded later */
	LATER_VALUED = 1 << 12,	/* functions of those whose values are read, */
	LATER_PLANS = 1 << 20,	/* and bytes of their plans */
	LATER_FILTERS = 16 << 20,	/* and of conditions that replace them */
	LATER_CALLERS = 32 << 20,	/* of tables for callers, if these are asked for later */
};

/* A program that has not begun does nothing that could wait. */
#define LAUNCH_MAX_PAUSE (3600 * 1000000000ull)

/* 1. */
static int attach_claim(struct trace *t)
{
	/* Of another program calls are missed meanwhile. */
	if (!t->held)
		pace_set(t->relative || t->program > 1 ? PACE_HASTE : PACE_LEISURE);
	int err = t->held ? 0 : preflight(t->pid);

	err = err ? err : target_open(t->pid, &t->target);
	err = err || !t->held ? err : preflight_started(t->pid);
	err = err || !t->held ? err : launch_loaded(&t->launch, &t->target);
	return err ? err : target_claim(&t->target);
}

static int refuse_started(const struct trace *t)
{
	fail(0, "%d (%s) records by itself (inject status -p %d); inject stop -p %d ends that",
	     t->pid, t->target.comm, t->pid, t->pid);
	return -EBUSY;
}

/* 0. An earlier inject may have been killed, and left its probes. */
static int remove_earlier(struct trace *t)
{
	struct old_session old;
	struct removal r = { .max_pause = t->opt->max_pause };
	int err = session_find(&t->target, &old);

	if (err)
		return err;
	if (session_is_started(&old)) {
		err = refuse_started(t);
	} else if (session_pending(&old)) {
		size_t standing = session_standing(&t->target, &old);

		if (standing)
			say_hint("removing %zu probes that an earlier inject left behind", standing);
		err = remove_probes(t->pid, &r);
	}
	session_forget(&old);
	return err;
}

/* What the process records by itself is what it has sifted; how long copies of inlined functions
 * take it does not know. */
static bool leaves_out(const struct options *o)
{
	return o->min_duration && o->verb == VERB_START;
}

void trace_select(const struct trace *t, struct select_options *ret)
{
	const struct options *o = t->opt;

	*ret = (struct select_options){
		.include = o->include, .ninclude = o->ninclude,
		.exclude = o->exclude, .nexclude = o->nexclude,
		.usdt = o->usdt, .nusdt = o->nusdt, .at = o->at, .nat = o->nat,
		.around = o->around, .naround = o->naround,
		.inlined = o->inlined,
		.ends = !o->entry_only && !t->way->entry_only && !leaves_out(o),
		.caught = t->caught, .finders = true, .guards = options_reads(o) || o->stack,
		.entry_only = o->entry_only || t->way->entry_only,
		.timed = t->way->pairs,
		.traps = t->traps, .short_names = o->short_names, .progress = say_progress,
	};
}

/* Does one of the patterns name a module that is not mapped? */
static bool names_absent(const struct trace *t, const struct pattern *patterns, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct pattern *p = &patterns[i];
		bool here = !p->module;

		for (size_t j = 0; j < t->mods.n && !here; j++)
			here = module_is_meant(&t->mods.v[j], p, t->mods.v[j].is_system);
		if (!here)
			return true;
	}
	return false;
}

/* Is a library meant that a command may load later? Only by its name: a pattern
 * that matches nothing is a mistake as a rule. Or a program that it executes. */
static bool may_come(const struct trace *t)
{
	if (t->opt->follow_exec)
		return !t->relative;
	const struct options *o = t->opt;

	return o->command && (names_absent(t, o->include, o->ninclude) ||
			      names_absent(t, o->usdt, o->nusdt) ||
			      names_absent(t, o->around, o->naround) ||
			      names_absent(t, o->at, o->nat));
}

/* 2. */
static int read_symbols(struct trace *t)
{
	int err = modules_open_process(t->pid, &t->mods);

	t->nthreads = t->held ? 1 : procfs_count_threads(t->pid);
	t->traps = !err && t->opt->trap && traps_allowed(t->pid);
	/* A program that has not begun may come to handle any; faults, which few
	 * do, once it does. */
	if (!err)
		t->caught = t->held ? ~HANDLERS_FAULTS :
			handlers_caught(&t->target, &t->mods);
	return err;
}

static int say_hint_of(struct trace *t, const struct select_options *so)
{
	auto_free char *hint = select_hint(&t->mods, so);

	if (t->sel.nfuncs) {
		/* A recipe has names of several versions and libraries. */
		if (hint && !t->opt->recipe)
			say_lines(hint);
		return 0;
	}
	/* Of a file that cannot be read it is not known what would match. */
	t->nothing = !t->sel.unread[0];
	return fail(0, "nothing to probe in %d%s%s%s%s", t->pid,
		    t->nothing ? "" : ": ", t->sel.unread,
		    hint ? "\n" : t->opt->nexclude ? ": no function matches that -N does not leave out" :
		    ": no function matches", hint ? hint : "");
}

/* The functions as the reader will have them. */
static int list_funcs(const struct trace *t, struct about *ret)
{
	struct reader_func *funcs = calloc(t->sel.nfuncs + 1, sizeof(*funcs));
	struct about about = { .funcs = funcs, .exe = modules_exe(&t->mods) };

	if (!funcs)
		return fail(ENOMEM, "list values");
	for (size_t i = 0; i < t->sel.n; i++)
		for (size_t j = 0; j < t->sel.v[i].n && about.nfuncs < t->sel.nfuncs; j++) {
			const struct selected *s = &t->sel.v[i];
			const struct valued *v = s->probes[j].valued;

			if (s->probes[j].refusal || selected_is_hidden(s, j))
				continue;
			funcs[about.nfuncs++] = (struct reader_func){
				.name = s->names[j], .module = s->module->base,
				.values = v ? v->packed.v : NULL, .nvalues = v ? v->packed.n : 0,
				.asked = v ? v->asked : NULL,
			};
		}
	*ret = about;
	return 0;
}

/* Is there each value that hist is to show, or that spans are told by? Better said before anything
 * is done. */
static int check_values(const struct trace *t)
{
	const struct sink none = { 0 };
	struct spans_options by = { .points = t->opt->points, .npoints = t->opt->npoints,
				    .by = t->opt->by, .nby = t->opt->nby };
	struct hist_values *h = NULL;
	struct spans *s = NULL;
	struct about about;
	int err = list_funcs(t, &about);

	if (err)
		return err;
	if (t->opt->npoints)
		err = spans_new(NULL, &about, &by, &none, &s);
	else
		err = hist_values_new(t->opt, &about, &h);
	spans_free(s);
	hist_values_free(h);
	free((void *)about.funcs);
	return err;
}

static int choose_values(struct trace *t)
{
	struct valued_options o = options_valued(t->opt, may_come(t));

	o.mods = &t->mods;
	if (o.when && !arch_host()->tells_cpu)
		t->cpu_at = rseq_place(&t->target, &t->mods);
	o.tells_cpu = trace_tells_cpu(t);
	o.outside = trace_asks_outside(t);
	o.when = t->when ?: o.when;
	int err = valued_choose(&o, &t->sel);

	if (!err && (options_by_value(t->opt) || t->opt->npoints))
		err = check_values(t);
	if (err || !t->opt->stack)
		return err;
	valued_choose_callers(&t->sel);
	err = callers_read(&t->callers, &t->mods);
	return err ? err : callers_find_signals(&t->callers, &t->target, &t->mods);
}

/* All else goes on. */
static void say_no_switches(struct trace *t)
{
	t->off_cpu = false;
	say("cpu and wait times are not to be had: %s", fail_text());
	fail_clear();
}

/* What is to become of calls. */
static const struct way *trace_way(const struct options *o)
{
	const struct way *way = options_way(o);

	bool long_only = o->min_duration && !o->npoints && !o->nwithin;

	return way == &way_records && (o->when || long_only) ? &way_sifted : way;
}

/* How long copies of inlined functions take only the reader knows; and a call around one that the
 * process would tell at its end would seem to be within it. */
static bool copies_judged(const struct options *o)
{
	return o->inlined && o->min_duration && o->verb != VERB_START;
}

/* What the reader pairs is recorded, and the reader counts the times, or leaves out what is not
 * wanted: before a recording as what a condition does. */
static int record_unpaired(struct trace *t)
{
	const struct options *o = t->opt;
	bool asks = t->sel.unpaired || copies_judged(o);
	int err = 0;

	if (t->sel.unpaired && o->verb == VERB_START && (o->min_duration || o->depth))
		return fail(0, "%s: calls on stacks that a language's runtime makes are paired when "
			       "they are read, so that all would be recorded; record leaves out "
			       "what is not wanted, and so do replay and report",
			    o->min_duration ? "-t" : "-D");
	if (asks && o->verb == VERB_RECORD && (o->min_duration || o->depth))
		err = options_terms(o, o->when, &t->when);
	/* (What start could not judge is refused.) */
	if (t->way->pairs || (t->way == &way_sifted && asks && o->verb != VERB_START))
		t->way = &way_records;
	return err;
}

/* 3. */
static int make_plans(struct trace *t)
{
	struct select_options so;

	t->off_cpu = t->opt->off_cpu;
	if (t->off_cpu && switches_possible(t->pid))
		say_no_switches(t);
	t->way = trace_way(t->opt);
	trace_select(t, &so);
	int err = select_functions(&t->mods, &so, &t->sel);
	if (!err && (t->sel.unpaired || t->off_cpu || t->sel.nhidden || copies_judged(t->opt)))
		err = record_unpaired(t);
	say_progress_end();
	if (!err)
		grow_find_list(&t->mods, &t->grow.list);
	err = err ? err : watches_choose(t->opt, &t->sel);
	err = err ? err : choose_values(t);
	return err || may_come(t) ? err : say_hint_of(t, &so);
}

static bool anything_left(const struct trace *t)
{
	return refused_count(&t->sel) < t->sel.nfuncs;
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

/* 3. Stubs of an earlier visit are used again where nothing about them has changed. */
static int adopt_stubs(struct trace *t)
{
	struct old_session old;
	struct payload_info payload;
	int err = session_find(&t->target, &old);

	err = err ? err : payload_info(&payload);
	/* Stubs of another kind are not what this visit would make. */
	old.s.counting = t->way->kind;
	if (!err && session_reusable(&old, payload.build_id))
		err = probes_adopt(&t->target, &old, &t->sel, NULL);
	t->known_funcs = old.s.nfuncs;
	session_forget(&old);
	return err;
}

/* 3, of this process: what differs from its file stays as it is, and what has no memory
 * within reach is refused. */
static int fit_plans(struct trace *t)
{
	int err = adopt_stubs(t);

	err = err ? err : foreign_look(&t->target, &t->before);
	err = err ? err : probes_check(&t->target, &t->sel);
	err = err ? err : islands_choose(&t->target, &t->sel, &t->islands);
	if (!err && !anything_left(t) && !may_come(t))
		return nothing_left(t);
	return err ? err : needs_list(&t->sel, &t->needs, &t->slots);
}

/* Bytes per thread, 0: the usual. */
static uint64_t buffer_of(const struct trace *t)
{
	uint64_t nfuncs = t->known_funcs + t->sel.nfuncs + t->sel.nhidden;

	return t->way->room ? ALIGN_UP(t->way->room(nfuncs), SUBBUF_SIZE) : start_buffer(t);
}

/* Where calls are counted or timed in the target, its threads hand their rings on as they are;
 * where we pair what hist and top time, we read them, and so nothing is overwritten. */
static bool keeps_last(const struct trace *t)
{
	return t->opt->keep == KEEP_LAST && t->way->room == options_way(t->opt)->room;
}

/* Room for what is read of calls. What a process that records by itself may be asked for later has
 * addresses, and no memory; but all that a file has room for is taken at once. */
static void wish_reads(const struct trace *t, struct infect_options *o)
{
	struct valued_options values = options_valued(t->opt, true);
	bool grows = t->opt->verb == VERB_START && !t->file;
	bool filtered = grows && t->way == &way_sifted;
	bool reads = valued_any(&values) || t->opt->stack;

	if (!reads && !grows)
		return;
	o->plans_funcs = (uint32_t)(t->known_funcs + t->sel.nfuncs + t->sel.nhidden) +
		LATER_VALUED;
	o->plans = valued_size(&t->sel) + LATER_PLANS;
	if (filtered)
		o->plans += MIN(2 * t->sel.nfuncs * sizeof(struct condition) * 2, LATER_FILTERS);
	o->callers = t->opt->stack ? callers_size(&t->callers, o->plans_funcs) :
		grows ? LATER_CALLERS : 0;
	o->spare_plans = !reads && !filtered;
	o->spare_callers = !t->opt->stack;
}

static int do_infect(void *ctx)
{
	struct trace *t = ctx;
	struct infect_options o = {
		.buffer = buffer_of(t), .max_slots = t->slots + LATER_SLOTS,
		.reach = arch_host()->reach, .needs = t->needs, .nneeds = t->sel.n,
		.islands = &t->islands, .notes = start_room(t),
		.keep_last = keeps_last(t), .file = t->file, .way = t->way,
		.sparse = t->opt->verb == VERB_START && t->way == &way_sifted,
	};

	wish_reads(t, &o);
	return infect(&t->target, &t->mods, &o, &t->inf);
}

/* 4. */
static int bring_payload(struct trace *t)
{
	struct stat st;

	if (t->opt->verb == VERB_RECORD && t->program == 1 && !t->relative)
		trace_say_room(t->opt);
	int err = tracing(do_infect, t);
	if (err)
		return err;
	t->session_ino = fstat(t->inf.map.fd, &st) == 0 ? st.st_ino : 0;
	if (t->opt->stack) {
		callers_begin(&t->inf.map, t->inf.map.shape.callers_funcs, t->opt->stack);
		callers_write(&t->callers, &t->inf.map);
	}
	lease_give(&t->inf.map.s->reader);
	t->inf.map.s->follow_forks = t->opt->follow_fork;
	foreign_write(&t->inf.map, &t->before);
	islands_check(&t->islands, &t->sel);
	return 0;
}

/* 5. */
static int write_stubs(struct trace *t)
{
	int err = counts_fit(t->way, t->inf.map.shape.nsub, t->known_funcs,
			     probes_ids(&t->sel, MAX(t->known_funcs, 1u)));

	err = err ? err : probes_place(&t->target, &t->inf, &t->sel, t->needs, &t->live);
	if (!err && (valued_guarded(&t->sel) || t->opt->unguarded) &&
	    !procfs_serves_faults(t->pid))
		t->inf.map.s->reads = READS_BY_CALL;
	return !err && !t->live.nprobed && !may_come(t) ? nothing_left(t) : err;
}

/* Which calls pass. Where they are shown at once, those that are a little shorter do, too, and are
 * judged by the reader again. */
static void prepare_sieve(const struct options *o, struct session *s, struct reader *r)
{
	const struct clock *c = reader_clock(r);

	reader_calibrate(r);
	double ticks = (double)o->min_duration * (double)c->run_ticks / (double)MAX(c->run_ns, 1u);

	s->scale = (uint64_t)((double)MAX(c->run_ns, 1u) / (double)MAX(c->run_ticks, 1u) *
			      (double)(1ull << (64 - SCALE_SHIFT)));
	bool at_once = o->verb == VERB_TRACE;

	s->least = o->npoints ? 0 : (uint64_t)(at_once ? ticks * 0.999 : ticks);
}

/* 5, at this end: the first call may come before it is known that the jumps stand. */
static int make_reader(struct trace *t)
{
	int err = reader_new(t->inf.map.s, t->inf.map.shape.total, t->pid, t->live.funcs,
			     t->live.nfuncs, &t->reader);

	if (!err && t->opt->verb == VERB_START)
		err = start_limits(t);
	if (!err)
		counts_prepare(t->opt, t->pid, t->inf.map.s, reader_clock(t->reader));
	t->inf.map.s->deepest = (uint32_t)t->opt->depth;
	t->inf.map.s->cpu_at = t->cpu_at;
	/* As a word; perhaps of something else, which costs little. */
	if (!err && t->opt->when && strstr(t->opt->when, "comm"))
		reader_name_threads(t->reader);
	if (!err && trace_asks_outside(t))
		reader_calibrate(t->reader);
	if (!err && t->way == &way_sifted)
		prepare_sieve(t->opt, t->inf.map.s, t->reader);
	return !err && t->opt->verb == VERB_RECORD ? trace_describe(t) : err;
}

/* 5, too: whatever is called later, it is known when its thread had a processor. */
static void watch_switches(struct trace *t)
{
	if (!t->off_cpu)
		return;
	if (switches_open(t->pid, t->opt->follow_fork, &t->switches) ||
	    reader_watch(t->reader, t->switches))
		say_no_switches(t);
	else
		t->description.about.off_cpu = true;
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

/* 6 to 9. */
static int write_jumps(struct trace *t)
{
	int err = tracing(do_commit, t);

	if (err && !anything_left(t))
		return nothing_left(t);
	/* Where there is but one thread, to borrow it is to stop everything. */
	t->pause = MAX(t->target.longest_pause, t->nthreads == 1 ? t->target.longest_loan : 0);
	t->committed = !err;
	return err;
}

/* Each step has a line that says what is true once it has returned 0. */
int attach(struct trace *t)
{
	/* 1. The process may be traced, and no other inject or debugger works on it. */
	int err = attach_claim(t);
	/* 0. No jump of an earlier visit stands. (After 1: a process that others work on
	 * is left alone.) */
	err = err ? err : remove_earlier(t);
	/* 2. It is known which files are mapped, and which signals are handled. (To ask how
	 * faults are, one thread is borrowed, and maps a page for as long.) */
	err = err ? err : read_symbols(t);
	/* 3. For each function that is meant: where jumps can stand, or why none can. */
	err = err ? err : make_plans(t);
	/* 3. What cannot stand in this very process is refused, too. */
	err = err ? err : fit_plans(t);
	/* 4. The target has payload, shared memory, and room for stubs; its text is as before. */
	err = err ? err : bring_payload(t);
	/* 5. Stubs stand that nothing refers to; the journal says what undoes each jump. */
	err = err ? err : write_stubs(t);
	/* 5. What is recorded from now on will be read. */
	err = err ? err : make_reader(t);
	if (!err)
		watch_switches(t);
	/* 6 to 9 (patch/edit.c). Every jump stands, and all threads run. */
	return err ? err : write_jumps(t);
}
