/* SPDX-License-Identifier: MIT */
/*
 * semaphores: counters in a program's data that tell it that its places for tracers (USDT) are
 * looked at, so that it takes the trouble to make their arguments.
 *
 * A counter is raised by one in the stop that puts the first probe in that has it, and lowered
 * in the stop that takes them out. What was done the journal knows, whenever we are killed:
 *
 *  1. The slot has the value from before. *Nothing more.*
 *  2. It is PLANNED. *The counter has that value, or one more.*
 *  3. The counter has one more.
 *  4. The slot is ACTIVE. *It was raised, whatever others have done to it since.*
 *
 * And to lower it: the slot gets the value from then, it is PLANNED again, the counter is lowered,
 * and the slot REMOVED.
 *
 * With a library that is unloaded go its counters. Where one is loaded later, at the same place,
 * too, they are what the file says, and what the library itself or other tracers have added: their
 * slots are REMOVED as soon as that is seen, so that they are raised there, too. Where it was not
 * seen, as inject was killed, they are not lowered.
 *
 * A forked child has the counters as they were when it was forked: raised, if the jumps stand in
 * its text, for no process is forked in a stop.
 */
#ifndef INJECTOR_SEMAPHORES_H
#define INJECTOR_SEMAPHORES_H

#include "injector/modules/select.h"
#include "injector/patch/live.h"

/* 5. A slot for each counter of the selection's probes that is in its module's data. */
int semaphores_list(struct infection *, const struct selection *, struct live *);
/* These modules were loaded since the slots of counters in them were written, if there are any. */
void semaphores_forget(const struct target *, struct infection *, const struct modules *loaded);
/* 8 is done, and no thread runs yet: raise those of the probes that stand. */
void semaphores_raise(const struct target *, struct infection *, const struct live *);
/* Read what semaphores_lower asks for of files, for it is called in a stop. */
void semaphores_prepare(const struct old_session *, const struct modules *);
/* Lower what an earlier or this visit has raised. `own`: the journal's states are this process's;
 * else the jumps stood in the text of a child. */
void semaphores_lower(const struct target *, struct old_session *, const struct modules *,
		      bool own);

#endif
