/* SPDX-License-Identifier: MIT */
/* target, continued: which threads are signals of the process sent to? */
#include "injector/proc/children.h"
#include "injector/ptrace/target_impl.h"

bool target_was_addressed(const struct target *t, pid_t tid)
{
	for (size_t i = 0; i < t->naddressed; i++)
		if (t->addressed[i] == tid)
			return true;
	return false;
}

void target_note_addressed(struct target *t, pid_t tid)
{
	pid_t *to = target_was_addressed(t, tid) ? NULL :
		vec_push(t->addressed, t->naddressed, t->addressed_cap);

	if (to)
		*to = tid;
}

bool target_is_addressed(struct target *t, pid_t tid)
{
	if (tid == t->pid || (!target_was_addressed(t, tid) && children_any(t->pid, tid)))
		target_note_addressed(t, tid);
	return target_was_addressed(t, tid);
}
