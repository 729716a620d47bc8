/* SPDX-License-Identifier: MIT */
/* reader_threads: whose ring is it, and is that thread alive? */
#include "injector/reader/reader_impl.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "injector/proc/procfs.h"

#define load(p) __atomic_load_n((p), __ATOMIC_ACQUIRE)

enum {
	LOOK_NS = 5000000,	/* between two looks at the threads, at least: a call that a
				 * thread's end has ended seems to last until the next look */
	LOOK_SHARE = 10,	/* and so many times as long as the last one took */
};
enum { UNASKED = -1, UNKNOWN = -2 };	/* in place of a descriptor */

/* Our id of the thread that has it; 0: none has any more; or -errno: the thread is not
 * known, and so is not taken for gone. Until then the lane has the id that the ring says. */
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
	l->pid = l->forked ? pid : r->pid;
	l->unnamed = false;
	if (r->ids.other)
		find_thread(r, l);
	else if (l->forked)
		l->pid = (pid_t)procfs_status(tid, 0, "Tgid", 10, pid);
}

/* The kernel says that it has ended, and what it has written is seen from here on: the answer
 * that a thread is not there orders no load by itself. */
static void see_end(void)
{
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
}

static void lane_thread_end(struct lane *l, uint64_t tsc)
{
	see_end();
	l->gone = true;
	l->gone_at = tsc;
}

/*
 * Does its process run another program? Then the memory that we have open is gone; or, if
 * that was opened too late, another's, where no session is. No one failed read decides.
 */
static bool has_left(const struct reader *r, struct lane *l)
{
	char path[32], byte;
	ssize_t n = 1;

	if (l->memory == UNASKED) {
		snprintf(path, sizeof(path), "/proc/%d/mem", l->pid);
		l->memory = open(path, O_RDONLY | O_CLOEXEC);
		l->memory = l->memory < 0 ? UNKNOWN : l->memory;
	}
	for (int i = 0; l->memory >= 0 && i < 2; i++) {
		n = pread(l->memory, &byte, 1, (off_t)load(&r->session->base));
		if (n == 1)
			return false;
	}
	return n == 0 || (n < 0 && errno == EIO);
}

void threads_forget(struct lane *l)
{
	if (l->memory >= 0)
		close(l->memory);
	l->memory = UNASKED;
}

bool threads_is_over(const struct reader *r, struct lane *l)
{
	return (r->over && !l->forked) || (l->forked && has_left(r, l)) ||
	       !procfs_live_thread(l->pid);
}

/*
 * The list is read before the rings are: what a thread that is missing in it
 * has written can be read in this very pass, and nothing will follow. A long list
 * may leave out threads that live: if that one has ended at which a getdents began,
 * the kernel counts from the first again, and skips as many as have ended before it
 * (first_tid in fs/proc/base.c). So each that is missing is looked for; and the main one,
 * which stays in the list when it has ended.
 */
static void look_at_target(struct reader *r)
{
	auto_free pid_t *tids = NULL;
	int n = r->pid && !r->over ? procfs_tasks(r->pid, &tids) : 0;

	if (n <= 0 && !r->over)
		return;
	for (uint32_t i = 0; i < r->nrings; i++) {
		struct lane *l = &r->lanes[i];

		if (!l->claimed || l->forked || l->gone)
			continue;
		if (r->over)
			lane_thread_end(l, r->over);
		else if (l->unnamed ? find_thread(r, l) == 0 :
			 (l->tid == r->pid || !procfs_is_listed(tids, n, l->tid)) &&
			 procfs_has_ended(r->pid, l->tid))
			lane_thread_end(l, r->now);
	}
}

static bool is_gone(struct reader *r, struct lane *l)
{
	return l->unnamed ? find_thread(r, l) == 0 : procfs_has_ended(l->pid, l->tid);
}

static void look_at_child(struct reader *r, struct lane *l)
{
	if (is_gone(r, l) || (!l->unnamed && has_left(r, l)))
		lane_thread_end(l, r->now);
}

void threads_look_at(struct reader *r, struct lane *l)
{
	if (l->forked)
		look_at_child(r, l);
	else if (r->over)
		lane_thread_end(l, r->over);
	else if (r->pid && is_gone(r, l))
		lane_thread_end(l, r->now);
}

void threads_offer(struct reader *r, const struct lane *l)
{
	uint32_t *next = &r->session->next_ring, i = (uint32_t)(l - r->lanes);

	if (i < load(next))
		__atomic_store_n(next, i, __ATOMIC_RELAXED);
	__atomic_fetch_add(&r->session->returns, 1, __ATOMIC_RELEASE);
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
	see_end();
	counts_end(r, l, tid);
	if (__atomic_compare_exchange_n(&l->ring->owner, &owner, owner >> 32 << 32 | RING_FREE,
					false, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
		threads_offer(r, l);
}

/* The last look is taken whenever the one before was. */
void threads_look(struct reader *r)
{
	uint64_t now = clock_monotonic();

	if (r->frozen || (!r->last && now < r->next_look))
		return;
	look_at_target(r);
	for (uint32_t i = 0; i < r->nrings; i++) {
		struct lane *l = &r->lanes[i];

		if (l->claimed && l->forked && !l->gone)
			look_at_child(r, l);
		free_unused(r, l);
	}
	r->next_look = now + MAX((uint64_t)LOOK_NS, (clock_monotonic() - now) * LOOK_SHARE);
}
