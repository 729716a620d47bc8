/* SPDX-License-Identifier: MIT */
/* visit: which session is there in a process, for a verb that finds it there? */
#ifndef INJECTOR_VISIT_H
#define INJECTOR_VISIT_H

#include "injector/patch/probes.h"
#include "injector/session/segment.h"
#include "injector/session/session.h"
#include "trace/format/metadata.h"

struct visit {
	struct target target;
	struct old_session session;	/* as it was when we came; checked */
	struct segment segment;
	struct metadata notes;
};

/* Open the process; there may be no session. Nothing is locked or changed. */
int visit_open(pid_t pid, struct visit *ret);
void visit_close(struct visit *);
/* For the verbs that need one: there is a session that goes on by itself, or, if
 * `interrupted` is taken too, that was meant to; and its notes are read. */
int visit_started(struct visit *, bool interrupted);
/* Is it a forked child of the session's process? It has the session's memory, too. */
bool visit_is_child(const struct visit *);
/*
 * For the verbs that change such a session, which is not that of a child's parent:
 *
 *  1. lock the process, so that no other inject changes it,
 *  2. and look again: what was there before may have been changed since.
 *
 * The lock is kept until visit_close().
 */
int visit_claimed(struct visit *);
/* With notes: forget, in this copy of the journal, what the code does not have: its library was
 * unloaded, and it or another one may be there now, or an add was killed before it was written.
 * Their slots are SLOT_REMOVED; of how many functions that were probed. The process's own journal
 * stays, for by that its session goes on, and what it holds can be fetched. */
size_t visit_forget_gone(struct visit *, const struct modules *loaded);
/* The same, and say of how many. */
void visit_tell_gone(struct visit *, const struct modules *loaded);
/* With notes: which functions are probed, by id, and how many? Owned by the caller;
 * NULL when memory is out. */
bool *visit_probed(const struct visit *, size_t *count);
/* With notes: which of those has the payload disarmed, because they cost too much? */
bool *visit_disarmed(const struct visit *, size_t *count);
/* Say which, if there are any. */
void visit_say_disarmed(const struct visit *);
/* With notes: the changes that stand, as the journal has it, and nothing else of the
 * probes. Those of functions that are not known are left out. */
int visit_changes(const struct visit *, struct live *ret);

#endif
