/* SPDX-License-Identifier: MIT */
/* snapshot: what do the rings of a started session hold now, as a trace directory? */
#include <errno.h>
#include <time.h>

#include "injector/log/say.h"
#include "injector/proc/signals.h"
#include "injector/ptrace/preflight.h"
#include "injector/ptrace/pace.h"
#include "injector/session/session_file.h"
#include "injector/session/notes.h"
#include "injector/show/naming.h"
#include "injector/show/naming_files.h"
#include "injector/verbs/snapshot_record.h"
#include "injector/verbs/verbs.h"
#include "injector/verbs/visit.h"
#include "injector/verbs/watches.h"
#include "trace/output/place.h"

enum {
	LOOK_NS = 20000000,	/* between two looks for a slow call */
	AFTER_NS = 200000000,	/* what has to come after one */
};

static void say_written(const char *dir, const struct ring_snapshot *still,
			const struct snapshot_record *r)
{
	const struct about *a = &r->about;

	say("%llu calls, %llu events of the last %.3g s; %llu older events overwritten, %llu lost",
	    (unsigned long long)r->stats.calls, (unsigned long long)r->stats.events,
	    (double)clock_ns(&a->clock, a->end - a->begin) / 1e9,
	    (unsigned long long)still->overwritten, (unsigned long long)still->lost);
	say_hint("%.1f MiB in %s; inject replay %s shows the calls", (double)r->size / (1 << 20),
		 dir, dir);
}

static int write_trace(const struct metadata *notes, const struct ring_snapshot *still, pid_t pid,
		       const struct caller_names *names, const char *dir)
{
	struct snapshot_record r;
	int err = snapshot_record(still, &notes->about, pid, names, dir, &r);

	if (err)
		return err;
	if (watches_fired(still->map))
		watches_say(still->map, &r.about);
	say_written(dir, still, &r);
	return 0;
}

static int read_watch(struct visit *v)
{
	struct session *s = &v->session.s;
	int err = segment_read(&v->segment, 0, s, sizeof(*s));

	return !err && !session_is_sane(s, v->session.mapped) ?
		fail(EBADMSG, "the session of %d is damaged", v->target.pid) : err;
}

/* Until a watched call has taken too long, and something has come after it. */
static int wait_for_slow(struct visit *v)
{
	struct timespec look = { .tv_nsec = LOOK_NS }, after = { .tv_nsec = AFTER_NS };
	int err = v->session.s.nwatches ? 0 :
		fail(0, "no call is waited for in %d; start --snapshot-on begins that",
		     v->target.pid);

	say_hint("waiting for a call that takes too long; Ctrl-C ends that, and not the recording");
	while (!err && !watches_fired(&v->session.s)) {
		nanosleep(&look, NULL);
		err = read_watch(v);
		if (!err && !v->session.s.started)
			err = fail(0, "%d (%s) does not record any more", v->target.pid,
				   v->target.comm);
	}
	if (!err)
		nanosleep(&after, NULL);
	return err ? err : read_watch(v);
}

/* Callers are named by what the process has mapped now. */
static int write_named(const struct visit *v, const struct ring_snapshot *still,
		       const struct options *o)
{
	struct modules mods = { 0 };
	struct callers_tables signals = { 0 };
	struct naming naming = { .target = &v->target, .mods = &mods, .callers = &signals };
	const struct caller_names names = { naming_find, &naming };
	bool walks = v->session.s.callers_size;
	int err = walks ? modules_open_process(o->pid, &mods) : 0;

	if (!err && walks)
		err = callers_find_signals(&signals, &v->target, &mods);
	err = err ? err : write_trace(&v->notes, still, o->pid, walks ? &names : NULL,
				      options_directory(o));
	naming_end(&naming);
	callers_clear(&signals);
	modules_close(&mods);
	return err;
}

/* Of a process that records. */
static int snapshot_process(const struct options *o)
{
	struct ring_snapshot still = { 0 };
	struct visit v;
	int err = visit_open(o->pid, &v);

	if (err)
		return err;
	err = visit_started(&v, true);
	if (!err && o->wait)
		err = wait_for_slow(&v);
	err = err ? err : ring_snapshot_take(&v.segment, &v.session.s, &still);
	err = err ? err : write_named(&v, &still, o);
	if (!err)
		visit_say_disarmed(&v);
	if (!err && watches_fired(still.map))
		err = watches_again(&v);
	ring_snapshot_clear(&still);
	visit_close(&v);
	return err ? preflight_again(preflight_session, o->pid, err) : 0;
}

/* Of the file that `start -o` has made: its process may have ended. */
static int snapshot_file(const struct options *o)
{
	struct metadata notes = { 0 };
	struct ring_snapshot still = { 0 };
	struct naming_files naming = { 0 };
	const struct caller_names names = { naming_files_find, &naming };
	struct segment segment;
	struct session head;
	int err = session_file_open(o->directory, &segment, &head);

	if (err)
		return err;
	err = notes_read(&segment, &head, &notes);
	err = err ? err : ring_snapshot_take(&segment, &head, &still);
	if (!err && head.callers_size)
		err = naming_files_open(&naming, &notes.about);
	if (!err && head.callers_size && naming.others)
		say_hint("%zu file%s of the process %s not there any more as it had them: callers "
			 "in them are addresses", naming.others, naming.others == 1 ? "" : "s",
			 naming.others == 1 ? "is" : "are");
	err = err ? err : write_trace(&notes, &still, 0, head.callers_size ? &names : NULL,
				      options_directory(o));
	naming_files_close(&naming);
	ring_snapshot_clear(&still);
	metadata_clear(&notes);
	close(segment.fd);
	return err;
}

int verb_snapshot(const struct options *o)
{
	say_quiet(o->quiet);
	pace_set(PACE_HASTE);
	int err = place_check(options_directory(o));

	err = err ? err : o->directory ? snapshot_file(o) : snapshot_process(o);
	return err ? verb_failed(err) : STATUS_DONE;
}
