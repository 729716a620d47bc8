/* SPDX-License-Identifier: MIT */
/*
 * watches: which calls are too long, and what becomes of what was recorded before one?
 *
 * The payload times the calls of the functions that --snapshot-on names (watched.c there)
 * and keeps the moments before and after the first that takes too long. They stay until
 * a snapshot has them, which arms the watch again.
 */
#ifndef INJECTOR_WATCHES_H
#define INJECTOR_WATCHES_H

#include "injector/modules/select.h"
#include "injector/options/options.h"
#include "injector/verbs/visit.h"
#include "trace/format/ticks.h"

/* Mark the probes that are meant, before anything is placed. */
int watches_choose(const struct options *, const struct selection *);
/* Tell the payload, once functions have ids. */
int watches_arm(const struct options *, const struct selection *, const struct clock *,
		struct session *);
/* Has one fired? Then its moments are kept. */
bool watches_fired(const struct session *);
/* Which call, and when. */
void watches_say(const struct session *, const struct about *);
/* All of it was copied: record again, and wait for the next one. */
int watches_again(const struct visit *);

#endif
