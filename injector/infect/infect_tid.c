/* SPDX-License-Identifier: MIT */
/* infect, continued: what has to be known of the target's threads. */
#include <errno.h>

#include "injector/infect/infect_impl.h"
#include "injector/proc/procfs.h"
#include "injector/ptrace/tids.h"

enum { PATIENCE = 100 };	/* ms */

void infect_note_thread(struct infecting *in)
{
	in->known = tids_note(in->target, in->remote.thread->tid, regs_tp(&in->remote.saved));
}

int infect_refuse_threads(const struct infecting *in)
{
	return fail(0, "cannot attach to %d (%s): %s, and its threads are not kept as %s do",
		    in->target->pid, in->target->comm,
		    in->no_loader ? in->no_loader :
		    in->alone ? "its payload was mapped" : "it has several threads",
		    threads_names()), -ENOTSUP;
}

/* From the thread pointer on, of threads whose id is there at `tid_offset`. */
static uint64_t room_of(const struct thread_runtime *r, uint64_t tid_offset)
{
	return (uint64_t)(int64_t)r->room.at + (r->room_by_id ? tid_offset : 0);
}

/* Where an earlier build of inject has been it has had the same room. */
static uint64_t find_room(struct infecting *in)
{
	const struct thread_runtime *r = in->loaded ? in->loaded : in->keeper;

	if (!r || !in->tid_offset || !r->room.size || (in->loaded && !in->spare))
		return 0;
	uint64_t at = room_of(r, in->tid_offset);

	return !r->has_room || in->result->old.s.tls_offset == at ||
		r->has_room(&in->known, at) ? at : 0;
}

bool infect_is_alone(const struct infecting *in)
{
	return procfs_count_threads(in->target->pid) == 1;
}

int infect_find_tid(struct infecting *in)
{
	in->keeper = in->loaded ? NULL : in->known.keeper;
	in->tid_offset = in->keeper ? in->known.place :
		in->loaded ? in->loaded->ids(in->target, &in->known, PATIENCE) :
		tids_any(in->target, &in->known, PATIENCE);
	in->bare = in->tid_offset;
	in->room = find_room(in);
	in->alone = infect_is_alone(in);
	if (in->keeper && !infect_vdso_keeps_g(in->target))
		return fail(0, "cannot attach to %d (%s): the kernel's code in it (its vdso) uses the "
			    "register that %s keeps threads by", in->target->pid,
			    in->target->comm, in->keeper->name), -ENOTSUP;
	return !in->bare && (in->no_loader || !in->alone) ? infect_refuse_threads(in) : 0;
}

/* What an earlier payload has left in the room that ours uses now. */
static int forget_other(const struct target *t, const struct infection *inf, raddr_t tp,
			const struct thread_runtime *keeper)
{
	uint64_t size = (uint64_t)inf->map.shape.nrings * THREAD_SIZE;
	static const uint8_t zeros[THREAD_BYTES_MOST];
	raddr_t at = tp + room_of(keeper, inf->map.s->tid_offset);
	uint64_t word;
	int err = target_read(t, at, &word, sizeof(word));

	if (err || !word || word - inf->map.s->threads < size)
		return err;
	return target_write(t, at, zeros, keeper->room.size);
}

static bool is_struct_of(const struct session *s, uint64_t word)
{
	return word - s->threads < (uint64_t)s->nrings * THREAD_SIZE;
}

/* One whose word cannot be read has none. */
static void forget_earlier(const struct target *t, const struct infection *inf,
			   struct thread_hold *th)
{
	uint64_t word, none = 0;
	raddr_t at;

	if (thread_regs(th))
		return;
	at = regs_tp(&th->regs) + inf->map.s->tls_offset;
	if (target_read(t, at, &word, sizeof(word)) == 0 &&
	    (is_struct_of(inf->map.s, word) || is_struct_of(&inf->old.s, word)))
		target_write(t, at, &none, sizeof(none));
	fail_clear();
}

void infect_forget_threads(const struct target *t, const struct infection *inf)
{
	for (size_t i = 0; i < t->nthreads && inf->old_owners && inf->map.s->tls_offset; i++)
		if (t->threads[i].hold == HOLD_STOPPED)
			forget_earlier(t, inf, &t->threads[i]);
}

/* Has it its thread pointer, and nothing else yet? Its id comes first, before anything
 * that is recorded: a thread that gets no processor may be so for seconds. */
static bool is_being_born(const struct target *t, raddr_t id, const struct thread_bytes *zero)
{
	uint8_t bytes[THREAD_BYTES_MOST], any = 0;

	if (target_read(t, id + (raddr_t)(int64_t)zero->at, bytes, zero->size) < 0)
		return false;
	for (size_t i = 0; i < zero->size; i++)
		any |= bytes[i];
	return !any;
}

/* Where no thread has a thread pointer, one that has just begun has its maker's registers, and by
 * them that one's struct, until it takes its own: it records nothing before. */
static bool has_makers(const struct target *t, const struct thread_hold *th)
{
	for (size_t i = 0; i < t->nthreads; i++) {
		struct thread_hold *other = &t->threads[i];

		if (other != th && other->hold == HOLD_STOPPED && thread_regs(other) == 0 &&
		    regs_tp(&other->regs) == regs_tp(&th->regs))
			return true;
	}
	return false;
}

static int check_thread(const struct target *t, const struct infection *inf,
			struct thread_hold *th, const struct thread_runtime *keeper)
{
	pid_t outer, inner = th->tid;
	uint64_t id;
	int err = thread_regs(th);

	if (err)
		return err;
	raddr_t tp = regs_tp(&th->regs);
	err = target_read(t, tp + inf->map.s->tid_offset, &id, sizeof(id));
	if (err)
		return err;
	if (!id && is_being_born(t, tp + inf->map.s->tid_offset, &keeper->newborn))
		return 0;
	if (id == (uint64_t)inner || (procfs_ids(t->pid, th->tid, &outer, &inner) > 0 &&
				      id == (uint64_t)inner))
		return forget_other(t, inf, tp, keeper);
	return has_makers(t, th) ? 0 :
		fail(EBUSY, "thread %d of %d (%s) is not known to its %s runtime",
		     th->tid, t->pid, t->comm, keeper->name);
}

int infect_check_threads(const struct target *t, const struct infection *inf)
{
	const struct thread_runtime *keeper = threads_by_number(inf->map.s->keeper);
	int err = 0;

	for (size_t i = 0; i < t->nthreads && keeper && keeper->keeps && !err; i++)
		if (t->threads[i].hold == HOLD_STOPPED)
			err = check_thread(t, inf, &t->threads[i], keeper);
	return err;
}
