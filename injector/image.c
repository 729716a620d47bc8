/* SPDX-License-Identifier: MIT */
#include "injector/image.h"

#include <time.h>

#include "injector/rdebug.h"

enum {
	LOOKS = 100,
	BETWEEN = 10 * 1000 * 1000,	/* ns */
};

static bool is_complete(const struct target *t, struct modules *mods)
{
	struct rdebug list = { 0 };
	struct r_debug now;

	for (size_t i = 0; i < mods->n && !list.at; i++)
		rdebug_find(&mods->v[i], &list);
	if (!list.at)
		return true;
	return rdebug_read(t, &list, &now) == 0 && now.r_map && now.r_state == RT_CONSISTENT;
}

static bool look(pid_t pid)
{
	struct modules mods = { 0 };
	struct target t;
	bool complete = target_open(pid, &t) < 0 || modules_open_process(pid, &mods) < 0 ||
		is_complete(&t, &mods);

	modules_close(&mods);
	target_close(&t);
	fail_clear();
	return complete;
}

void image_wait(pid_t pid, bool (*cancelled)(void))
{
	struct timespec between = { .tv_nsec = BETWEEN };

	for (int i = 0; i < LOOKS && !cancelled() && !look(pid); i++)
		nanosleep(&between, NULL);
}
