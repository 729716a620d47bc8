/* SPDX-License-Identifier: MIT */
#include "injector/tids.h"

#include <linux/futex.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>

#include "injector/gothreads.h"
#include "injector/procfs.h"

enum {
	USUAL = 16,		/* bytes before the head, where it is in glibc */
	BEFORE = 64,		/* bytes before the head that are looked at */
	WORDS = BEFORE / sizeof(int32_t),
};

static void rest(void)
{
	nanosleep(&(struct timespec){ 0, 1000 * 1000 }, NULL);
}

static raddr_t robust_head(pid_t tid)
{
	struct robust_list_head *head = NULL;
	size_t size;

	return syscall(SYS_get_robust_list, tid, &head, &size) < 0 ? 0 : (raddr_t)head;
}

static uint64_t place_in_go(const struct target *t, pid_t tid, raddr_t tp)
{
	struct gothread g;
	pid_t outer, inner;

	if (!gothread_read(t, tp, &g) || procfs_ids(t->pid, tid, &outer, &inner) == 0)
		return 0;
	return g.tid == (uint64_t)inner ? g.tid_offset : 0;
}

struct tids_of tids_note(const struct target *t, pid_t tid, raddr_t tp)
{
	return (struct tids_of){ t, tid, tp, robust_head(tid), place_in_go(t, tid, tp) };
}

/* Which of the words before the head hold the id of this thread? A bit each. */
static uint32_t places_of(const struct target *t, pid_t tid)
{
	raddr_t head = robust_head(tid);
	pid_t outer, inner;
	int32_t words[WORDS];
	uint32_t places = 0;

	if (head < BEFORE || procfs_ids(t->pid, tid, &outer, &inner) == 0)
		return 0;
	if (target_read(t, head - BEFORE, words, sizeof(words)) < 0) {
		fail_clear();
		return 0;
	}
	for (unsigned int i = 0; i < WORDS; i++)
		places |= (uint32_t)(words[i] == inner) << i;
	return places;
}

/* A thread that is being born has no head yet, one that dies has none any more:
 * look again until it has one, or is gone. */
static uint32_t common_places(const struct tids_of *of, int patience)
{
	auto_free pid_t *tids = NULL;
	int n = procfs_threads(of->target->pid, &tids);
	uint32_t places = n > 0 ? (1u << WORDS) - 1 : 0;

	for (int i = 0; i < n && places;) {
		uint32_t here = places_of(of->target, tids[i]);

		if (here || procfs_has_ended(of->target->pid, tids[i])) {
			places &= here ? here : places;
			i++;
		} else if (patience-- == 0) {
			places = 0;
		} else {
			rest();
		}
	}
	return places;
}

/* The one place, or of several the usual one. */
uint64_t tids_glibc(const struct tids_of *of, int patience)
{
	const uint32_t usual = 1u << (BEFORE - USUAL) / sizeof(int32_t);
	uint32_t places = of->head ? common_places(of, patience) : 0;

	if (places & (places - 1))
		places &= usual;
	return places ? of->head - of->tp - BEFORE +
		(uint64_t)__builtin_ctz(places) * sizeof(int32_t) : 0;
}

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
static uint64_t tids_musl(const struct tids_of *of, int patience)
{
	for (;; rest()) {
		auto_free pid_t *tids = NULL;
		int n = procfs_threads(of->target->pid, &tids);

		for (size_t i = 0; i < ARRAY_SIZE(musl_places) && n > 0; i++)
			if (is_ring(of, tids, n, musl_places[i]))
				return musl_places[i];
		if (patience-- == 0)
			return 0;
	}
}

uint64_t tids_any(const struct tids_of *of, int patience)
{
	uint64_t self, place;

	if (!of->tp || target_read(of->target, of->tp, &self, sizeof(self)) < 0 ||
	    self != of->tp) {
		fail_clear();
		return 0;
	}
	place = tids_glibc(of, patience);
	return place ? place : tids_musl(of, patience);
}
