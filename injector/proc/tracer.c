/* SPDX-License-Identifier: MIT */
#include "injector/proc/tracer.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "injector/log/clock.h"
#include "injector/log/say.h"
#include "injector/proc/procfs.h"
#include "injector/proc/signals.h"

static const uint64_t PATIENCE = 10ull * 1000 * 1000 * 1000;	/* ns */

/* A thread of ours. */
static bool is_ours(pid_t tracer)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/task/%d", tracer);
	return access(path, F_OK) == 0;
}

pid_t tracer_of(pid_t pid)
{
	auto_free pid_t *tids = NULL;
	int n = procfs_threads(pid, &tids);

	for (int i = 0; i < n; i++) {
		pid_t tracer = (pid_t)procfs_status(pid, tids[i], "TracerPid", 10, 0);

		if (tracer && !is_ours(tracer) && !procfs_await_end(tracer))
			return tracer;
	}
	fail_clear();
	return 0;
}

void tracer_await(pid_t pid, uint64_t *waited)
{
	const struct timespec rest = { 0, 20 * 1000 * 1000 };
	unsigned int signals = signals_stops();
	uint64_t begin = clock_monotonic();
	bool said = false;
	pid_t tracer;

	while (*waited < PATIENCE && (tracer = tracer_of(pid)) && signals_stops() == signals) {
		char name[32];
		uint64_t now;

		procfs_comm(tracer, name, sizeof(name));
		if (!said)
			say("%s (pid %d) traces %d: waiting for it to detach, up to %.0f s; "
			    "Ctrl-C ends the wait and leaves the probes", name, tracer, pid,
			    (double)(PATIENCE - *waited) / 1e9);
		said = true;
		nanosleep(&rest, NULL);
		now = clock_monotonic();
		*waited += now - begin;
		begin = now;
	}
}
