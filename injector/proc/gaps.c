/* SPDX-License-Identifier: MIT */
#include "injector/proc/gaps.h"

#include <errno.h>
#include <string.h>

#include "arch/arch.h"
#include "injector/proc/kernel.h"
#include "injector/proc/procfs.h"

enum {
	LOWEST = 1 << 16,	/* vm.mmap_min_addr's usual value */
};
#define STACK (1ull << 30)	/* left to a stack downwards */

struct walk {
	struct gaps *gaps;
	gaps_ours ours;
	void *ctx;
	raddr_t end;		/* of the mapping below, and what is left free there */
	struct range heap;	/* what it is and may become */
	uint64_t growth;	/* of the heap */
	uint64_t stack;		/* what is left to it */
};

/*
 * Libraries lie right below what the kernel leaves to a stack: 128 MiB, or its limit if that is
 * more, and a part at random. Where a jump reaches no further it may have to lead to there, for
 * below them are the stacks of threads and what these have of a heap.
 */
static uint64_t left_to_stack(pid_t pid)
{
	uint64_t limit, reach = (uint64_t)arch_host()->reach;

	if (reach >= STACK || !procfs_limit(pid, "Max stack size", &limit))
		return STACK;
	return MIN(MAX(reach / 2, limit), STACK);
}

static int gaps_add(struct gaps *g, raddr_t start, raddr_t end)
{
	struct range r = { ALIGN_UP(start, kernel_page()), ALIGN_DOWN(end, kernel_page()) };
	struct range *new;

	if (r.start >= r.end)
		return 0;
	new = vec_push(g->v, g->n, g->cap);
	if (!new)
		return fail(ENOMEM, "look for free memory");
	*new = r;
	return 0;
}

/* What is free up to `start`, below and above the heap. */
static int add_around_heap(struct walk *w, raddr_t start, raddr_t end)
{
	int err = gaps_add(w->gaps, start, MIN(end, w->heap.start));

	return err ? err : gaps_add(w->gaps, MAX(start, w->heap.end), end);
}

/* Where a process's addresses end that has something at `used`: its kernel has as many bits of
 * address as its stack, the highest mapping, needs. The last page is never used. */
static raddr_t highest(raddr_t used)
{
	raddr_t top = arch_host()->top_least;

	while (top < used && top < arch_host()->top)
		top *= 2;
	return top - kernel_page();
}

static int next_mapping(void *ctx, const struct mapping *m)
{
	struct walk *w = ctx;
	raddr_t end = MIN(m->range.start, arch_host()->top - kernel_page());
	uint64_t guard = w->ours && w->ours(w->ctx, m) ? 0 : GAPS_BESIDE;

	end -= MIN(end, strcmp(m->path, "[stack]") == 0 ? w->stack : guard);
	if (strcmp(m->path, "[heap]") == 0) {
		w->heap.start = MIN(w->heap.start, m->range.start);
		w->heap.end = m->range.end + w->growth;
	}
	int err = add_around_heap(w, w->end, end);

	w->end = m->range.end + guard;
	w->gaps->mappings++;
	return err;
}

int gaps_find(pid_t pid, uint64_t heap, gaps_ours ours, void *ctx, struct gaps *ret)
{
	raddr_t start = procfs_heap(pid);
	struct walk w = { .gaps = ret, .ours = ours, .ctx = ctx,
			  .end = LOWEST + GAPS_BESIDE, .growth = heap, .stack = left_to_stack(pid),
			  .heap = { start - MIN(start, (raddr_t)GAPS_BESIDE), start + heap } };

	if (!start)	/* not said: begins with its mapping, if it has one */
		w.heap = (struct range){ arch_host()->top, arch_host()->top };

	*ret = (struct gaps){ 0 };
	int err = procfs_maps(pid, next_mapping, &w);

	if (!err && w.end < highest(w.end))
		err = add_around_heap(&w, w.end, highest(w.end));
	if (err)
		gaps_clear(ret);
	return err;
}

int gaps_take(struct gaps *g, struct range r)
{
	struct gaps left = { .mappings = g->mappings };
	int err = 0;

	for (size_t i = 0; i < g->n && !err; i++) {
		err = gaps_add(&left, g->v[i].start, MIN(g->v[i].end, r.start));
		err = err ? err : gaps_add(&left, MAX(g->v[i].start, r.end), g->v[i].end);
	}
	free(g->v);
	*g = left;
	return err;
}

void gaps_clear(struct gaps *g)
{
	free(g->v);
	*g = (struct gaps){ 0 };
}
