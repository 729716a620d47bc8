/* SPDX-License-Identifier: MIT */
/*
 * How many pages of a sub-buffer does its thread have to ask the kernel for, where another
 * process has touched them?
 */
#include "tests/unit/payload_world.h"

enum { SUBS = 4, MOST = 8, PAGES = SUBBUF_SIZE / PAGE };

static struct world w;

static long faults(void)
{
	struct rusage u;

	MUST(!getrusage(RUSAGE_THREAD, &u));
	return u.ru_minflt;
}

/* All of the session, by another mapping of the same memory. */
static bool touch_all(void)
{
	void *other = mremap(w.s, 0, w.s->size, MREMAP_MAYMOVE);

	MUST(other != MAP_FAILED);
	bool touched = !madvise(other, w.s->size, MADV_POPULATE_READ);

	munmap(other, w.s->size);
	return touched;
}

static void fill_one(const struct ring *r, probed_fn *f)
{
	for (uint64_t head = r->head; r->head == head;)
		f(NULL);
}

int main(void)
{
	world_begin(&w, 1, SUBS);
	if (!touch_all()) {
		printf("skipped: this kernel does not know MADV_POPULATE_READ\n");
		return 77;
	}
	probed_fn *f = probed(&w, 1, NULL);

	f(NULL);
	const struct ring *r = world_ring_of(&w, 0);

	fill_one(r, f);
	long before = faults();

	fill_one(r, f);
	fprintf(stderr, "%ld faults for %d pages\n", faults() - before, PAGES);
	MUST(faults() - before < MOST);
	return 0;
}
