/* SPDX-License-Identifier: MIT */
#include "injector/rooms.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "injector/procfs.h"

enum { MOST_ROOMS = 1 << 16 };

/* Since Linux 6.11: the id that we know a thread by, of that which its namespace does. */
#ifndef NS_GET_PID_FROM_PIDNS
#define NS_GET_PID_FROM_PIDNS _IOR(0xb7, 0x6, int)
#endif

/* Without that system call nobody knows: a list of threads may leave out some that live,
 * and only who has an id of ours can be looked for. */
static bool find_namespace(struct rooms *r)
{
	pid_t pid = r->target->pid, outer, inner;
	int depth = procfs_ids(pid, pid, &outer, &inner);
	char path[64];

	r->namespace = -1;
	if (depth < 2)
		return depth == 1;
	snprintf(path, sizeof(path), "/proc/%d/ns/pid", pid);
	r->namespace = open(path, O_RDONLY | O_CLOEXEC);
	return r->namespace >= 0 && ioctl(r->namespace, NS_GET_PID_FROM_PIDNS, inner) == pid;
}

void rooms_begin(const struct target *t, struct session *s, struct rooms *ret)
{
	*ret = (struct rooms){ .target = t, .at = s->rooms, .n = s->nrooms, .namespace = -1 };
	if (s->of_go && ret->at && ret->n <= MOST_ROOMS && find_namespace(ret))
		ret->session = s;
}

void rooms_end(struct rooms *r)
{
	if (r->target && r->namespace >= 0)
		close(r->namespace);
	*r = (struct rooms){ .target = NULL };
}

/* Threads that live; not all of them, perhaps: see look_at_target in reader_threads.c. */
struct listed {
	pid_t *tids;
	int n;
};

static int by_number(const void *a, const void *b)
{
	pid_t x = *(const pid_t *)a, y = *(const pid_t *)b;

	return x < y ? -1 : x > y;
}

/* `tid` as the target knows it. */
static bool has_ended(const struct rooms *r, const struct listed *l, pid_t tid)
{
	if (r->namespace >= 0)
		tid = ioctl(r->namespace, NS_GET_PID_FROM_PIDNS, tid);
	if (tid < 0)
		return errno == ESRCH;
	if (l && bsearch(&tid, l->tids, (size_t)l->n, sizeof(tid), by_number))
		return false;
	return procfs_has_ended(r->target->pid, tid);
}

static bool mark(const struct rooms *r, raddr_t room, uint8_t state)
{
	return target_write(r->target, room + ROOM_STATE, &state, 1) == 0;
}

static bool give_back(const struct rooms *r, raddr_t room, const struct listed *l)
{
	const uint64_t mask = (1ull << 8 * ROOM_STATE) - 1;
	uint64_t owner;

	if (target_read(r->target, room, &owner, sizeof(owner)) < 0 ||
	    owner >> 8 * ROOM_STATE == ROOM_BACK)
		return false;
	/* A thread of C's is known by its thread pointer. */
	if (!(owner & mask) || (owner & mask) > INT32_MAX ||
	    !has_ended(r, l, (pid_t)owner))					/* 1 */
		return false;
	if (!mark(r, room, ROOM_ASKED))						/* 2 */
		return false;
	bool ended = has_ended(r, NULL, (pid_t)owner);				/* 3 */
	return mark(r, room, ended ? ROOM_BACK : 0) && ended;			/* 4 */
}

void rooms_tick(const struct rooms *r)
{
	auto_free pid_t *tids = NULL;
	struct listed l = { .n = r->session ? procfs_threads(r->target->pid, &tids) : 0 };
	uint32_t back = 0;

	if (l.n <= 0)
		return;
	l.tids = tids;
	vec_sort(tids, l.n, by_number);
	for (uint32_t i = 0; i < r->n; i++)
		back += give_back(r, r->at + (raddr_t)i * ROOM_SIZE, &l);
	fail_clear();
	if (back)
		__atomic_fetch_add(&r->session->returns, back, __ATOMIC_RELEASE);
}
