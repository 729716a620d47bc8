/* SPDX-License-Identifier: MIT */
/*
 * infect, continued: 4d, the session. As a rule it is a memfd of the target's that we have
 * open too, or a file of ours that we lend.
 *
 * A target that has no descriptor left makes nameless memory, shared with those that it
 * forks, and we open what is behind that mapping (/proc/PID/map_files, which takes a
 * capability). It cannot be sealed: only a process with the same capability could make it shorter.
 * In a later visit it is made elsewhere, filled in, and takes the old one's place by one
 * mremap. Until then it does not say that it is where it is, and so passes for none
 * (session_is_mapping).
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "injector/infect/infect_impl.h"
#include "injector/proc/procfs.h"

/* Everything of an earlier visit that stays true, so that the new session can
 * take the old one's place at once and the journal is never without it. */
static void carry_over(struct infecting *in)
{
	const struct old_session *old = &in->result->old;
	struct session *s = in->result->map.s;

	s->payload = old->s.payload;
	s->tls_offset = old->s.tls_offset;
	s->tid_offset = old->s.tid_offset;
	s->slow_entry = old->s.slow_entry;
	s->slow_exit = old->s.slow_exit;
	s->slow_mark = old->s.slow_mark;
	s->slow_goroutine = old->s.slow_goroutine;
	s->slow_count = old->s.slow_count;
	s->slow_watch_entry = old->s.slow_watch_entry;
	s->slow_watch_exit = old->s.slow_watch_exit;
	s->slow_values_entry = old->s.slow_values_entry;
	s->slow_values_exit = old->s.slow_values_exit;
	s->slow_guard = old->s.slow_guard;
	s->slow_tight = old->s.slow_tight;
	s->slow_first = old->s.slow_first;
	s->slow_first_end = old->s.slow_first_end;
	s->slow_find = old->s.slow_find;
	s->slow_stacks = old->s.slow_stacks;
	s->spills_offset = old->s.spills_offset;
	s->spills = old->s.spills;
	s->nspills = old->s.nspills;
	s->traps = old->s.traps;
	s->threads = old->s.threads;
	s->next_fiber = old->s.next_fiber;
	s->nfuncs = old->s.nfuncs;
	s->narenas = old->s.narenas;
	memcpy(s->arenas, old->s.arenas, sizeof(s->arenas));
	s->nslots = old->s.nslots;
	memcpy(in->result->map.slots, old->slots, old->s.nslots * sizeof(struct slot));
}

static void fill_session(struct infecting *in)
{
	struct session *s = in->result->map.s;

	if (in->reuse)
		carry_over(in);
	s->generation = in->result->old.s.generation + 1;
	s->pid = procfs_own_id(in->target->pid);
	s->keep_last = in->opt->keep_last;
	s->call_changes = regs_call_changes();
	s->counting = in->opt->way->kind;
	s->keeper = threads_number(in->keeper);
	s->scratch = in->scratch;
	s->stack_lo = in->main_stack.start;
	s->stack_hi = in->main_stack.end;
	s->stack_max = in->stack_max;
	s->base = in->result->old.base;
	memcpy(s->build_id, in->payload.build_id, sizeof(s->build_id));
	session_keep_islands(&in->result->map, &in->result->old);
	__atomic_store_n(&s->magic, SESSION_MAGIC, __ATOMIC_RELEASE);
}

static int lend_file(struct infecting *in, int *there, int *here)
{
	int err = infect_lend(in, infect_name_at(in), in->opt->file, there);

	*here = err ? -1 : fcntl(in->opt->file, F_DUPFD_CLOEXEC, 0);
	return !err && *here < 0 ? fail(errno, "open the session's file") : err;
}

static int choose_shape(const struct infecting *in, struct session_shape *ret)
{
	const struct old_session *old = in->reuse ? &in->result->old : NULL;
	struct session_wish wish = infect_wish(in, in->opt->max_slots +
					       (old ? old->s.nslots : 0));

	return session_shape(&wish, old, ret);
}

