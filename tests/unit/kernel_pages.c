/* SPDX-License-Identifier: MIT */
/* What is mapped in a process is whole pages, also where a kernel has larger ones than this. */
#include "injector/proc/gaps.h"
#include "injector/proc/kernel.h"
#include "injector/session/arena.h"
#include "injector/session/session.h"
#include "tests/unit/check.h"

static uint64_t size;		/* bytes of a page */

/* (The linker leads calls of kernel_page to this one.) */
uint64_t __wrap_kernel_page(void);

uint64_t __wrap_kernel_page(void)
{
	return size;
}

static bool is_whole(uint64_t n)
{
	return n % size == 0;
}

static void shape(const struct session_wish *w, const struct old_session *reuse)
{
	struct session_shape s;

	MUST(session_shape(w, reuse, &s) == 0);
	CHECK(s.total && is_whole(s.total) && (reuse || is_whole(s.place)));
	if (reuse)
		CHECK(s.total <= reuse->place);
}

/* Of memory and of a file; the first one, and one in the place of another; and where addresses
 * are few. */
static void sessions(void)
{
	struct session_wish w = { .nthreads = 3, .max_slots = 1001, .nfuncs = 1000, .notes = PAGE };
	struct old_session old = { .found = true, .place = 100 << 20, .mapped = 100 << 20,
				   .s = { .nrings = 256, .max_slots = 1 << 16 } };

	for (int file = 0; file < 2; file++) {
		w.file = file;
		shape(&w, NULL);
		shape(&w, &old);
		w.most = 40 << 20;
		shape(&w, NULL);
		w.most = 0;
	}
}

/* Smaller sub-buffers have the same bytes, whatever is asked for, and there are not too many. */
static void sparse(void)
{
	for (uint64_t buffer = 0; buffer <= 1ull << 30; buffer = buffer ? 4 * buffer : 1 << 20) {
		struct session_wish w = { .nthreads = 3, .buffer = buffer, .max_slots = 1001 };
		struct session_shape all, s;

		MUST(session_shape(&w, NULL, &all) == 0);
		w.sparse = true;
		MUST(session_shape(&w, NULL, &s) == 0);
		CHECK((uint64_t)s.nsub * s.sub_size == (uint64_t)all.nsub * all.sub_size);
		CHECK(s.total == all.total && s.nsub <= SUBBUFS_MOST && s.sub_size <= SUBBUF_SIZE);
		CHECK(s.sub_size >= 4096 && s.sub_size % 4096 == 0);
	}
}

static void arenas(void)
{
	const raddr_t text = 0x555500001000, reach = 1 << 27;
	struct range free[] = { { text - (9 << 20) + PAGE, text - (3 << 20) - PAGE },
				{ text + (5 << 20) + PAGE, text + (6 << 20) + 2 * PAGE } };
	const struct gaps gaps = { free, 2, 2, 3 };
	raddr_t at = 0;

	for (int i = 0; i < 10; i++) {
		CHECK(arena_find(&gaps, (struct range){ text, text + PAGE }, 1 << 20,
				 (int64_t)reach, at, &at) == 0);
		CHECK(is_whole(at));
		CHECK((at >= free[0].start && at + (1 << 20) <= free[0].end) ||
		      (at >= free[1].start && at + (1 << 20) <= free[1].end));
	}
}

static void holes(void)
{
	struct gaps gaps;

	MUST(gaps_find(getpid(), GAPS_HEAP, NULL, NULL, &gaps) == 0 && gaps.n);
	for (int i = 0; i < 2; i++) {
		for (size_t k = 0; k < gaps.n; k++)
			CHECK(is_whole(gaps.v[k].start) && is_whole(gaps.v[k].end));
		raddr_t in = gaps.v[0].start + PAGE;

		MUST(gaps_take(&gaps, (struct range){ in, in + PAGE }) == 0 && gaps.n);
	}
	gaps_clear(&gaps);
}

int main(void)
{
	for (size = PAGE; size <= 16 * PAGE; size *= 4) {
		sessions();
		sparse();
		arenas();
		holes();
	}
	return failures != 0;
}
