/* SPDX-License-Identifier: MIT */
/* reader_threads: whose ring is it, and is that thread alive? */
#include "injector/reader_impl.h"

#include "injector/procfs.h"

enum { LOOK_NS = 20000000 };	/* threads are looked for that often */

bool threads_namespaced(pid_t pid)
{
	pid_t outer, inner;

	return pid > 0 && procfs_ids(pid, pid, &outer, &inner) > 1;
}

int32_t threads_host_tid(const struct reader *r, int32_t tid)
{
	pid_t outer = r->namespaced ? procfs_outer(r->pid, tid) : 0;

	/* The same number, or a thread that was gone before we came. */
	return outer > 0 ? outer : tid;
}

static int by_number(const void *a, const void *b)
{
	pid_t x = *(const pid_t *)a, y = *(const pid_t *)b;

	return x < y ? -1 : x > y;
}

/* The whole process has ended. Nobody will want its rings, and the calls that
 * were open then have not been left: they are shown as still open. */
static bool is_over(pid_t pid, const pid_t *tids, int n)
{
	return n == 1 && tids[0] == pid && procfs_state(pid, pid) == 'Z';
}

/*
 * The list is read before the rings are: what a thread that is missing in it
 * has written can be read in this very pass, and nothing will follow.
 */
void threads_look(struct reader *r)
{
	uint64_t now = clock_monotonic();
	auto_free pid_t *tids = NULL;
	int n;

	if (!r->pid || now - r->looked < LOOK_NS)
		return;
	r->looked = now;
	n = procfs_threads(r->pid, &tids);
	if (n <= 0 || is_over(r->pid, tids, n))
		return;
	qsort(tids, (size_t)n, sizeof(*tids), by_number);
	for (uint32_t i = 0; i < r->nrings; i++) {
		struct lane *l = &r->lanes[i];

		if (l->claimed && !l->gone)
			l->gone = !bsearch(&l->tid, tids, (size_t)n,
					   sizeof(*tids), by_number);
	}
}