int infect_take_room(const struct infecting *in)
{
	struct session_shape shape;
	int err = in->opt->file ? choose_shape(in, &shape) : 0;

	return err || !in->opt->file ? err : session_take_room(in->opt->file, &shape);
}

static int unmap(struct infecting *in, raddr_t at, uint64_t size)
{
	int64_t unused;

	return remote_try(&in->remote, "give back addresses", &unused, SYS_munmap, at, size,
			  0, 0, 0, 0);
}

/* A part of the session's memory. */
struct part {
	raddr_t at;		/* where there is nothing; 0: anywhere */
	uint64_t size, off;	/* in the session */
	int there;		/* the target's descriptor */
	uint64_t prot;
};

/* *ret: where it is; 0: there is no room. Whatever is mapped here is seen to be a session's
 * by a later visit, should we be killed before the next step. */
static int map_part(struct infecting *in, const struct part *p, raddr_t *ret)
{
	const int flags = MAP_SHARED | MAP_NORESERVE | (p->at ? MAP_FIXED_NOREPLACE : 0);
	const uint64_t args[6] = { p->at, p->size, p->prot, (uint64_t)flags,
				   (uint64_t)p->there, p->off };
	const raddr_t at = p->at;
	const uint64_t size = p->size;
	int64_t got;
	int err = remote_syscall(&in->remote, SYS_mmap, args, &got);

	*ret = err || got < 0 ? 0 : (raddr_t)got;
	/* Linux before 4.17 takes the address for a hint. */
	if (*ret && at && *ret != at) {
		err = unmap(in, *ret, size);
		*ret = 0;
	}
	if (!*ret)
		return err;
	infect_note_undo(in, SYS_munmap, *ret, size);
	return 0;
}

/* At the low end of a place that it may grow into. The rest is given back: what the kernel
 * maps next it puts at the high end. *ret == 0: there is no such place. */
static int map_at_low_end(struct infecting *in, const struct session_shape *shape, int there,
			  raddr_t *ret)
{
	int err = 0;

	*ret = 0;
	if (infect_wish(in, 0).roomy && shape->place < SESSION_PLACE)
		err = map_part(in, &(struct part){ .size = SESSION_PLACE, .there = there,
						   .prot = PROT_READ | PROT_WRITE }, ret);
	if (err || !*ret)
		return err;
	err = unmap(in, *ret + shape->place, SESSION_PLACE - shape->place);
	if (err)
		return err;
	infect_forget_undo(in, SYS_munmap, *ret);
	infect_note_undo(in, SYS_munmap, *ret, shape->place);
	/* Stubs may have to lie in what was given back. */
	return infect_take_gap(in, *ret, shape->place);
}

static int map_first(struct infecting *in, const struct session_shape *shape, int there)
{
	int err = map_at_low_end(in, shape, there, &in->result->base);

	return err || in->result->base ? err :
		infect_map_sparse(in, "map the session", 0, shape->place,
				  MAP_SHARED | MAP_NORESERVE, there, &in->result->base);
}

/* Behind an earlier one. The process may lock what it maps since then, which is seen by the first
 * thing that is mapped: so that has no access. *ret: where it is; 0: there is no room. */
static int map_behind(struct infecting *in, const struct part *p, raddr_t *ret)
{
	const int flags = MAP_SHARED | MAP_NORESERVE | MAP_FIXED;
	int64_t unused;
	int err = map_part(in, p, ret);

	if (err || !*ret)
		return err;
	in->locks |= infect_sees_locks(in);
	err = in->locks ? infect_unlock(in, "map the session", p->at, p->size) :
		remote_try(&in->remote, "map the session", &unused, SYS_mmap, p->at, p->size,
			   PROT_READ | PROT_WRITE, (uint64_t)flags, (uint64_t)p->there, p->off);
	return err ? err : infect_take_gap(in, p->at, p->size);
}

/* Over an earlier one, and behind it first, if it is larger: should something else be
 * there, nothing has happened yet. What is left of a larger one stays: a thread may still
 * write to it. */
