/* SPDX-License-Identifier: MIT */
/* trace, continued: what is said of a visit? */
#include "injector/procfs.h"
#include "injector/refused.h"
#include "injector/say.h"
#include "injector/trace_impl.h"

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

void trace_say_banner(const struct trace *t)
{
	size_t exits = t->live.nprobed - t->live.nentry_only;

	say_hint("%s (%d, %d thread%s): %zu of %zu function%s probed, %zu with exits",
		 t->target.comm, t->pid, t->nthreads, t->nthreads == 1 ? "" : "s",
		 t->live.nprobed, t->sel.nfuncs, t->sel.nfuncs == 1 ? "" : "s", exits);
	if (t->live.nentry_only && counts_kind(t->opt->verb) == COUNT_TIMES)
		say_hint("calls of %zu of them are counted only: where not all exits are probed, "
			 "or it is of Go, they have no durations", t->live.nentry_only);
	if (t->live.ntraps)
		say_hint("%zu of them trap, which is slow, and ends the process if it comes to "
			 "block SIGTRAP", t->live.ntraps);
	refused_say(&t->sel, t->opt->command ? 0 : t->pid);
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

void trace_say_disturbed(const struct trace *t)
{
	if (t->target.shortened)
		say("%u transfer%s of the target ended early because of the stops and cannot be "
		    "repaired", t->target.shortened, t->target.shortened == 1 ? "" : "s");
	if (t->target.repaired && t->opt->verbose)
		say_hint("%u interrupted call%s of the target ran again", t->target.repaired,
			 t->target.repaired == 1 ? "" : "s");
}

