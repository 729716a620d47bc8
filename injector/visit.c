/* SPDX-License-Identifier: MIT */
/* visit: which session is there in a process, for a verb that finds it there? */
#include "injector/visit.h"

#include "injector/look.h"
#include "injector/notes.h"

int visit_open(pid_t pid, struct visit *ret)
{
	*ret = (struct visit){ .target.mem = -1 };
	int err = look_session(pid);

	err = err ? err : target_open(pid, &ret->target);
	err = err ? err : session_find(&ret->target, &ret->session);
	ret->segment = (struct segment){ ret->target.mem, ret->session.base,
					 ret->session.mapped };
	if (!err)
		return 0;
	visit_close(ret);
	return look_again(look_session, pid, err);
}

void visit_close(struct visit *v)
{
	metadata_clear(&v->notes);
	session_forget(&v->session);
	target_close(&v->target);
}

int visit_started(struct visit *v, bool interrupted)
{
	const struct session *s = &v->session.s;

	if (session_is_started(&v->session) ||
	    (interrupted && v->session.found && s->started))
		return notes_read(&v->segment, s, &v->notes);
	return fail(0, "%d (%s) does not record by itself; inject start -p %d -f GLOB begins that",
		    v->target.pid, v->target.comm, v->target.pid);
}
