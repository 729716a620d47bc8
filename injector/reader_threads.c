/* SPDX-License-Identifier: MIT */
/* reader_threads: whose ring is it, and is that thread alive? */
#include "injector/reader_impl.h"

#include <stdio.h>
#include <sys/stat.h>

#include "injector/procfs.h"

#define load(p) __atomic_load_n((p), __ATOMIC_ACQUIRE)

enum { LOOK_NS = 20000000 };	/* threads are looked for that often */

bool threads_namespaced(pid_t pid)
{
	pid_t outer, inner;

	return pid > 0 && procfs_ids(pid, pid, &outer, &inner) > 1;
}

ino_t threads_namespace(pid_t pid)
{
	char path[64];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%d/ns/pid", pid);
	return stat(path, &st) < 0 ? 0 : st.st_ino;
}

/* Name the thread that the target's namespace knows as `tid`, in whichever process
 * it is. False if there is none any more. */
static bool find_outer(const struct reader *r, struct lane *l, pid_t tid)
{
	auto_free pid_t *pids = NULL;
	int n = procfs_processes(&pids);
	pid_t found = 0;

	for (int i = 0; i < n && found <= 0; i++) {
		l->pid = pids[i];
		if (threads_namespace(l->pid) == r->namespace)
			found = procfs_outer(l->pid, tid);
	}
	l->tid = found;
	return found > 0;
}

/* Of a thread that was gone before we came, what the ring says: a process that
 * records little has one thread as a rule, whose id is its own. */
static void name_forked(const struct reader *r, struct lane *l, pid_t pid, pid_t tid)
{
	if (!r->namespaced) {
		l->tid = tid;
		l->pid = (pid_t)procfs_status(tid, 0, "Tgid", 10, pid);
	} else if (!find_outer(r, l, tid)) {
		l->tid = tid;
		l->pid = pid;
		l->gone = true;
	}
}

void threads_name(const struct reader *r, struct lane *l, int32_t tid)
{
	int32_t pid = load(&l->ring->pid);
	pid_t outer = r->namespaced ? procfs_outer(r->pid, tid) : 0;

	l->owner = tid;
	l->forked = r->forks && pid > 0 && pid != load(&r->session->pid);
	if (l->forked) {
		name_forked(r, l, pid, tid);
		return;
	}
	l->pid = r->target;
	/* The same number, or a thread that was gone before we came. */
	l->tid = outer > 0 ? outer : tid;
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
 * has written can be read in this very pass, and nothing will follow. A long list
 * may leave out threads that live: if that one has ended at which a getdents began,
 * the kernel counts from the first again, and skips as many as have ended before it
 * (first_tid in fs/proc/base.c). So each that is missing is looked for.
 */
static void look_at_target(struct reader *r)
{
	auto_free pid_t *tids = NULL;
	int n = r->pid ? procfs_threads(r->pid, &tids) : 0;

	if (n <= 0 || is_over(r->pid, tids, n))
		return;
	vec_sort(tids, n, by_number);
	for (uint32_t i = 0; i < r->nrings; i++) {
		struct lane *l = &r->lanes[i];

		if (l->claimed && !l->forked && !l->gone)
			l->gone = !bsearch(&l->tid, tids, (size_t)n, sizeof(*tids),
					   by_number) && procfs_has_ended(r->pid, l->tid);
	}
}

/*
 * A claim that a signal handler has left for good leaves a ring with nothing in
 * it, for which no lane is made. Of a container's threads nobody asks here, for
 * to find one by its own id takes a look at every process: theirs stay until the
 * visit ends.
 */
static void free_unused(struct reader *r, const struct lane *l)
{
	uint64_t owner = load(&l->ring->owner);
	pid_t tid = (pid_t)(owner >> 32);

	if (l->claimed || (uint32_t)owner == RING_FREE || !r->pid || r->namespaced ||
	    load(&l->ring->head) != load(&l->ring->tail) || tid <= 0 ||
	    !procfs_has_ended(tid, 0))
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
			l->gone = procfs_has_ended(l->pid, l->tid);
		free_unused(r, l);
	}
}
