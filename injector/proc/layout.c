/* SPDX-License-Identifier: MIT */
#include "injector/proc/layout.h"

#include <errno.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "injector/proc/procfs.h"

struct reading {
	struct layout *layout;
	int (*each)(void *ctx, const struct mapping *);
	void *ctx;
	/* The image that mappings belong to which come just now. */
	dev_t dev;
	ino_t ino;
	raddr_t image;
};

static bool is_vdso(const struct mapping *m)
{
	return strcmp(m->path, "[vdso]") == 0;
}

/* The loader maps a file from its beginning on, upwards. */
static raddr_t image_of(struct reading *r, const struct mapping *m)
{
	bool file = m->ino && m->path[0] == '/';

	if (is_vdso(m))
		return m->range.start;
	if (file && (m->ino != r->ino || m->dev != r->dev || !m->offset)) {
		r->image = m->offset ? 0 : m->range.start;
		r->dev = m->dev;
		r->ino = m->ino;
	}
	return file ? r->image : 0;
}

/* What the last mapping goes on from is one with it: a stack of which a part is protected. */
static raddr_t below_last(const struct layout *l)
{
	size_t i = l->n - 1;

	while (i && l->v[i - 1].range.end == l->v[i].range.start)
		i--;
	return i ? l->v[i - 1].range.end : 0;
}

static int layout_note(void *ctx, const struct mapping *m)
{
	struct reading *r = ctx;
	struct layout *l = r->layout;
	struct area *a = vec_push(l->v, l->n, l->cap);

	if (!a)
		return fail(ENOMEM, "list the mappings of a process");
	*a = (struct area){ m->range, image_of(r, m), m->write, m->exec };
	if (strcmp(m->path, "[stack]") == 0) {
		l->main_stack = m->range;
		l->below = below_last(l);
	}
	return r->each ? r->each(r->ctx, m) : 0;
}

/* As the kernel tells when a thread has begun. */
static uint64_t ticks_now(void)
{
	struct timespec ts;
	uint64_t hz = (uint64_t)sysconf(_SC_CLK_TCK);

	clock_gettime(CLOCK_BOOTTIME, &ts);
	return (uint64_t)ts.tv_sec * hz + (uint64_t)ts.tv_nsec / (1000000000 / hz);
}

int layout_read(struct layout *l, pid_t pid, int (*each)(void *ctx, const struct mapping *),
		void *ctx)
{
	struct reading r = { .layout = l, .each = each, .ctx = ctx };

	layout_clear(l);
	l->taken = ticks_now();
	int err = procfs_maps(pid, layout_note, &r);
	if (err)
		layout_clear(l);
	return err;
}

const struct area *layout_at(const struct layout *l, raddr_t addr)
{
	size_t lo = 0, hi = l->n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (range_has(l->v[mid].range, addr))
			return &l->v[mid];
		if (l->v[mid].range.start > addr)
			hi = mid;
		else
			lo = mid + 1;
	}
	return NULL;
}

const struct area *layout_find(struct layout *l, pid_t pid, raddr_t addr)
{
	const struct area *a = layout_at(l, addr);
	struct layout now = { 0 };

	if (a || l->again)
		return a;
	l->again = true;
	if (layout_read(&now, pid, NULL, NULL) < 0)
		return NULL;
	now.again = true;
	layout_clear(l);
	*l = now;
	return layout_at(l, addr);
}

bool layout_knows(const struct layout *l, pid_t pid, pid_t tid)
{
	uint64_t start = procfs_thread_start(pid, tid);

	return start && start < l->taken;
}

void layout_clear(struct layout *l)
{
	free(l->v);
	*l = (struct layout){ 0 };
}
