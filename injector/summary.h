/* SPDX-License-Identifier: MIT */
/* summary: what is said when all is over? */
#ifndef INJECTOR_SUMMARY_H
#define INJECTOR_SUMMARY_H

#include "base/base.h"

struct summary {
	uint64_t functions, refused;
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

#endif
