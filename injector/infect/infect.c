/* SPDX-License-Identifier: MIT */
/*
 * infect: step 4 of the attach, in steps of its own, which the code names:
 *
 * 4a. find what an earlier visit left (session, payload, arenas)
 * 4b. borrow a thread that is fit for what has to be run
 * 4c. map the scratch: one page of loader code, and a stack to run it on
 * 4d. make the session's memfd, size and seal it from here, map it there
 * 4e. map the threads' private memory, wiped in children after fork
 * 4f. map arenas within reach of each module, and islands where they have to be, with
 *     a rest for the thread whenever that takes long (infect_islands.c)
 * 4g. map the payload, and call its hello
 *
 * What exists already is used again: then 4c, 4e, 4f and 4g shrink to that call.
 */
#include "injector/infect/infect.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>

#include "injector/infect/infect_impl.h"
#include "injector/proc/procfs.h"
#include "injector/ptrace/pace.h"
#include "injector/session/blobs.h"

enum {
	KNOW_BUDGET = 2000 * 1000 * 1000,	/* ns */
	KNOW_PAUSE = 10 * 1000 * 1000,
};

/* 4c. One reserved place, the code and then the stack, so that a later visit
 * knows both by the first's address. */
static int map_scratch(struct infecting *in)
{
	size_t size = (size_t)(blob_loader_end - blob_loader);
	const int anonymous = MAP_PRIVATE | MAP_ANONYMOUS;
	raddr_t at = 0, unused;

	int err = infect_map(in, "map the loader", 0, scratch_stack(SCRATCH_STACK),
			     PROT_NONE, anonymous, -1, &at);
	err = err ? err : infect_map(in, "map the loader", at, kernel_page(),
				     PROT_READ | PROT_EXEC, anonymous | MAP_FIXED, -1, &unused);
	err = err ? err : infect_map(in, "map a stack", scratch_stack(at), SCRATCH_STACK,
				     PROT_READ | PROT_WRITE, anonymous | MAP_FIXED, -1, &unused);
	in->scratch = at;
	in->locks = infect_sees_locks(in);
	return err ? err : target_write(in->target, at, blob_loader, size);
}

/*
 * 4e. That of an earlier visit is used as it is. If it were zeroed, a thread that is still in
 * a recording routine would go on at address 0; hello sees to it that every thread takes the
 * slow path, and claims a ring of its own anew.
 */
static int map_threads(struct infecting *in)
{
	struct session *s = in->result->map.s;
	uint64_t size = (uint64_t)in->result->map.shape.nrings * THREAD_SIZE;
	raddr_t at = 0;
	int64_t unused;

	in->result->old_owners = in->result->old.found;
	if (in->reuse)
		return 0;
	int err = infect_map_sparse(in, "map the threads' memory", 0, size,
			     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, &at);

	err = err ? err : infect_keep_from_cores(in, at, size);
	err = err ? err : remote_try(&in->remote, "mark the threads' memory", &unused,
				     SYS_madvise, at, size, MADV_WIPEONFORK, 0, 0, 0);
	if (err)
		return err;
	s->threads = at;
	err = remote_try(&in->remote, "mark the threads' memory", &unused,
			 SYS_madvise, at, size, MADV_NOHUGEPAGE, 0, 0, 0);
	/* A kernel without huge pages says EINVAL to this one, and only to this one may it. */
	if (err == -EINVAL) {
		fail_clear();
		err = 0;
	}
	return err;
}

/* 4e. For the life of the process: a thread may stand in a call of an earlier visit. */
static int map_rooms(struct infecting *in)
{
	struct session *s = in->result->map.s;
	uint32_t n = in->result->map.shape.nrings;
	raddr_t at = 0;

	if (s->spills || !infect_needs_spills(in))
		return 0;
	int err = infect_map_sparse(in, "map spill areas for calls without stack", 0,
			     (uint64_t)n * SPILL_AREA_SIZE,
			     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, &at);
	if (err)
		return err;
	s->spills = at;
	__atomic_store_n(&s->nspills, n, __ATOMIC_RELEASE);
	return 0;
}

