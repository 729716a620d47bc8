/* SPDX-License-Identifier: MIT */
/* reader_threads: whose ring is it, and is that thread alive? */
#include "injector/reader_impl.h"

#include <errno.h>

#include "injector/procfs.h"

#define load(p) __atomic_load_n((p), __ATOMIC_ACQUIRE)

enum { LOOK_NS = 20000000 };	/* threads are looked for that often */

/* Our id of who has it; 0: nobody any more; or -errno: who is not known, and so is not
 * taken for gone. Until then the lane has the id that the ring says. */
static pid_t find_thread(const struct reader *r, struct lane *l)
{
	pid_t pid = l->pid;
	pid_t tid = l->forked ? namespace_anybody(&r->ids, l->owner, &pid) :
		namespace_outer(&r->ids, pid, l->owner);

	l->unnamed = tid <= 0;
	if (tid > 0) {
		l->pid = pid;
		l->tid = tid;
	}
	return tid;
}

/* Of a thread that was gone before we came, what the ring says: a process that
 * records little has one thread as a rule, whose id is its own. */
void threads_name(const struct reader *r, struct lane *l, int32_t tid)
{
	int32_t pid = load(&l->ring->pid);

	l->forked = r->forks && pid > 0 && pid != load(&r->session->pid);
	l->owner = l->tid = tid;
	l->pid = l->forked ? pid : r->target;
	l->unnamed = false;
	if (r->ids.other)
		find_thread(r, l);
	else if (l->forked)
		l->pid = (pid_t)procfs_status(tid, 0, "Tgid", 10, pid);
}

/* The whole process has ended. Nobody will want its rings, and the calls that
 * were open then have not been left: they are shown as still open. */
static bool is_over(pid_t pid, const pid_t *tids, int n)
{
	return n == 1 && tids[0] == pid && procfs_state(pid, pid) == 'Z';
}

/*
 * The list is read before the rings are: what a thread that is missing in it
 * has written can be read in this very pass, and nothing will follow. A long list
 * may leave out threads that live: if that one has ended at which a getdents began,
 * the kernel counts from the first again, and skips as many as have ended before it
 * (first_tid in fs/proc/base.c). So each that is missing is looked for.
 */
static void look_at_target(struct reader *r)
{
	auto_free pid_t *tids = NULL;
	int n = r->pid ? procfs_tasks(r->pid, &tids) : 0;

	if (n <= 0 || is_over(r->pid, tids, n))
		return;
	for (uint32_t i = 0; i < r->nrings; i++) {
		struct lane *l = &r->lanes[i];

		if (!l->claimed || l->forked || l->gone)
			continue;
		if (l->unnamed)
			l->gone = find_thread(r, l) == 0;
		else
			l->gone = !procfs_is_listed(tids, n, l->tid) &&
				procfs_has_ended(r->pid, l->tid);
	}
}

/* Of a container's threads this is asked only where the kernel translates, for to find
 * one by its own id takes a look at every process: theirs stay until the visit ends. */
static bool owner_has_ended(const struct reader *r, pid_t tid)
{
	pid_t outer = r->ids.certain ? namespace_outer(&r->ids, r->pid, tid) : -EAGAIN;

	return !outer || (outer > 0 && procfs_has_ended(outer, 0));
}

/* A claim that a signal handler has left for good leaves a ring with nothing in it, for
 * which no lane is made; and so does each thread where calls are counted. */
static void free_unused(struct reader *r, const struct lane *l)
{
	uint64_t owner = load(&l->ring->owner);
	pid_t tid = (pid_t)(owner >> 32);

	if (l->claimed || (uint32_t)owner == RING_FREE || !r->pid ||
	    load(&l->ring->head) != load(&l->ring->tail) || tid <= 0 ||
	    !owner_has_ended(r, tid))
		return;
	if (__atomic_compare_exchange_n(&l->ring->owner, &owner, owner >> 32 << 32 | RING_FREE,
					false, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
		lane_offer(r, l);
}

void threads_look(struct reader *r)
{
	uint64_t now = clock_monotonic();

	if (now - r->looked < LOOK_NS)
		return;
	r->looked = now;
	look_at_target(r);
	for (uint32_t i = 0; i < r->nrings; i++) {
		struct lane *l = &r->lanes[i];

		if (l->claimed && l->forked && !l->gone)
			l->gone = l->unnamed ? find_thread(r, l) == 0 :
				procfs_has_ended(l->pid, l->tid);
		free_unused(r, l);
	}
}
