/* SPDX-License-Identifier: MIT */
#include "injector/session/spills.h"

#include <stdlib.h>

#include "injector/proc/procfs.h"

enum { MOST_SPILLS = 1 << 16 };

/* Where it is not certain which threads have ended, no area is given back. */
void spills_begin(const struct target *t, struct session *s, struct spills *ret)
{
	*ret = (struct spills){ .target = t, .at = s->spills, .n = s->nspills };
	namespace_open(t->pid, &ret->ids);
	if (s->keeper && ret->at && ret->n <= MOST_SPILLS && ret->ids.certain)
		ret->session = s;
}

void spills_end(struct spills *r)
{
	if (r->target)
		namespace_close(&r->ids);
	*r = (struct spills){ .target = NULL };
}

/* Threads that live; not all of them, perhaps: see look_at_target in reader_threads.c. */
struct listed {
	pid_t *tids;
	int n;
};

/* `tid` as the target knows it. */
static bool has_ended(const struct spills *r, const struct listed *l, pid_t tid)
{
	tid = namespace_outer(&r->ids, r->target->pid, tid);
	if (tid <= 0)
		return !tid;
	if (l && procfs_is_listed(l->tids, l->n, tid))
		return false;
	return procfs_has_ended(r->target->pid, tid);
}

static bool spills_mark(const struct spills *r, raddr_t area, uint8_t state)
{
	return target_write(r->target, area + SPILL_AREA_STATE, &state, 1) == 0;
}

static bool give_back(const struct spills *r, raddr_t area, const struct listed *l)
{
	const uint64_t mask = (1ull << 8 * SPILL_AREA_STATE) - 1;
	uint64_t owner;

	if (target_read(r->target, area, &owner, sizeof(owner)) < 0 ||
	    owner >> 8 * SPILL_AREA_STATE == SPILL_AREA_BACK)
		return false;
	/* A thread of C's is known by its thread pointer. */
	if (!(owner & mask) || (owner & mask) > INT32_MAX ||
	    !has_ended(r, l, (pid_t)owner))					/* 1 */
		return false;
	if (!spills_mark(r, area, SPILL_AREA_ASKED))					/* 2 */
		return false;
	bool ended = has_ended(r, NULL, (pid_t)owner);				/* 3 */
	return spills_mark(r, area, ended ? SPILL_AREA_BACK : 0) && ended;		/* 4 */
}

void spills_tick(const struct spills *r)
{
	auto_free pid_t *tids = NULL;
	struct listed l = { .n = r->session ? procfs_tasks(r->target->pid, &tids) : 0 };
	uint32_t back = 0;

	if (l.n <= 0)
		return;
	l.tids = tids;
	for (uint32_t i = 0; i < r->n; i++)
		back += give_back(r, r->at + (raddr_t)i * SPILL_AREA_SIZE, &l);
	fail_clear();
	if (back)
		__atomic_fetch_add(&r->session->returns, back, __ATOMIC_RELEASE);
}
