/* SPDX-License-Identifier: MIT */
#include "injector/ptrace/tids.h"

#include <linux/futex.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>

#include "injector/proc/procfs.h"
#include "injector/ptrace/gothreads.h"

enum {
	USUAL = 16,		/* bytes before the head, where it is in glibc */
	BEFORE = 64,		/* bytes before the head that are looked at */
	WORDS = BEFORE / sizeof(int32_t),
	ALL_PLACES = (1 << WORDS) - 1,
	MOST_ODD = 16,
	STOP_BUDGET = 20 * 1000 * 1000,		/* ns */
};

static void tids_rest(void)
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

/* Which of the words before the head hold the id of this thread? A bit each. All of them
 * may, for all that is known, where the id cannot be asked for. */
static uint32_t places_of(const struct target *t, pid_t tid)
{
	raddr_t head = robust_head(tid);
	pid_t outer, inner;
	int32_t words[WORDS];
	uint32_t places = 0;

	if (head < BEFORE)
		return 0;
	if (procfs_ids(t->pid, tid, &outer, &inner) == 0)
		return ALL_PLACES;
	if (target_read(t, head - BEFORE, words, sizeof(words)) < 0) {
		fail_clear();
		return 0;
	}
	for (unsigned int i = 0; i < WORDS; i++)
		places |= (uint32_t)(words[i] == inner) << i;
	return places;
}

/* Threads have their ids shortly before their heads, but for odd ones: a thread that is
 * being born or dies, or to which the program has given a list of its own. */
struct survey {
	uint32_t places;	/* that hold the ids of all but the odd ones */
	pid_t regular;		/* a thread that is not odd */
	pid_t odd[MOST_ODD];
	int nodd;
};

/* A thread that is being born or dies is looked at again until that is over, or `patience`
 * is. False: too many are odd, or all. */
static bool survey_threads(const struct target *t, int patience, struct survey *ret)
{
	auto_free pid_t *tids = NULL;
	int n = procfs_threads(t->pid, &tids);

	*ret = (struct survey){ .places = ALL_PLACES };
	for (int i = 0; i < n;) {
		uint32_t here = places_of(t, tids[i]);

		if (here) {
			ret->places &= here;
			ret->regular = here == ALL_PLACES ? ret->regular : tids[i];
		} else if (procfs_has_ended(t->pid, tids[i])) {
			;
		} else if (patience-- > 0) {
			tids_rest();
			continue;
		} else if (ret->nodd < MOST_ODD) {
			ret->odd[ret->nodd++] = tids[i];
		} else {
			return false;
		}
		i++;
	}
	return ret->regular && ret->places;
}

/* Stops the thread for this. */
static bool note_stopped(struct target *t, pid_t tid, struct tids_of *ret)
{
	struct thread_hold *th;

	if (!t)
		return false;
	int err = target_stop_one(t, tid, STOP_BUDGET, &th);

	err = err ? err : thread_regs(th);
	if (!err)
		*ret = tids_note(t, tid, regs_tp(&th->regs));
	target_release(t);
	fail_clear();
	return !err;
}

static bool has_id_at(const struct tids_of *of, uint64_t offset)
{
	pid_t outer, inner;
	int32_t word;
	bool has = procfs_ids(of->target->pid, of->tid, &outer, &inner) > 0 &&
		target_read(of->target, of->tp + offset, &word, sizeof(word)) == 0 &&
		word == inner;

	fail_clear();
	return has;
}

/* The one place, or of several the usual one; and the odd threads have their ids there. */
uint64_t tids_glibc(struct target *t, struct tids_of *of, int patience)
{
	const uint32_t usual = 1u << (BEFORE - USUAL) / sizeof(int32_t);
	struct survey all;
	struct tids_of odd;

	if (!survey_threads(of->target, patience, &all) ||
	    (!places_of(of->target, of->tid) && !note_stopped(t, all.regular, of)))
		return 0;
	if (all.places & (all.places - 1))
		all.places &= usual;
	if (!of->head || !all.places)
		return 0;
	uint64_t offset = of->head - of->tp - BEFORE +
		(uint64_t)__builtin_ctz(all.places) * sizeof(int32_t);
	bool ok = true;
	for (int i = 0; i < all.nodd && ok; i++)
		ok = (note_stopped(t, all.odd[i], &odd) && has_id_at(&odd, offset)) ||
			procfs_has_ended(of->target->pid, all.odd[i]);
	return ok ? offset : 0;
}

bool tids_have_room(const struct tids_of *of)
{
	auto_free pid_t *tids = NULL;
	int n = procfs_threads(of->target->pid, &tids);
	bool free = of->head && n > 0;

	for (int i = 0; i < n && free; i++) {
		uint64_t words[GLIBC_ROOM / sizeof(uint64_t)] = { 0 }, any = 0;
		raddr_t head = robust_head(tids[i]);

		if (head && target_read(of->target, head - of->head + of->tp + GLIBC_ROOM_AT,
					words, sizeof(words)) < 0)
			fail_clear();
		for (size_t k = 0; k < ARRAY_SIZE(words); k++)
			any |= words[k];
		free = !any;
	}
	return free;
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
	for (;; tids_rest()) {
		auto_free pid_t *tids = NULL;
		int n = procfs_threads(of->target->pid, &tids);

		for (size_t i = 0; i < ARRAY_SIZE(musl_places) && n > 0; i++)
			if (is_ring(of, tids, n, musl_places[i]))
				return musl_places[i];
		if (patience-- == 0)
			return 0;
	}
}

uint64_t tids_any(struct target *t, struct tids_of *of, int patience)
{
	uint64_t self, place;

	if (!of->tp || target_read(of->target, of->tp, &self, sizeof(self)) < 0 ||
	    self != of->tp) {
		fail_clear();
		return 0;
	}
	place = tids_glibc(t, of, patience);
	return place ? place : tids_musl(of, patience);
}
