/* SPDX-License-Identifier: MIT */
/* list: the functions of a file or of a process. Touches nothing. */
#include <errno.h>
#include <stdlib.h>

#include "injector/log/say.h"
#include "injector/patch/probes.h"
#include "injector/patch/traps.h"
#include "injector/proc/procfs.h"
#include "injector/proc/signals.h"
#include "injector/ptrace/preflight.h"
#include "injector/ptrace/pace.h"
#include "injector/session/session.h"
#include "injector/show/list.h"
#include "injector/show/list_values.h"
#include "injector/verbs/verbs.h"

/* For what is compared a jump of inject is as foreign as any. */
static void say_probed(const struct target *t)
{
	struct old_session old = { 0 };

	if (session_find(t, &old) == 0 && old.found && session_pending(&old))
		say_hint("%d has probes of inject now (inject status -p %d): functions that have one are "
			 "listed as foreign-patch", t->pid, t->pid);
	session_forget(&old);
}

/* What stands in the process's memory, if we may look at it: foreign
 * breakpoints, text that differs. */
static int compare_with_memory(pid_t pid, struct selection *sel)
{
	struct target t;

	if (target_open(pid, &t) == 0) {
		probes_check(&t, sel);
		say_probed(&t);
	} else {
		say_hint("the memory of %d cannot be read: its text was not compared", pid);
	}
	fail_clear();
	target_close(&t);
	/* If it has ended meanwhile, none of that is true. */
	return preflight_again(preflight_list, pid, 0);
}

static int say_no_match(struct modules *mods, const struct select_options *so, const char *unread)
{
	auto_free char *hint = select_hint(mods, so);

	say("no%s matches%s%s", so->nusdt || so->nat ? "thing" : " function", unread[0] ? ": " : "", unread);
	if (hint)
		say_lines(hint);
	else if (!unread[0] && select_unnamed(mods))
		say("%s is stripped, and without unwind entries", select_unnamed(mods));
	return unread[0] ? STATUS_FAILED : STATUS_NOTHING;
}

/* Some patterns have matched; those that have not are named. */
static void say_unmatched(struct modules *mods, const struct select_options *so)
{
	auto_free char *hint = select_hint(mods, so);

	if (hint)
		say_lines(hint);
}

/* What one run of the verb has listed so far. */
struct listing {
	const struct options *options;
	struct select_options select;
	struct output *out;
	struct list_totals all;
	size_t listed, foreign;	/* files with matches; that hold no code of ours */
	int status;		/* the first that is not 0 */
};

static void keep_status(struct listing *l, int status)
{
	if (!l->status)
		l->status = status;
}

/* `mods` is one file, called `name`, or a process, and its files: `name` NULL.
 * 0 or -errno; no match is neither an error nor listed. */
static int list_modules(struct listing *l, struct modules *mods, const char *name)
{
	bool one = l->options->nfiles < 2;
	struct selection sel = { 0 };
	int err = select_functions(mods, &l->select, &sel);

	say_progress_end();
	if (!err && !name && sel.n)
		err = compare_with_memory(l->options->pid, &sel);
	if (!err && !l->out)
		err = output_open(l->options->output, &l->out);
	if (!err && sel.nfuncs) {
		bool values = l->options->verbose || l->options->nat;

		err = list_print(&sel, (struct list_more){ .values = values ? &l->options->values :
									      NULL,
							   .stubs = l->options->stubs }, l->out);
		list_values_say(&sel);
		list_count(&sel, &l->all);
		l->listed++;
		list_say_doubts(&sel, l->options->verbose);
		if (!err && one)
			say_unmatched(mods, &l->select);
		if (!err && !one) {
			struct list_totals t = { 0 };

			list_count(&sel, &t);
			list_say(name, &t);
		}
	} else if (!err && one) {
		keep_status(l, say_no_match(mods, &l->select, sel.unread));
	}
	select_clear(&sel);
	return err;
}

/* One of several files: what cannot be read is said, and the next one follows.
 * A directory's scripts are no reason to complain, in any number. */
static int list_file(struct listing *l, const char *path)
{
	struct modules mods = { 0 };
	int err = modules_open_file(path, &mods);

	err = err ? err : list_modules(l, &mods, path);
	modules_close(&mods);
	if (err == -ENOEXEC && l->options->nfiles > 1) {
		fail_clear();
		l->foreign++;
	} else if (err && err != -EPIPE) {
		keep_status(l, verb_failed(err));
	}
	return err == -EPIPE ? err : 0;
}

static void list_files(struct listing *l)
{
	const struct options *o = l->options;

	for (size_t i = 0; i < o->nfiles && !signals_stop_wanted(); i++)
		if (list_file(l, o->files[i]))
			return;
	if (o->nfiles < 2)
		return;
	if (l->foreign)
		say("passed over as no 64-bit ELF of a known machine: %zu of %zu files",
		    l->foreign, o->nfiles);
	if (l->listed)
		list_say("together", &l->all);
	else if (!l->status)
		say("no function matches in any of %zu files", o->nfiles);
	if (!l->listed)
		keep_status(l, STATUS_NOTHING);
}

static int list_looked(struct listing *l)
{
	pid_t pid = l->options->pid;
	struct modules mods = { 0 };

	l->select.caught = procfs_caught(pid);
	l->select.traps = l->select.traps && traps_allowed(pid);
	int err = modules_open_process(pid, &mods);
	if (!err && !mods.n)
		err = fail(0, "no code of a file is mapped in %d", pid);
	err = err ? err : list_modules(l, &mods, NULL);
	modules_close(&mods);
	return err && err != -EPIPE ? preflight_again(preflight_list, pid, err) : err;
}

static void list_process(struct listing *l)
{
	pace_set(PACE_LEISURE);
	int err = preflight_list(l->options->pid);

	err = err ? err : list_looked(l);
	if (err && err != -EPIPE)
		keep_status(l, verb_failed(err));
}

int verb_list(const struct options *o)
{
	struct listing l = { .options = o, .select = {
		.include = o->include, .ninclude = o->ninclude,
		.exclude = o->exclude, .nexclude = o->nexclude,
		.usdt = o->usdt, .nusdt = o->nusdt, .at = o->at, .nat = o->nat,
		.around = o->around, .naround = o->naround,
		.inlined = o->inlined, .ends = !o->entry_only,
		.entry_only = o->entry_only, .traps = o->trap,
		.short_names = o->short_names, .progress = say_progress,
	} };

	say_quiet(o->quiet);
	int err = signals_begin();

	if (err)
		return verb_failed(err);
	if (o->nfiles)
		list_files(&l);
	else
		list_process(&l);
	if (o->nfiles < 2 && l.listed)
		list_say(NULL, &l.all);
	output_close(l.out);
	return l.status;
}
