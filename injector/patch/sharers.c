/* SPDX-License-Identifier: MIT */
#include "injector/patch/sharers.h"

#include <errno.h>

#include "injector/proc/procfs.h"
#include "injector/session/session.h"

static int maps_session(void *ctx, const struct mapping *m)
{
	const ino_t *session = ctx;

	return m->ino == *session && session_may_be(m);
}

bool sharers_has(pid_t pid, ino_t session)
{
	int found = procfs_maps(pid, maps_session, &session);

	if (found < 0 && found != -ENOENT && found != -ESRCH)
		found = procfs_maps(pid, maps_session, &session);
	if (found < 0)
		fail_clear();
	return found == 1;
}
