/* SPDX-License-Identifier: MIT */
#include "injector/session/plans.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
	LOOK_NS = 1000000, LOOKS = 200,
	MOST_FUNCS = 1 << REC_FUNC_BITS,
};

static uint64_t list_size(const struct session *s)
{
	return (uint64_t)s->plans_funcs * sizeof(uint32_t);
}

static int read_list(struct plans *p)
{
	uint64_t size = list_size(p->s);

	if (p->s->plans_funcs > MOST_FUNCS || 2 * size > p->s->plans_size)
		return fail(EBADMSG, "the session is damaged: its plans are not where they should "
			    "be");
	p->now = calloc(p->s->plans_funcs + 1u, sizeof(*p->now));
	p->next = calloc(p->s->plans_funcs + 1u, sizeof(*p->next));
	if (!p->now || !p->next)
		return fail(ENOMEM, "read the plans of the session");
	int err = segment_read(p->segment, p->s->plans_off + (p->s->plans_at & 1 ? size : 0),
			       p->now, size);
	if (!err)
		memcpy(p->next, p->now, size);
	return err;
}

static int take(struct plans *p, uint64_t at, uint64_t size)
{
	struct range *r = vec_push(p->taken, p->ntaken, p->taken_cap);

	if (!r)
		return fail(ENOMEM, "read the plans of the session");
	*r = (struct range){ at, at + ALIGN_UP(size, 8) };
	return 0;
}

/* What a plan that holds has, and its condition. */
static int take_plan(struct plans *p, uint64_t at)
{
	struct capture_plan head;
	size_t n = offsetof(struct capture_plan, plan.ops);

	if (at > p->s->plans_size - MIN(p->s->plans_size, sizeof(head)))
		return fail(EBADMSG, "the session is damaged: a plan is not where it should be");
	int err = segment_read(p->segment, p->s->plans_off + at, &head, n);

	if (!err)
		err = take(p, at, n + MIN(head.plan.nops, READS_MAX) * sizeof(head.plan.ops[0]));
	if (!err && head.condition)
		err = take(p, head.condition * 8ull, sizeof(struct condition));
	return err;
}