static int map_over(struct infecting *in, const struct session_shape *shape, int there)
{
	const struct old_session *old = &in->result->old;
	raddr_t behind = old->base + old->place, at = behind;
	uint64_t more = shape->total > old->place ? shape->total - old->place : 0;
	const struct part p = { behind, more, old->place, there, PROT_NONE };
	int err = more ? map_behind(in, &p, &at) : 0;

	in->crowded = !err && !at;
	if (err || in->crowded)
		return err;
	err = infect_map_sparse(in, "map the session", old->base, MIN(shape->total, old->place),
				MAP_SHARED | MAP_NORESERVE | MAP_FIXED, there,
				&in->result->base);
	/* From now on the new session lies in the place of the old. */
	if (!err)
		infect_forget_undo(in, SYS_munmap, behind);
	return err;
}

/* A memfd or a file: all is in it before the target has it mapped. */
static int make_named(struct infecting *in, const struct session_shape *shape)
{
	int there = -1, here = -1;
	enum session_kind kind = in->opt->file ? SESSION_FILE : SESSION_MEMFD;
	int err = in->opt->file ? lend_file(in, &there, &here) :
		infect_memfd(in, SESSION_NAME, &there, &here);

	err = err ? err : session_create(here, shape, kind, &in->result->map);
	if (err)
		return err;
	fill_session(in);
	err = in->reuse ? map_over(in, shape, there) : map_first(in, shape, there);
	if (err)
		return err;
	if (in->crowded)
		session_unmap(&in->result->map);
	else
		in->result->map.s->base = in->result->base;
	return infect_close(in, there);
}

/* What is behind a mapping of the target's; it may be another by now. */
static int open_mapping(const struct infecting *in, struct range r, int *ret)
{
	char path[96];

	procfs_map_file(in->target->pid, r, path, sizeof(path));
	*ret = open(path, O_RDWR | O_CLOEXEC);
	return *ret < 0 ? fail(errno, "open %s", path) : 0;
}

/* Is that memory ours as well? */
static int check_same(const struct infecting *in, raddr_t at)
{
	struct session there;
	int err = target_read(in->target, at, &there, sizeof(there));

	if (!err && memcmp(&there, in->result->map.s, sizeof(there)) != 0)
		err = fail(EAGAIN, "%d (%s) has mapped something else over the session",
			   in->target->pid, in->target->comm);
	return err;
}

static int take_old_place(struct infecting *in, raddr_t at, uint64_t size)
{
	int64_t got;
	int err = remote_try(&in->remote, "move the session", &got, SYS_mremap, at, size, size,
			     MREMAP_MAYMOVE | MREMAP_FIXED, in->result->old.base, 0);

	if (err)
		return err;
	infect_forget_undo(in, SYS_munmap, at);
	return 0;
}

static int make_nameless(struct infecting *in, const struct session_shape *shape)
{
	raddr_t at;
	int here = -1;
	int err = infect_map_sparse(in, "map the session", 0, shape->total,
				    MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, &at);

	err = err ? err : open_mapping(in, (struct range){ at, at + shape->total }, &here);
	err = err ? err : session_create(here, shape, SESSION_NAMELESS, &in->result->map);
	if (err)
		return err;
	in->result->base = in->reuse ? in->result->old.base : at;
	fill_session(in);
	in->result->map.s->base = in->result->base;
	err = check_same(in, at);
	return err || !in->reuse ? err : take_old_place(in, at, shape->total);
}

/* Sized and mapped; in->crowded: not mapped, and it has to be smaller. */
static int make_shaped(struct infecting *in, struct session_shape *shape)
{
	int err = choose_shape(in, shape);

	if (err)
		return err;
	return in->nameless ? make_nameless(in, shape) : make_named(in, shape);
}

/* 4d. */
int infect_make_session(struct infecting *in)
{
	const struct old_session *old = &in->result->old;
	struct session_shape shape;
	int err = session_is_unused(old) ? unmap(in, old->base, old->place) : 0;

	err = err ? err : make_shaped(in, &shape);
	if (!err && in->crowded)
		err = make_shaped(in, &shape);
	return err ? err : infect_keep_from_cores(in, in->result->base,
						  in->reuse ? shape.total : shape.place);
}
