/* SPDX-License-Identifier: MIT */
/* threads_musl: musl has all its threads in a ring of control blocks, with their ids. */
#include <string.h>
#include <time.h>

#include "arch/arch.h"
#include "injector/proc/procfs.h"
#include "injector/ptrace/threads.h"

/* Where the words are in musl's struct pthread that we go by. The first is its own address. */
struct musl_layout {
	uint16_t behind;	/* the thread pointer leads so far behind the block's start */
	uint8_t prev, next, id;
};

/* From 1.1.22 on, which brought the ring; 1.2.2 took words out. The thread pointer of an
 * instruction set leads to the block, or to where it ends. */
static const struct musl_layout musl_layouts[] = {
	{ .behind = 0, .prev = 16, .next = 24, .id = 48 },	/* 1.2.2 */
	{ .behind = 0, .prev = 16, .next = 24, .id = 56 },	/* before */
	{ .behind = 200, .prev = 8, .next = 16, .id = 32 },	/* 1.2.2 */
	{ .behind = 224, .prev = 16, .next = 24, .id = 56 },	/* before */
};

enum { MUSL_WORDS = 8 };	/* that these are among */

static int32_t id_in(const uint64_t *words, const struct musl_layout *l)
{
	int32_t word;

	memcpy(&word, (const char *)words + l->id, sizeof(word));
	return word;
}

/* Strike `tid` from the list: false if it is not there. */
static bool strike(pid_t *tids, int n, pid_t tid)
{
	for (int i = 0; i < n; i++) {
		if (tids[i] != tid)
			continue;
		tids[i] = 0;
		return tid > 0;
	}
	return false;
}

/* Does the ring hold exactly these threads, in blocks of this layout? */
static bool is_ring(const struct tids_of *of, const pid_t *tids, int n,
		    const struct musl_layout *l)
{
	auto_free pid_t *left = malloc((size_t)n * sizeof(*left));
	raddr_t first = of->tp - l->behind, at = first, before = 0;
	bool ok = left;

	for (int i = 0; i < n && ok; i++)
		ok = procfs_ids(of->target->pid, tids[i], &(pid_t){ 0 }, &left[i]) > 0;
	for (int i = 0; i < n && ok; i++) {
		uint64_t words[MUSL_WORDS];

		ok = target_read(of->target, at, words, sizeof(words)) == 0 && words[0] == at &&
			(!before || words[l->prev / 8] == before) &&
			strike(left, n, id_in(words, l));
		before = at;
		at = ok ? words[l->next / 8] : 0;
	}
	fail_clear();
	return ok && at == first;
}

static bool is_here(const struct musl_layout *l)
{
	return arch_host()->block_at_tp == !l->behind;
}

/* Threads that are born or die are in the ring a little later, or longer. */
static uint64_t ids(struct target *t, struct tids_of *of, int patience)
{
	(void)t;
	for (;; nanosleep(&(struct timespec){ 0, 1000 * 1000 }, NULL)) {
		auto_free pid_t *tids = NULL;
		int n = procfs_threads(of->target->pid, &tids);

		for (size_t i = 0; i < ARRAY_SIZE(musl_layouts) && n > 0; i++) {
			const struct musl_layout *l = &musl_layouts[i];

			if (is_here(l) && is_ring(of, tids, n, l))
				return (uint64_t)l->id - l->behind;
		}
		if (patience-- == 0)
			return 0;
	}
}

const struct thread_runtime threads_musl = { .name = "musl", .ids = ids };