/* The payload that answered is the one that we sent. */
static int check_answer(struct infecting *in)
{
	struct session *s = in->result->map.s;
	uint8_t head[1024];
	int err;

	if (s->state != SESSION_READY || s->answer != s->generation)
		return fail(0, "the payload in %d (%s) did not answer; try again",
			    in->target->pid, in->target->comm);
	/* hello takes back what is not true of the thread that says it. */
	if (!s->tid_offset && in->tid_offset)
		return infect_refuse_threads(in);
	err = target_read(in->target, s->payload, head, sizeof(head));
	if (!err && memcmp(head, blob_payload, sizeof(head)) != 0)
		err = fail(0, "%d (%s) loaded something else than our payload",
			   in->target->pid, in->target->comm);
	return err;
}

/* 4f, as much as there is time for. */
static int map_islands(struct infecting *in)
{
	int err = infect_islands(in);

	in->islands.ready = !err && !infect_islands_left(in) && remote_is_held(&in->remote);
	return err;
}

/* 4f. Arenas first: stubs lie together, and islands all over. */
static int map_room(struct infecting *in)
{
	int err = infect_arenas(in);

	return err ? err : map_islands(in);
}

/* A recorded call reads the processor's counter. Where that is forbidden it gets a SIGSEGV,
 * perhaps inside of the handler for it. A kernel in which nothing can forbid it does not know
 * the question (-EINVAL, as on arm64 before Linux 6.12): the answer of it is 0 then. */
static int check_clock(struct infecting *in)
{
	uint64_t args[6] = { PR_GET_TSC, infect_name_at(in) };
	uint32_t mode = 0;
	int64_t got;
	int err = remote_syscall(&in->remote, SYS_prctl, args, &got);

	if (!err && got == 0)
		err = target_read(in->target, infect_name_at(in), &mode, sizeof(mode));
	if (err || mode != PR_TSC_SIGSEGV)
		return err;
	return fail(0, "cannot attach to %d (%s): it has forbidden itself to read the clock "
		    "(PR_SET_TSC), which recording does",
		    in->target->pid, in->target->comm);
}

/* 4c to 4f: memory, by system calls alone, so that any thread will do. */
static int map_all(struct infecting *in)
{
	int err = in->scratch ? 0 : map_scratch(in);			/* 4c */

	if (err)
		return err;
	err = check_clock(in);
	err = err ? err : infect_make_session(in);				/* 4d */
	err = err ? err : map_threads(in);				/* 4e */
	err = err ? err : map_rooms(in);
	return err ? err : map_room(in);				/* 4f */
}

/*
 * What `first` does, and then what is left of 4f, in as many loans as it takes. Between
 * them the thread has as much time as the loan before has taken from it.
 */
static int map_in_loans(struct infecting *in, int (*first)(struct infecting *))
{
	infect_begin_islands(in);
	int err = infect_find_gaps(in);

	err = err ? err : infect_with_borrowed(in, LOAN_SYSCALLS, first);
	while (!err && !in->islands.ready) {
		target_rest(in->target);
		err = infect_with_borrowed(in, LOAN_SYSCALLS, map_islands);
	}
	gaps_clear(&in->gaps);
	return err ? err : infect_see_islands(in);
}

static int undo_in_loan(struct infecting *in)
{
	int64_t unused;

	if (infect_islands(in) == 0 && infect_islands_left(in))
		return 0;
	in->islands.ready = remote_is_held(&in->remote);
	if (!in->islands.ready)
		return 0;
	while (in->nundo--)
		remote_try(&in->remote, "undo", &unused, in->undo[in->nundo].nr,
			   in->undo[in->nundo].args[0], in->undo[in->nundo].args[1],
			   0, 0, 0, 0);
	return 0;
}

/* What an unlucky attempt has mapped and opened goes again, in reverse, with
 * the patience that it came with: a target that is busy now is left as it was. */
static void undo(struct infecting *in)
{
	int err = 0;

	if (in->busy)
		return;
	infect_undo_islands(in);
	if (!in->nundo && !in->islands.n)
		return;
	struct cause cause = fail_keep();

	/* The session of a later visit stays, without what goes now. */
	if (in->reuse && in->result->map.s)
		in->result->map.s->narenas = in->result->old.s.narenas;
	while (!err && !in->islands.ready) {
		err = infect_with_borrowed(in, LOAN_SYSCALLS, undo_in_loan);
		target_rest(in->target);
	}
	fail_give_back(&cause);
}

