/* SPDX-License-Identifier: MIT */
/* verbs: what main calls. Each returns the exit status of inject(1). */
#ifndef INJECTOR_VERBS_H
#define INJECTOR_VERBS_H

#include "injector/options/options.h"

enum status {
	STATUS_DONE = 0,
	STATUS_FAILED = 1,	/* and the target runs as if nothing had been tried */
	STATUS_USAGE = 2,
	STATUS_NOTHING = 3,	/* nothing to probe */
	STATUS_GONE = 4,	/* the target ended before or during the run */
	STATUS_REMAINS = 5,	/* probes remain, or the text could not be verified */
};

int verb_trace(const struct options *);
int verb_list(const struct options *);
int verb_stop(const struct options *);
int verb_status(const struct options *);
int verb_snapshot(const struct options *);
int verb_add(const struct options *);
int verb_remove(const struct options *);
int verb_filter(const struct options *);
/* Everything that reads a trace directory. */
int verb_read(const struct options *);

/* Say the kept error; the status that goes with -errno `err`. */
int verb_failed(int err);

#endif