static int compare_at(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* Of all plans that hold, each once. */
static int find_taken(struct plans *p)
{
	auto_free uint32_t *sorted = malloc(list_size(p->s) + 1);

	if (!sorted)
		return fail(ENOMEM, "read the plans of the session");
	int err = take(p, 0, 2 * list_size(p->s));

	memcpy(sorted, p->now, list_size(p->s));
	vec_sort(sorted, p->s->plans_funcs, compare_at);
	for (uint32_t i = 0; i < p->s->plans_funcs && !err; i++)
		if (sorted[i] && (!i || sorted[i] != sorted[i - 1]))
			err = take_plan(p, sorted[i] * 8ull);
	if (!err)
		base_sort(p->taken, p->ntaken, sizeof(*p->taken));
	return err;
}

/* A thread that was seen out of the slow path since we came knows nothing of what was replaced
 * before. */
static bool is_in(const struct plans *p, uint32_t ring)
{
	struct thread t;
	raddr_t at = p->s->threads + (uint64_t)ring * THREAD_SIZE;
	bool ret = !target_read(p->target, at, &t, sizeof(t)) && t.magic == THREAD_MAGIC && t.busy;

	fail_clear();
	return ret;
}

/* Where no change was made before nothing was ever replaced. */
static int wait_idle(struct plans *p)
{
	const struct timespec pause = { .tv_nsec = LOOK_NS };
	uint32_t ring = 0;

	for (int n = 0; n < LOOKS && ring < p->s->nrings && !p->idle; n++) {
		nanosleep(&pause, NULL);
		while (ring < p->s->nrings && !is_in(p, ring))
			ring++;
	}
	p->idle |= ring == p->s->nrings;
	return p->idle ? 0 : fail(EBUSY, "a thread of the process has been inside of a call that is "
				  "recorded for long; try again");
}

int plans_open(const struct target *t, const struct segment *seg, const struct session *s,
	       struct plans *ret)
{
	*ret = (struct plans){ .target = t, .segment = seg, .s = s,
			       .number = s->plan_changes + 1, .idle = !s->plan_changes };
	int err = read_list(ret);

	err = err ? err : find_taken(ret);
	/* An attempt that fails has used its number, too. */
	err = err ? err : segment_write(seg, offsetof(struct session, plan_changes), &ret->number,
					sizeof(ret->number));
	return err ? err : wait_idle(ret);
}

/* The next gap that is large enough. */
static int find_gap(struct plans *p, uint64_t size, uint64_t *ret)
{
	for (; p->passed < p->ntaken && p->taken[p->passed].start < p->free + size; p->passed++)
		p->free = MAX(p->free, p->taken[p->passed].end);
	*ret = p->free;
	if (p->free > p->s->plans_size || size > p->s->plans_size - p->free)
		return fail(ENOSPC, "the session has no more room for conditions; stop, and start "
			    "with what is wanted");
	p->free += ALIGN_UP(size, 8);
	return 0;
}

static uint64_t hash_of(const uint8_t *bytes, size_t n)
{
	uint64_t ret = 0xcbf29ce484222325ull;

	for (size_t i = 0; i < n; i++)
		ret = (ret ^ bytes[i]) * 0x100000001b3ull;
	return ret;
}

/* One of this change that has the same bytes; 0: none. */
static uint32_t find_same(const struct plans *p, uint64_t hash, size_t size)
{
	for (size_t i = 0; i < p->nput; i++)
		if (p->put[i].hash == hash && p->put[i].size == size)
			return p->put[i].at;
	return 0;
}

static int put_anew(struct plans *p, const struct valued *v, uint64_t hash, uint32_t *ret)
{
	struct plan_put *put = vec_push(p->put, p->nput, p->put_cap);
	auto_free struct capture_plan *copy = put ? malloc(v->size) : NULL;
	uint64_t at = 0;

	if (!copy)
		return fail(ENOMEM, "write conditions");
	int err = find_gap(p, v->size, &at);

	memcpy(copy, v->plan, v->size);
	copy->number = p->number;
	copy->condition += copy->condition ? (uint32_t)(at / 8) : 0;
	err = err ? err : segment_write(p->segment, p->s->plans_off + at, copy,
					v->size);				/* 1 */
	*put = (struct plan_put){ hash, (uint32_t)(at / 8), (uint32_t)v->size };
	*ret = put->at;
	return err;
}

int plans_put(struct plans *p, uint32_t func, const struct valued *v)
{
	uint64_t hash = v && v->size ? hash_of((const uint8_t *)v->plan, v->size) : 0;

	if (func >= p->s->plans_funcs)
		return fail(ENOSPC, "the session has no room for conditions of so many functions; "
			    "stop, and start with what is wanted");
	p->next[func] = hash ? find_same(p, hash, v->size) : 0;
	return !hash || p->next[func] ? 0 : put_anew(p, v, hash, &p->next[func]);
}

int plans_switch(struct plans *p)
{
	uint8_t which = !(p->s->plans_at & 1);
	uint64_t size = list_size(p->s);
	const uint32_t planned = 1;
	int err = segment_write(p->segment, offsetof(struct session, planned), &planned,
				sizeof(planned));

	err = err ? err : segment_write(p->segment, p->s->plans_off + (which ? size : 0), p->next,
					size);						/* 2 */
	return err ? err : segment_write(p->segment, offsetof(struct session, plans_at), &which,
					 sizeof(which));				/* 3 */
}

void plans_close(struct plans *p)
{
	free(p->now);
	free(p->next);
	free(p->taken);
	free(p->put);
	*p = (struct plans){ 0 };
}
