/* SPDX-License-Identifier: MIT */
/*
 * infect, continued: where does a thread of the target keep its own id?
 *
 * The payload wants the id at a thread's first call, when to ask the kernel for
 * it may be deadly: the process may have installed a seccomp filter by then. And
 * where it has no thread-local storage, it knows threads by it.
 *
 * The C library has the id in the thread's control block, at a place that is
 * written down nowhere. In glibc it has always been shortly before the head of
 * the robust list; and where that is, the kernel tells for every thread, without
 * a stop. musl has all its threads in a ring of such blocks. So: where all
 * threads have their ids, or unknown.
 */
#include <errno.h>
#include <linux/futex.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>

#include "injector/infect_impl.h"
#include "injector/procfs.h"

enum {
	USUAL = 16,		/* bytes before the head, where it is in glibc */
	BEFORE = 64,		/* bytes before the head that are looked at */
	WORDS = BEFORE / sizeof(int32_t),
	PATIENCE = 100,		/* looks at threads that are being born or die */
	REST = 1000 * 1000,	/* ns between them */
};

static raddr_t robust_head(pid_t tid)
{
	struct robust_list_head *head = NULL;
	size_t size;

	return syscall(SYS_get_robust_list, tid, &head, &size) < 0 ? 0 : (raddr_t)head;
}

void infect_note_thread(struct infecting *in)
{
	raddr_t head = robust_head(in->remote.thread->tid);

	in->tp = regs_tp(&in->remote.saved);
	in->robust_head = head ? head - in->tp : 0;
}

/* Which of the words before the head hold the id of this thread? A bit each. */
static uint32_t places_of(const struct infecting *in, pid_t tid)
{
	raddr_t head = robust_head(tid);
	pid_t outer, inner;
	int32_t words[WORDS];
	uint32_t places = 0;

	if (head < BEFORE || procfs_ids(in->target->pid, tid, &outer, &inner) == 0)
		return 0;
	if (target_read(in->target, head - BEFORE, words, sizeof(words)) < 0) {
		fail_clear();
		return 0;
	}
	for (unsigned int i = 0; i < WORDS; i++)
		places |= (uint32_t)(words[i] == inner) << i;
	return places;
}

/* A thread that is being born has no head yet, one that dies has none any more:
 * look again until it has one, or is gone. */
static uint32_t common_places(const struct infecting *in, const pid_t *tids, int n)
{
	uint32_t places = (1u << WORDS) - 1;
	int patience = PATIENCE;

	for (int i = 0; i < n && places;) {
		uint32_t here = places_of(in, tids[i]);

		if (here || procfs_has_ended(in->target->pid, tids[i])) {
			places &= here ? here : places;
			i++;
		} else if (patience-- == 0) {
			places = 0;
		} else {
			nanosleep(&(struct timespec){ 0, REST }, NULL);
		}
	}
	return places;
}

static bool any_filtered(pid_t pid, const pid_t *tids, int n)
{
	for (int i = 0; i < n; i++)
		if (procfs_filtered(pid, tids[i]))
			return true;
	return false;
}

/* The one place, or of several the usual one; 0: unknown. */
static uint64_t glibc_offset(const struct infecting *in, const pid_t *tids, int n)
{
	const uint32_t usual = 1u << (BEFORE - USUAL) / sizeof(int32_t);
	uint32_t places = in->robust_head ? common_places(in, tids, n) : 0;

	if (places & (places - 1))
		places &= usual;
	return places ? in->robust_head - BEFORE +
		(uint64_t)__builtin_ctz(places) * sizeof(int32_t) : 0;
}

/* The first words of musl's struct pthread: x86-64 of 1.1.22 and later. */
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
static bool is_ring(const struct infecting *in, const pid_t *tids, int n, size_t place)
{
	auto_free pid_t *left = malloc((size_t)n * sizeof(*left));
	struct musl_thread m = { .next = in->tp };
	raddr_t at, before = 0;
	bool ok = left;

	for (int i = 0; i < n && ok; i++)
		ok = procfs_ids(in->target->pid, tids[i], &(pid_t){ 0 }, &left[i]) > 0;
	for (int i = 0; i < n && ok; i++) {
		at = m.next;
		ok = target_read(in->target, at, &m, sizeof(m)) == 0 && m.self == at &&
			(!before || m.prev == before) && strike(left, n, word_at(&m, place));
		before = at;
	}
	fail_clear();
	return ok && m.next == in->tp;
}

/* Threads that are born or die are in the ring a little later, or longer. */
static uint64_t musl_offset(const struct infecting *in)
{
	for (int patience = PATIENCE; patience--;) {
		auto_free pid_t *tids = NULL;
		int n = procfs_threads(in->target->pid, &tids);

		for (size_t i = 0; i < ARRAY_SIZE(musl_places) && n > 0; i++)
			if (is_ring(in, tids, n, musl_places[i]))
				return musl_places[i];
		nanosleep(&(struct timespec){ 0, REST }, NULL);
	}
	return 0;
}

/* What the payload reads where it is to find threads: %fs:0, say. */
static bool has_thread_pointer(const struct infecting *in)
{
	uint64_t self = 0;

	if (in->tp && target_read(in->target, in->tp, &self, sizeof(self)) < 0)
		fail_clear();
	return in->tp && self == in->tp;
}

int infect_refuse_threads(const struct infecting *in)
{
	return fail(0, "cannot attach to %d (%s): %s, and its threads are not kept as glibc or "
		    "musl do", in->target->pid, in->target->comm,
		    in->no_loader ? in->no_loader : "its payload was mapped"), -ENOTSUP;
}

int infect_find_tid(struct infecting *in)
{
	auto_free pid_t *tids = NULL;
	int n = procfs_threads(in->target->pid, &tids);

	in->tid_offset = n > 0 ? glibc_offset(in, tids, n) : 0;
	if (!in->tid_offset && in->bare)
		in->tid_offset = musl_offset(in);
	if (in->bare && !(in->tid_offset && has_thread_pointer(in)))
		return infect_refuse_threads(in);
	if (!in->tid_offset && (in->target->filtered || any_filtered(in->target->pid, tids, n)))
		return fail(0, "cannot attach to %d (%s): it has a thread with a seccomp filter, "
			    "which might kill it for the system call that the thread then has "
			    "to make", in->target->pid, in->target->comm), -EPERM;
	return 0;
}
