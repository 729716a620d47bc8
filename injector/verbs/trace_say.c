/* SPDX-License-Identifier: MIT */
/* trace, continued: what is said of a visit? */
#include <stdio.h>

#include "injector/log/say.h"
#include "injector/proc/procfs.h"
#include "injector/show/onward.h"
#include "injector/show/refused.h"
#include "injector/verbs/trace_impl.h"
#include "trace/write/record.h"

/* It may come yet, or be a child's. */
static void hint_tid(const struct trace *t)
{
	pid_t outer, inner;

	if (!t->opt->tid || procfs_ids(t->pid, t->opt->tid, &outer, &inner) > 0)
		return;
	fail_clear();
	say_hint("%d has no thread %d now, so there is nothing to show; ls /proc/%d/task "
		 "names those that it has", t->pid, t->opt->tid, t->pid);
}

/* Of a million calls a second, which a few busy threads make, for a minute. */
#define MINUTE_BYTES (60000000ull * RECORD_CALL_BYTES)

static const char *size_text(uint64_t bytes, char ret[32])
{
	bool large = bytes >= 1 << 30;

	snprintf(ret, 32, "%.1f %s", (double)bytes / (large ? 1 << 30 : 1 << 20),
		 large ? "GiB" : "MiB");
	return ret;
}

void trace_say_room(const struct options *o)
{
	char minute[32], there[32], kept[32];
	struct record_room room;

	if (o->max_size || o->calls || o->duration)
		return;
	record_room(options_directory(o), options_min_free(o), &room);
	say_hint("a call takes %d bytes%s: a million a second are %s in a minute", RECORD_CALL_BYTES,
		 options_reads(o) || o->stack ? ", and what is read of it some dozens or hundreds" : "",
		 size_text(MINUTE_BYTES, minute));
	if (room.kept)
		say_hint("of %s that are free on the disk, %s stay free (--min-free, --max-size)",
			 size_text(room.is_free, there), size_text(room.kept, kept));
	else
		say_hint("recording goes on until the disk is full (--min-free, --max-size)");
}

static void say_buffers(const struct trace *t)
{
	const struct session_shape *shape = &t->inf.map.shape;
	uint64_t bytes = (uint64_t)shape->nsub * shape->sub_size;

	if (bytes < shape->wished && t->inf.map.s->counting == COUNT_NONE)
		say_hint("a thread's buffer has %lu KiB instead of %lu, for addresses are few in %d "
			 "(RLIMIT_AS, or something is mapped behind an earlier trace's): more calls "
			 "may be lost", (unsigned long)(bytes >> 10),
			 (unsigned long)(shape->wished >> 10), t->pid);
}

void trace_say_banner(const struct trace *t)
{
	size_t exits = t->live.nprobed - t->live.nentry_only;

	say_hint("%s (%d, %d thread%s): %zu of %zu function%s probed, %zu with exits",
		 t->target.comm, t->pid, t->nthreads, t->nthreads == 1 ? "" : "s",
		 t->live.nprobed, t->sel.nfuncs, t->sel.nfuncs == 1 ? "" : "s", exits);
	say_buffers(t);
	if (t->live.nentry_only && options_way(t->opt)->pairs)
		say_hint("calls of %zu of them are counted only: where not all exits are probed "
			 "they have no durations", t->live.nentry_only);
	if (t->sel.unpaired && options_way(t->opt)->pairs)
		say_hint("calls of %s are recorded to be timed: what comes faster than it "
			 "can be read is lost, and counted as that", plan_languages());
	if ((options_reads(t->opt) || t->opt->stack) && t->inf.map.s->reads == READS_NOTHING)
		say_hint("%s: %s", options_reads(t->opt) ? "what arguments point to is not read" :
			 "of stacks but the main thread's only a page is read",
			 valued_guarded(&t->sel) || t->opt->unguarded ?
			 "a seccomp filter may be against process_vm_readv, or the process handles "
			 "its page faults or system calls itself" :
			 "a seccomp filter may come to be set that is not seen, for there is no C "
			 "library whose prctl and syscall could be probed; if the process sets "
			 "none, --unguarded reads it");
	if (t->off_cpu && options_way(t->opt)->pairs)
		say_hint("with --off-cpu calls are recorded to be timed: what comes faster than it "
			 "can be read is lost, and counted as that");
	if (t->live.ntraps)
		say_hint("%zu of them trap, which is slow, and ends the process if it comes to "
			 "block SIGTRAP", t->live.ntraps);
	/* (Of spans other calls are the ends.) */
	if (options_way(t->opt)->kind != COUNT_CALLS && !t->opt->npoints)
		onward_say(&t->sel);
	refused_say(&t->sel, t->opt->command ? 0 : t->pid, t->opt->verbose);
	hint_tid(t);
	if (!t->sel.nfuncs)
		say_hint("what is meant may be in a library that is loaded later%s",
			 t->opt->follow_exec ? ", or in a program that it executes" : "");
	if (t->opt->verbose && !t->inf.map.s->tid_offset)
		say_hint("where its threads keep their ids is not certain: each makes one "
			 "system call, gettid, at its first call that is traced");
	if (t->held)
		say_hint("nothing of it has run yet; Ctrl-C removes the probes");
	else if (t->opt->verb == VERB_START)
		say_hint("paused %.1f ms", (double)t->pause / 1e6);
	else
		say_hint("paused %.1f ms; Ctrl-C removes the probes", (double)t->pause / 1e6);
}

static void say_unknown_waits(const struct trace *t)
{
	if (!t->off_cpu || !t->switches)
		return;
	uint64_t gaps = switches_gaps(t->switches);

	if (gaps)
		say_hint("%llu time%s the kernel had more switches of threads than it keeps until "
			 "they are read: of calls at these times cpu and wait are not known",
			 (unsigned long long)gaps, gaps == 1 ? "" : "s");
	if (switches_blind(t->switches))
		say_hint("a processor has come or gone meanwhile: of calls from then on cpu and wait "
			 "are not known");
}

void trace_say_disturbed(const struct trace *t)
{
	say_unknown_waits(t);
	if (t->inf.map.s && t->inf.map.s->given_up)
		say_hint("since a process was about to set a seccomp filter, or to handle its page "
			 "faults or system calls itself, what its arguments point to was not read");
	if (t->target.shortened)
		say("%u transfer%s of the target ended early because of the stops and cannot be "
		    "repaired", t->target.shortened, t->target.shortened == 1 ? "" : "s");
	if (t->target.repaired && t->opt->verbose)
		say_hint("%u interrupted call%s of the target ran again", t->target.repaired,
			 t->target.repaired == 1 ? "" : "s");
}

