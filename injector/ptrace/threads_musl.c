/* SPDX-License-Identifier: MIT */
/* threads_musl: musl has all its threads in a ring of control blocks, with their ids. */
#include <string.h>
#include <time.h>

#include "injector/proc/procfs.h"
#include "injector/ptrace/threads.h"

/* The first words of musl's struct pthread: x86-64, 1.1.22 and later. */
struct musl_thread {
	uint64_t self, dtv, prev, next;
	uint64_t canaries[2];
	int32_t more[8];
};

/* Where the id has been there: behind one canary, before 1.2.0 behind two. */
static const size_t musl_places[] = { 48, 56 };

static int32_t word_at(const struct musl_thread *m, size_t at)
{
	int32_t word;

	memcpy(&word, (const char *)m + at, sizeof(word));
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

/* Does the ring hold exactly these threads, with their ids at this place? */
static bool is_ring(const struct tids_of *of, const pid_t *tids, int n, size_t place)
{
	auto_free pid_t *left = malloc((size_t)n * sizeof(*left));
	struct musl_thread m = { .next = of->tp };
	raddr_t at, before = 0;
	bool ok = left;

	for (int i = 0; i < n && ok; i++)
		ok = procfs_ids(of->target->pid, tids[i], &(pid_t){ 0 }, &left[i]) > 0;
	for (int i = 0; i < n && ok; i++) {
		at = m.next;
		ok = target_read(of->target, at, &m, sizeof(m)) == 0 && m.self == at &&
			(!before || m.prev == before) && strike(left, n, word_at(&m, place));
		before = at;
	}
	fail_clear();
	return ok && m.next == of->tp;
}

/* Threads that are born or die are in the ring a little later, or longer. */
static uint64_t ids(struct target *t, struct tids_of *of, int patience)
{
	(void)t;
	for (;; nanosleep(&(struct timespec){ 0, 1000 * 1000 }, NULL)) {
		auto_free pid_t *tids = NULL;
		int n = procfs_threads(of->target->pid, &tids);

		for (size_t i = 0; i < ARRAY_SIZE(musl_places) && n > 0; i++)
			if (is_ring(of, tids, n, musl_places[i]))
				return musl_places[i];
		if (patience-- == 0)
			return 0;
	}
}

const struct thread_runtime threads_musl = { .name = "musl", .ids = ids };
