/* SPDX-License-Identifier: MIT */
/*
 * inject: trace functions in processes that are already running.
 *
 * The attach is in verb_trace (trace.c), step by step.
 */
#include <stdio.h>

#include "injector/say.h"
#include "injector/verbs.h"

static int run(const struct options *o)
{
	switch (o->verb) {
	case VERB_TRACE:
		return verb_trace(o);
	case VERB_LIST:
		return verb_list(o);
	case VERB_STOP:
		return verb_stop(o);
	case VERB_HELP:
		return fputs(help_text, stdout) < 0 ? STATUS_FAILED : STATUS_DONE;
	case VERB_VERSION:
		return puts("inject " INJECT_VERSION) < 0 ? STATUS_FAILED : STATUS_DONE;
	}
	return STATUS_USAGE;
}

int main(int argc, char **argv)
{
	struct options o;
	int status = STATUS_USAGE;

	/* Debug files are read from this machine only. */
	unsetenv("DEBUGINFOD_URLS");
	if (options_parse(argc, argv, &o) < 0)
		say_lines(fail_text());
	else
		status = run(&o);
	options_clear(&o);
	return status;
}
