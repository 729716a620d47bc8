/* SPDX-License-Identifier: MIT */
/*
 * commit: steps 6 to 9: stop, park, write the jumps, read them back, release.
 *
 * On failure the text is as before and every thread runs. To be called on the
 * tracer thread.
 */
#ifndef INJECTOR_COMMIT_H
#define INJECTOR_COMMIT_H

#include "injector/patch/probes.h"

struct commit_options {
	struct modules *mods;
	uint64_t max_pause;	/* ns; a longer stop is given up and retried */
	bool (*cancelled)(void);/* asked between attempts; may be NULL */
};

/* Functions whose bytes a thread cannot leave are dropped as REFUSED_BUSY, those
 * that trap, where nothing may, as REFUSED_TRAP_UNSAFE. -EINTR when cancelled,
 * -EAGAIN when no attempt kept within max_pause. */
int commit(struct target *, struct infection *, struct live *,
	   const struct commit_options *);

#endif
