/* SPDX-License-Identifier: MIT */
/* summary: what is said when all is over? */
#ifndef INJECTOR_SUMMARY_H
#define INJECTOR_SUMMARY_H

#include "trace/output/output.h"

struct summary {
	const char *program;	/* its name and pid, where there are others. NULL: there are none */
	int32_t pid;
	uint64_t functions, refused;
	uint64_t traps;		/* of the functions: that trap */
	uint64_t disarmed;	/* of the functions: by --max-overhead */
	uint64_t calls, events, lost;
	uint64_t pause_ns;	/* the longest stop of the target */
	const char *gone;	/* how the program that was probed has ended;
				 * then nothing was left to remove there */
	bool removed;		/* every probe, everywhere */
	bool verified;		/* the text was compared after that */
	const char *remains;	/* if not: what is left, and where */
};

/* The closing line: on standard error, also with -q. */
void summary_say(const struct summary *);
/* The first and the last line of --json; `at` is the wall clock, ns since 1970. */
void summary_json_start(struct output *, const struct summary *, int32_t pid, uint64_t at);
void summary_json(struct output *, const struct summary *, int32_t pid, uint64_t at);

#endif
