/* SPDX-License-Identifier: MIT */
/* list: the functions of a file or of a process. Touches nothing. */
#include <errno.h>
#include <stdlib.h>

#include "injector/list.h"
#include "injector/probes.h"
#include "injector/say.h"
#include "injector/signals.h"
#include "injector/verbs.h"

/* What stands in the process's memory, if we may look at it: foreign
 * breakpoints, text that differs. */
static void compare_with_memory(pid_t pid, struct selection *sel)
{
	struct target t;

	if (target_open(pid, &t) == 0)
		probes_check(&t, sel);
	else
		say_hint("the memory of %d cannot be read: its text was not compared", pid);
	fail_clear();
	target_close(&t);
}

static int open_modules(const struct options *o, struct modules *ret)
{
	return o->file ? modules_open_file(o->file, ret) : modules_open_process(o->pid, ret);
}

static int nothing(struct modules *mods, const struct select_options *so, const char *unread)
{
	auto_free char *hint = select_hint(mods, so);

	say("no function matches%s%s", unread[0] ? ": " : "", unread);
	if (hint)
		say_lines(hint);
	return unread[0] ? STATUS_FAILED : STATUS_NOTHING;
}

int verb_list(const struct options *o)
{
	struct modules mods = { 0 };
	struct selection sel = { 0 };
	struct output *out = NULL;
	struct select_options so = {
		.include = o->include, .ninclude = o->ninclude,
		.exclude = o->exclude, .nexclude = o->nexclude,
		.entry_only = o->entry_only, .progress = say_progress,
	};
	int status;

	say_quiet(o->quiet);
	int err = signals_begin();
	err = err ? err : open_modules(o, &mods);
	err = err ? err : select_functions(&mods, &so, &sel);
	say_progress_end();
	if (!err && !o->file && sel.n)
		compare_with_memory(o->pid, &sel);
	err = err ? err : output_open(o->output, &out);
	if (!err && !sel.nfuncs) {
		status = nothing(&mods, &so, sel.unread);
	} else {
		err = err ? err : list_print(&sel, out);
		status = err && err != -EPIPE ? verb_failed(err) : STATUS_DONE;
		if (!err)
			list_totals(&sel);
	}
	output_close(out);
	select_clear(&sel);
	modules_close(&mods);
	return status;
}
