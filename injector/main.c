/* SPDX-License-Identifier: MIT */
/*
 * inject: trace functions in processes that are already running.
 *
 * The attach is in verb_trace (trace.c), step by step.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "injector/launch.h"
#include "injector/say.h"
#include "injector/verbs.h"

static int run(const struct options *o)
{
	switch (o->verb) {
	case VERB_TRACE:
	case VERB_RECORD:
		return verb_trace(o);
	case VERB_LIST:
		return verb_list(o);
	case VERB_STOP:
		return verb_stop(o);
	case VERB_REPLAY:
	case VERB_REPORT:
	case VERB_GRAPH:
	case VERB_INFO:
	case VERB_EXPORT:
		return verb_read(o);
	case VERB_HELP:
		return fputs(help_text, stdout) < 0 ? STATUS_FAILED : STATUS_DONE;
	case VERB_VERSION:
		return puts("inject " INJECT_VERSION) < 0 ? STATUS_FAILED : STATUS_DONE;
	}
	return STATUS_USAGE;
}

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

int main(int argc, char **argv, char **environment)
{
	bool launch = options_launch(argc, argv);
	struct options o = { 0 };
	int status = launch ? LAUNCH_FAILED : STATUS_USAGE;

	int err = own_environment(environment);
	err = err ? err : options_parse(argc, argv, &o);
	o.environment = environment;
	if (err)
		say_lines(fail_text());
	else
		status = run(&o);
	options_clear(&o);
	if (environ != environment)
		free(environ);
	return status;
}
