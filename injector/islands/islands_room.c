/* SPDX-License-Identifier: MIT */
/*
 * islands, continued: where may none be, since something else has to be there?
 *
 * They come to lie all over the reach of a jump, and first: what is left between
 * them might not hold the stubs, which lie together.
 */
#include <errno.h>
#include <string.h>

#include "injector/islands/islands.h"
#include "injector/islands/needs.h"
#include "injector/proc/procfs.h"
#include "injector/ptrace/threads.h"
#include "injector/session/arena.h"

/* Beside the arenas: what gaps leave free beside every mapping, and a little more. */
#define BESIDE (1ull << 18)

static int is_heap(void *ctx, const struct mapping *m)
{
	return strcmp(m->path, "[heap]") == 0;
}

/* A program whose runtime maps its memory itself, and that has none by now, has no C library
 * that asks for one. */
uint64_t islands_heap(pid_t pid, const struct selection *sel)
{
	for (size_t i = 0; i < sel->n; i++) {
		const struct module *m = sel->v[i].module;
		const struct thread_runtime *r = m->is_exe ? threads_of(m->symbols) : NULL;

		if (r && r->own_heap)
			return procfs_maps(pid, is_heap, NULL) ? GAPS_HEAP_BESIDE : 0;
	}
	return GAPS_HEAP;
}

/* The place that stubs for this module would have: room for those of all, because
 * modules that are close together share one. */
static int room_leave(const struct gaps *gaps, const struct module *m, uint64_t bytes,
		      struct pages *ps, struct range *room)
{
	raddr_t at;
	int err = arena_find(gaps, m->span, ALIGN_UP(bytes, PAGE), arch_host()->reach, 0, &at);

	if (err == -ENOSPC) {
		fail_clear();
		return 0;
	}
	if (err)
		return err;
	*room = (struct range){ at - MIN(at, BESIDE), at + bytes + BESIDE };
	err = gaps_take(&ps->gaps, *room);
	return err ? err : gaps_take(&ps->last, *room);
}

int islands_leave(pid_t pid, const struct selection *sel, struct pages *ps, struct range *rooms)
{
	auto_free struct arena_need *needs = NULL;
	uint64_t bytes = ARENA_LEAST;
	struct gaps gaps = { 0 };
	uint32_t slots;
	int err = needs_list(sel, &needs, &slots);

	for (size_t i = 0; i < sel->n && !err; i++)
		bytes += needs[i].bytes;
	err = err ? err : gaps_find(pid, GAPS_HEAP, NULL, NULL, &gaps);
	for (size_t i = 0; i < sel->n && !err; i++)
		if (needs[i].bytes)
			err = room_leave(&gaps, needs[i].module, bytes, ps, &rooms[i]);
	gaps_clear(&gaps);
	return err;
}

static bool is_missing(const struct islands *islands, raddr_t at)
{
	for (size_t i = 0; i < islands->n; i++)
		if (!islands->pages[i].mapped &&
		    islands->pages[i].at == ALIGN_DOWN(at, PAGE))
			return true;
	return false;
}

/* The entry comes last, and is asked about first. */
static void check_probe(const struct islands *islands, const struct module *m,
			struct placed_probe *p)
{
	for (size_t i = p->nsites; i-- > 0 && !p->refusal; ) {
		if (!is_missing(islands, island_of(&p->sites[i], m)))
			continue;
		plan_give_up(p, &p->sites[i]);
		return;
	}
}

void islands_check(const struct islands *islands, struct selection *sel)
{
	for (size_t i = 0; i < sel->n; i++)
		for (size_t j = 0; j < sel->v[i].nprobes; j++)
			if (!sel->v[i].probes[j].refusal)
				check_probe(islands, sel->v[i].module,
					    &sel->v[i].probes[j]);
}
