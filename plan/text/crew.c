/* SPDX-License-Identifier: MIT */
#include "plan/text/crew.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>

enum { THREADS_MAX = 8 };

struct part {
	struct plan_impl own;
	bool done;		/* its work */
	int err;
	struct cause *cause;	/* NULL: unknown */
};

struct crew {
	const struct crew_work *work;
	struct plan_impl *p, before;	/* and how it was when the work began */
	struct part *parts;
	size_t nparts;
	pthread_mutex_t lock;	/* of what follows, and `done` */
	pthread_cond_t changed;
	size_t begun, joined;	/* parts */
	bool over;		/* one has failed: nothing more is begun */
};

/* One more part, unless enough are there that are not joined yet. Locked. */
static struct part *begin_part(struct crew *c)
{
	size_t most = c->joined + MIN(c->nparts - c->joined, c->work->ahead);

	return c->begun < most && !c->over ? &c->parts[c->begun++] : NULL;
}

/* Locked, but not while it works. The room for bodies goes from one part to the next. */
static void do_part(struct crew *c, struct part *part, struct body_room *spare)
{
	const struct crew_work *w = c->work;

	pthread_mutex_unlock(&c->lock);
	part->own = c->before;
	part->own.spare = *spare;
	if (w->begin)
		w->begin(&part->own);
	part->err = w->work(&part->own, (size_t)(part - c->parts), w->ctx);
	if (part->err) {
		part->cause = malloc(sizeof(*part->cause));
		if (part->cause)
			*part->cause = fail_keep();
		fail_clear();
	}
	*spare = part->own.spare;
	part->own.spare = (struct body_room){ 0 };
	pthread_mutex_lock(&c->lock);
	part->done = true;
	pthread_cond_broadcast(&c->changed);
}

static void *help(void *arg)
{
	struct crew *c = arg;
	struct body_room spare = { 0 };

	pthread_mutex_lock(&c->lock);
	while (c->joined < c->nparts && !c->over) {
		struct part *part = begin_part(c);

		if (part)
			do_part(c, part, &spare);
		else
			pthread_cond_wait(&c->changed, &c->lock);
	}
	pthread_mutex_unlock(&c->lock);
	body_room_free(&spare);
	return NULL;
}

/* Locked, but not while it joins. */
static int join_part(struct crew *c, struct part *part)
{
	const struct crew_work *w = c->work;
	int err = part->err;

	if (err && part->cause)
		fail_give_back(part->cause);
	pthread_mutex_unlock(&c->lock);
	if (!err && w->join)
		err = w->join(c->p, &part->own, (size_t)(part - c->parts), w->ctx);
	pthread_mutex_lock(&c->lock);
	c->joined++;
	c->over = err;
	pthread_cond_broadcast(&c->changed);
	return err;
}

/* The caller's thread joins what is done, in order, and else works like the others. */
static int crew_lead(struct crew *c)
{
	struct body_room spare = { 0 };
	int err = 0;

	pthread_mutex_lock(&c->lock);
	while (c->joined < c->nparts && !err) {
		struct part *next = &c->parts[c->joined], *part;

		if (next->done)
			err = join_part(c, next);
		else if ((part = begin_part(c)))
			do_part(c, part, &spare);
		else
			pthread_cond_wait(&c->changed, &c->lock);
	}
	pthread_mutex_unlock(&c->lock);
	body_room_free(&spare);
	return err;
}

static size_t processors(void)
{
	cpu_set_t set;

	return sched_getaffinity(0, sizeof(set), &set) ? 1 : (size_t)CPU_COUNT(&set);
}

/* Signals are the caller's thread's. With fewer threads than wanted it takes longer. */
static int work_together(struct crew *c)
{
	size_t most = MIN(c->p->threads ? c->p->threads : processors(), THREADS_MAX), n = 0;
	pthread_t others[THREADS_MAX];
	sigset_t all, before;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	while (n + 1 < MIN(most, c->nparts) && !pthread_create(&others[n], NULL, help, c))
		n++;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	int err = crew_lead(c);

	while (n)
		pthread_join(others[--n], NULL);
	return err;
}

int crew_run(struct plan_impl *p, const struct crew_work *w, size_t nparts)
{
	auto_free struct part *parts = calloc(nparts + 1, sizeof(*parts));
	struct crew c = { .work = w, .p = p, .before = *p, .parts = parts, .nparts = nparts,
			  .lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER };

	if (!parts)
		return fail(ENOMEM, "plan %s", p->symbols->base);
	int err = work_together(&c);

	for (size_t i = 0; i < c.begun; i++) {
		if (w->drop)
			w->drop(&parts[i].own, i, w->ctx);
		free(parts[i].cause);
	}
	return err;
}

int crew_append_bytes(void **to, size_t *n, size_t *cap, void **from, size_t more, size_t size)
{
	void *room = more ? reallocarray(*to, *n + more, size) : NULL;

	if (!more)
		return 0;
	if (!room)
		return fail(ENOMEM, "plan");
	memcpy((char *)room + *n * size, *from, more * size);
	*to = room;
	*cap = *n += more;
	free(*from);
	*from = NULL;
	return 0;
}

bool crew_spend(struct plan_impl *p, uint64_t bytes)
{
	uint64_t left = __atomic_load_n(p->budget, __ATOMIC_RELAXED);

	do {
		if (bytes > left)
			return false;
	} while (!__atomic_compare_exchange_n(p->budget, &left, left - bytes, true,
					      __ATOMIC_RELAXED, __ATOMIC_RELAXED));
	return true;
}
