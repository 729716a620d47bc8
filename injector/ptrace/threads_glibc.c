/* SPDX-License-Identifier: MIT */
/*
 * threads_glibc: what does glibc keep of a thread?
 *
 * The id has always been shortly before the head of the thread's robust list; and where that
 * is, the kernel tells for every thread, without a stop. A thread whose list is elsewhere is
 * stopped and asked where its block is.
 *
 * Shortly before the id there are bytes that nothing uses. On x86-64 they are 512 in the head
 * of the control block (tcbhead_t), which the loader used before version 2.23, and which stay
 * because programs built with AddressSanitizer depend on the size of that head. Elsewhere they
 * are the padding that struct pthread begins with (nptl/descr.h: "in case it might be
 * convenient for some implementation-specific instrumentation hack"). They are zero in a new
 * block; one that is used again has what the thread before has left there. That 2.23 or later is
 * there is told by a function that came with 2.25.
 */
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>

#include "injector/proc/procfs.h"
#include "injector/ptrace/threads.h"

enum {
	USUAL = 16,		/* bytes before the head, where it is in glibc */
	BEFORE = 64,		/* bytes before the head that are looked at */
	WORDS = BEFORE / sizeof(int32_t),
	ALL_PLACES = (1 << WORDS) - 1,
	MOST_ODD = 16,
	/* Of these bytes, from the id on. */
	ROOM_AT = -0x90, ROOM = 32,
	STOP_BUDGET = 20 * 1000 * 1000,		/* ns */
};

static raddr_t robust_head(pid_t tid)
{
	struct robust_list_head *head = NULL;
	size_t size;

	return syscall(SYS_get_robust_list, tid, &head, &size) < 0 ? 0 : (raddr_t)head;
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
			nanosleep(&(struct timespec){ 0, 1000 * 1000 }, NULL);
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
		*ret = (struct tids_of){ .target = t, .tid = tid, .tp = regs_tp(&th->regs) };
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
static uint64_t ids(struct target *t, struct tids_of *of, int patience)
{
	const uint32_t usual = 1u << (BEFORE - USUAL) / sizeof(int32_t);
	struct survey all;
	struct tids_of odd;

	if (!survey_threads(of->target, patience, &all) ||
	    (!places_of(of->target, of->tid) && !note_stopped(t, all.regular, of)))
		return 0;
	if (all.places & (all.places - 1))
		all.places &= usual;
	raddr_t head = robust_head(of->tid);
	if (!head || !all.places)
		return 0;
	uint64_t offset = head - of->tp - BEFORE +
		(uint64_t)__builtin_ctz(all.places) * sizeof(int32_t);
	bool ok = true;
	for (int i = 0; i < all.nodd && ok; i++)
		ok = (note_stopped(t, all.odd[i], &odd) && has_id_at(&odd, offset)) ||
			procfs_has_ended(of->target->pid, all.odd[i]);
	return ok ? offset : 0;
}

static bool has_room(const struct tids_of *of, uint64_t at)
{
	auto_free pid_t *tids = NULL;
	int n = procfs_threads(of->target->pid, &tids);
	raddr_t known = robust_head(of->tid);
	bool free = known && n > 0;

	for (int i = 0; i < n && free; i++) {
		uint64_t words[ROOM / sizeof(uint64_t)] = { 0 }, any = 0;
		raddr_t head = robust_head(tids[i]);

		if (head && target_read(of->target, head - known + of->tp + at,
					words, sizeof(words)) < 0)
			fail_clear();
		for (size_t k = 0; k < ARRAY_SIZE(words); k++)
			any |= words[k];
		free = !any;
	}
	return free;
}

const struct thread_runtime threads_glibc = {
	.name = "glibc",
	.room = { ROOM_AT, ROOM },
	.room_by_id = true,
	.has_room = has_room,
	.ids = ids,
	.loads_by = "gnu_get_libc_version",
	.room_by = "explicit_bzero",
};
