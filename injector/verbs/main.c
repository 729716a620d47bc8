/* SPDX-License-Identifier: MIT */
/*
 * inject: trace functions in processes that are already running.
 *
 * The attach is attach() (attach.c), step by step; verb_trace (trace.c) calls it.
 */
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "injector/launch/launch.h"
#include "injector/log/say.h"
#include "injector/ptrace/pace.h"
#include "injector/ptrace/target.h"
#include "injector/verbs/audit.h"
#include "injector/verbs/verbs.h"

static int print(const char *text)
{
	if (fputs(text, stdout) >= 0 && fflush(stdout) == 0)
		return STATUS_DONE;
	say("cannot write to standard output: %s", strerror(errno));
	return STATUS_FAILED;
}

static int print_help(const char *verb)
{
	auto_free char *text = help_text(verb);

	return text ? print(text) : (say("memory is out"), STATUS_FAILED);
}

static int main_run(const struct options *o)
{
	switch (o->verb) {
	case VERB_TRACE:
	case VERB_RECORD:
	case VERB_COUNT:
	case VERB_TOP:
	case VERB_START:
		return verb_trace(o);
	case VERB_HIST:
		return options_recorded(o) ? verb_read(o) : verb_trace(o);
	case VERB_LIST:
		return verb_list(o);
	case VERB_STOP:
		return verb_stop(o);
	case VERB_STATUS:
		return verb_status(o);
	case VERB_SNAPSHOT:
		return verb_snapshot(o);
	case VERB_ADD:
		return verb_add(o);
	case VERB_REMOVE:
		return verb_remove(o);
	case VERB_FILTER:
		return verb_filter(o);
	case VERB_REPLAY:
	case VERB_REPORT:
	case VERB_GRAPH:
	case VERB_INFO:
	case VERB_EXPORT:
		return verb_read(o);
	case VERB_HELP:
		return print_help(o->named);
	case VERB_VERSION:
		return print("inject " INJECT_VERSION "\n");
	}
	return STATUS_USAGE;
}

static int run_audited(const struct options *o, int argc, char **argv)
{
	if (o->verbose)
		target_tell_holds();
	int err = audit_begin(o, argc, argv);
	int status = !err ? main_run(o) : o->command ? LAUNCH_FAILED : STATUS_FAILED;

	if (err)
		say_lines(fail_text());
	audit_end(status);
	return status;
}

enum { KEPT = 32 << 20, TAKEN = 1 << 20 };	/* bytes: see keep_memory */

/*
 * Debug files are read from this machine only. `given` is left as it is, for a
 * command that we start: unsetenv works on the array that environ points to.
 */
static int own_environment(char **given)
{
	size_t n = 0;

	while (given[n])
		n++;
	char **copy = calloc(n + 1, sizeof(*copy));
	if (!copy)
		return fail(ENOMEM, "copy the environment");
	memcpy(copy, given, n * sizeof(*copy));
	environ = copy;
	unsetenv("DEBUGINFOD_URLS");
	return 0;
}

/*
 * What we open must not take the number of a standard stream that was closed:
 * we would print into the target's memory. What stands there instead cannot be
 * written, and a command that we start does not inherit it.
 */
static int hold_streams(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDONLY | O_CLOEXEC) != fd)
			return fail(errno, "open /dev/null for the closed descriptor %d", fd);
	return 0;
}

/* The threads that plan take and free large lists. What goes back to the kernel each time
 * makes all processors wait for each other, and is taken again. (Not every C library has
 * mallopt.) */
static void keep_memory(void)
{
#ifdef __GLIBC__
	mallopt(M_MMAP_THRESHOLD, KEPT);
	mallopt(M_TRIM_THRESHOLD, KEPT);
	mallopt(M_TOP_PAD, TAKEN);
#endif
}

int main(int argc, char **argv, char **environment)
{
	bool launch = options_launch(argc, argv);
	struct options o = { 0 };
	int status = launch ? LAUNCH_FAILED : STATUS_FAILED;

	keep_memory();
	int err = hold_streams();
	err = err ? err : own_environment(environment);
	if (!err && !launch)
		status = STATUS_USAGE;
	err = err ? err : options_parse(argc, argv, &o);
	o.environment = environment;
	if (err)
		say_lines(fail_text());
	else
		status = run_audited(&o, argc, argv);
	/* What has gone at leisure would end at leisure. */
	pace_set(PACE_EQUAL);
	options_clear(&o);
	if (environ != environment)
		free(environ);
	return status;
}