static int infect_prepare(struct infecting *in)
{
	int err = payload_info(&in->payload);

	err = err ? err : session_find(in->target, &in->result->old);	/* 4a */
	if (err)
		return err;
	raddr_t scratch = in->result->old.s.scratch;
	in->reuse = session_reusable(&in->result->old, in->payload.build_id);
	if (in->reuse) {
		in->scratch = infect_has_loader(in->target, scratch) ? scratch : 0;
		in->payload_at = in->result->old.s.payload;
		in->keeper = threads_by_number(in->result->old.s.keeper);
		/* What stands in the arenas that are there is so for good. */
		in->tid_offset = in->result->old.s.tid_offset;
	}
	err = infect_look(in);
	return err ? err : remote_gadgets(in->target, payload_range(in->payload_at), &in->gadgets);
}

static int note_thread(struct infecting *in)
{
	infect_note_thread(in);
	return 0;
}

static bool makes_threads(struct infecting *in)
{
	bool is = false;

	for (size_t i = 0; i < in->mods->n && !is; i++) {
		struct module *m = &in->mods->v[i];

		is = m->is_exe && module_symbols(m) == 0 && threads_of(m->symbols);
	}
	return is;
}

/* May the first thread not have come so far yet that its id is noted? In a program that
 * was just executed it has no thread pointer, or its language's runtime has just given it
 * one. */
static bool may_be_young(struct infecting *in)
{
	return !in->known.tp || makes_threads(in);
}

/* Refuse a process whose threads cannot be told apart before anything is mapped. If
 * the one by which we look is no more, that says nothing; nor if it is too young, nor
 * while threads come and go. */
static int know_threads(struct infecting *in)
{
	uint64_t end = now_ns() + KNOW_BUDGET;
	int err = -ENOTSUP;

	while (err == -ENOTSUP && now_ns() < end) {
		fail_clear();
		err = infect_with_borrowed(in, LOAN_SYSCALLS, note_thread);
		err = err ? err : infect_find_tid(in);
		if (err == -ENOTSUP && (!in->alone || may_be_young(in)))
			nanosleep(&(struct timespec){ 0, KNOW_PAUSE }, NULL);
		else if (!procfs_has_ended(in->target->pid, in->known.tid))
			break;
	}
	return err;
}

/* 4g. The only thread may have made another one after we had looked; and that one may be no
 * more when we look again. */
static int load(struct infecting *in)
{
	uint64_t end = now_ns() + KNOW_BUDGET;
	int err = infect_load(in);

	while (err && !in->alone && !in->bare && now_ns() < end) {
		fail_clear();
		err = know_threads(in);
		in->result->map.s->tid_offset = in->tid_offset;
		err = err ? err : infect_load(in);
	}
	return err;
}

int infect(struct target *t, struct modules *mods, const struct infect_options *opt,
	   struct infection *ret)
{
	struct infecting in = { .target = t, .mods = mods, .opt = opt, .result = ret };

	*ret = (struct infection){ .map.fd = -1 };
	int err = infect_prepare(&in);

	err = err ? err : infect_take_room(&in);
	/* From here on it pays for what we do. */
	pace_hurry();
	if (!err && !in.reuse)
		err = know_threads(&in);
	err = err ? err : map_in_loans(&in, map_all);
	if (!err)
		ret->map.s->tid_offset = in.tid_offset;
	if (!err && in.reuse)
		err = infect_with_borrowed(&in, LOAN_SYSCALLS, infect_say_hello);
	else if (!err)
		err = load(&in);
	err = err ? err : check_answer(&in);
	err = err ? err : infect_fill_arenas(&in);
	if (err) {
		undo(&in);
		infection_clear(ret);
	}
	return err;
}

static int map_more(struct infecting *in)
{
	int err = map_rooms(in);

	return err ? err : map_room(in);
}

int infect_more(struct target *t, struct modules *mods, const struct infect_options *opt,
		struct infection *inf)
{
	struct infecting in = { .target = t, .mods = mods, .opt = opt, .result = inf,
				.reuse = true, .scratch = inf->map.s->scratch };
	int err = remote_gadgets(t, payload_range(inf->map.s->payload), &in.gadgets);

	in.locks = infect_sees_locks(&in);
	err = err ? err : map_in_loans(&in, map_more);
	return err ? err : infect_fill_arenas(&in);
}

void infection_clear(struct infection *inf)
{
	session_unmap(&inf->map);
	session_forget(&inf->old);
}
