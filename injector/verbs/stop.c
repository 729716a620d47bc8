/* SPDX-License-Identifier: MIT */
/* stop: remove every probe of an earlier session, also a killed injector's. */
#include <errno.h>

#include "injector/log/say.h"
#include "injector/patch/unmap.h"
#include "injector/proc/procfs.h"
#include "injector/proc/signals.h"
#include "injector/proc/tracer.h"
#include "injector/ptrace/preflight.h"
#include "injector/session/session.h"
#include "injector/verbs/verbs.h"
#include "injector/verbs/visit.h"

/* Have the process, or take it. */
static int stop_claim(const struct options *o, const struct target *t)
{
	int err = target_claim(t);

	if (err != -EBUSY || !o->force)
		return err;
	fail_clear();
	return 0;
}

/* Of a session that went on by itself, it was not said yet. */
static void say_disarmed(pid_t pid)
{
	struct visit v;

	if (visit_open(pid, &v) == 0) {
		if (session_is_started(&v.session) && visit_started(&v, false) == 0)
			visit_say_disarmed(&v);
		visit_close(&v);
	}
	fail_clear();
}

static void say_removed(const struct options *o, const struct removal *r)
{
	if (r->foreign)
		say("no probes in %d, where inject never was; its code differs from its files "
		    "in %zu place%s", o->pid, r->foreign, r->foreign == 1 ? "" : "s");
	else if (!r->sites)
		say("no probes in %d; text verified", o->pid);
	else
		say("%zu sites in %zu process%s restored; longest pause %.1f ms; all probes "
		    "removed, text verified", r->sites, r->processes,
		    r->processes == 1 ? "" : "es", (double)r->longest_pause / 1e6);
}

int verb_stop(const struct options *o)
{
	struct removal r = { .max_pause = o->max_pause, .by_force = o->force };
	struct target t = { .mem = -1 };

	say_quiet(o->quiet);
	int err = signals_begin(), held = 0;
	if (!err)
		tracer_await(o->pid, &r.waited);
	err = err ? err : preflight_stop(o->pid);
	err = err ? err : target_open(o->pid, &t);
	err = err ? err : (held = stop_claim(o, &t));
	if (err) {
		int status = verb_failed(preflight_again(preflight_stop, o->pid, err));

		target_close(&t);
		if (held == -EBUSY)
			say_hint("--force removes the probes all the same");
		return status;
	}
	say_disarmed(o->pid);
	err = remove_probes(o->pid, &r);
	if (!err) {
		session_end(&t);
		unmap_rings(o->pid, &r);
	}
	target_close(&t);
	removal_say_pause(&r);
	if (r.shortened)
		say("%u transfer%s of the target ended early because of the stops",
		    r.shortened, r.shortened == 1 ? "" : "s");
	if (err == -ESRCH && (!procfs_live_thread(o->pid) || procfs_await_end(o->pid)))
		return verb_failed(err);
	if (err) {
		say("probes remain, or the code could not be verified: %s; try inject stop -p %d "
		    "again", fail_text(), o->pid);
		return STATUS_REMAINS;
	}
	say_removed(o, &r);
	return STATUS_DONE;
}
