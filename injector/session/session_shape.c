/* SPDX-License-Identifier: MIT */
/* session_shape: how large is a session to be, and where in it does what lie? */
#include "injector/session/session_shape.h"

#include <errno.h>

#include "injector/proc/kernel.h"

enum {
	FEWEST_SUBS = 4,
	ALL_RINGS = 64 << 20,	/* bytes that the threads of now share */
	FILE_SUBS = 2,		/* of a ring in a file, without its bank, */
	FILE_SUB_SIZE = 8192,	/* and their size, if -m asks for no more than 128 MiB */
	SPARSE_SUB_SIZE = 4096,	/* likewise, up to 64 MiB: what is said of one call fits */
};

/* What is mapped besides, for the journals of later visits; where addresses are few, or a
 * file has them, less. */
enum {
	FIRST_SLOTS = 1 << 16,
	FIRST_TAIL = 64 << 20,		/* behind the rings */
	TIGHT_TAIL = 16 << 20,
	ROOMY_SLOTS = 1 << 18,
	ROOMY_NOTES = 32 << 20,
};

uint64_t session_notes_at(const struct session_shape *shape)
{
	return ALIGN_UP(SLOTS_OFF + (uint64_t)shape->max_slots * sizeof(struct slot), PAGE);
}

uint64_t session_plans_at(const struct session_shape *shape)
{
	return session_notes_at(shape) + shape->notes;
}

uint64_t session_captures_at(const struct session_shape *shape)
{
	return session_plans_at(shape) + shape->plans;
}

uint64_t session_callers_at(const struct session_shape *shape)
{
	return session_captures_at(shape) +
		(shape->plans ? (uint64_t)shape->nrings * CAPTURE_SIZE : 0);
}

uint64_t session_walks_at(const struct session_shape *shape)
{
	return session_callers_at(shape) + shape->callers;
}

uint64_t session_sides_at(const struct session_shape *shape)
{
	return session_walks_at(shape) +
		(shape->callers ? (uint64_t)shape->nrings * WALK_SIZE : 0);
}

uint64_t session_rings_at(const struct session_shape *shape)
{
	return session_sides_at(shape) +
		(shape->sieve ? (uint64_t)shape->nrings * TIMING_SIDES : 0);
}

uint64_t session_ring_stride(const struct session_shape *shape)
{
	return PAGE + (uint64_t)shape->nsub * shape->sub_size;
}

uint64_t session_banks_at(const struct session_shape *shape)
{
	return session_rings_at(shape) + shape->nrings * session_ring_stride(shape);
}

static uint64_t total_with(const struct session_shape *shape, uint64_t tail)
{
	return ALIGN_UP(session_banks_at(shape) +
			(uint64_t)shape->nbanks * shape->bank_subs * shape->sub_size + tail,
			kernel_page());
}

/* The most that there is, or may be, in the place of an earlier one. */
static uint64_t most_in(const struct session_wish *w, const struct old_session *old)
{
	uint64_t most = w->most ? w->most : w->roomy ? SESSION_PLACE : 0;

	return MAX(old->place, MIN(most, old->place + w->behind));
}

static int no_room(const struct session_shape *shape)
{
	uint64_t callers = session_sides_at(shape) - session_callers_at(shape);
	uint64_t values = session_callers_at(shape) - session_plans_at(shape);

	return fail(0, "what this visit needs%s does not fit into the memory that inject has in this "
		    "process, behind which something else is mapped, or which a limit bounds: "
		    "%sprobe fewer functions",
		    callers ? " for --stack" : values ? " for values" : "",
		    callers ? "leave out --stack, or " :
		    values ? "leave out -a, -A and -w, or " : ""), -ENOSPC;
}

static uint32_t subs_within(const struct session_shape *shape, uint64_t total)
{
	uint64_t head = session_rings_at(shape) + (uint64_t)shape->nrings * PAGE;
	uint64_t fit = head < total && shape->nrings ?
		(total - head) / shape->nrings / SUBBUF_SIZE : 0;

	return (uint32_t)MIN((uint64_t)shape->nsub, fit);
}

/* As many sub-buffers as there is room for in a place that is given, or may grow: beyond what one
 * shall take only for the fewest, or for those that were asked for. */
static int shape_to_fit(const struct session_wish *w, const struct old_session *old,
			struct session_shape *shape)
{
	uint64_t limit = MAX(old->place, MIN(w->limit, old->place + w->behind));
	struct session_shape least = *shape;

	least.nrings = shape->nrings = old->s.nrings;
	if (!w->buffer)
		least.nsub = FEWEST_SUBS;
	shape->total = old->place;
	if (total_with(shape, 0) > old->place)
		shape->total = MIN(total_with(shape, FIRST_TAIL), most_in(w, old));
	if (subs_within(shape, shape->total) < least.nsub && total_with(&least, 0) <= limit)
		shape->total = total_with(&least, 0);
	shape->nsub = subs_within(shape, shape->total);
	return shape->nsub >= FEWEST_SUBS ? 0 : no_room(shape);
}

/* The same bytes, in more sub-buffers. */
static void shape_sparse(struct session_shape *shape)
{
	uint32_t times = SUBBUF_SIZE / SPARSE_SUB_SIZE;

	while (shape->nsub > SUBBUFS_MOST / times)
		times /= 2;
	shape->nsub *= times;
	shape->sub_size = SUBBUF_SIZE / times;
}

/* Less behind the rings, and smaller ones unless their size was asked for; not fewer, for
 * threads without one are not recorded. */
static void shape_tightly(const struct session_wish *w, struct session_shape *shape)
{
	uint64_t least = session_rings_at(shape) + (uint64_t)shape->nrings * PAGE + TIGHT_TAIL;
	uint64_t fit = w->most > least ? (w->most - least) / shape->nrings / SUBBUF_SIZE : 0;

	if (!w->buffer)
		shape->nsub = (uint32_t)MAX(MIN((uint64_t)shape->nsub, fit), FEWEST_SUBS);
	shape->total = total_with(shape, TIGHT_TAIL);
}

/* Addresses for one that is to be followed by others, which are of memory. */
static uint64_t place_with(const struct session_shape *shape, uint64_t tail)
{
	struct session_shape least = *shape;

	least.sub_size = SUBBUF_SIZE;
	least.nsub = FEWEST_SUBS;
	return ALIGN_UP(MAX(shape->total, session_banks_at(&least)) + tail, kernel_page());
}

/*
 * A file is to be small, for all of its room is taken at once: a write to where there is
 * none would be the SIGBUS of a thread of the target's, which may make no system call to
 * ask for some. So what a thread has that may never come is little, and there are banks,
 * which the first threads take that record: those of now, and half as many.
 */
static int shape_file(const struct session_wish *w, const struct old_session *reuse,
		      uint64_t bytes, struct session_shape *ret)
{
	uint64_t most = reuse ? most_in(w, reuse) : w->buffer ? 0 : w->most;

	ret->max_slots = w->max_slots;
	ret->notes = w->notes;
	ret->gates = ALIGN_UP(MIN(w->nfuncs + 1u, 1u << REC_FUNC_BITS), PAGE);
	ret->nrings = reuse ? reuse->s.nrings : ret->nrings;
	ret->nsub = FILE_SUBS;
	for (ret->sub_size = FILE_SUB_SIZE; bytes / ret->sub_size > SUBBUFS_MOST;)
		ret->sub_size *= 2;
	ret->nbanks = MIN((uint32_t)(w->nthreads + w->nthreads / 2 + 3), ret->nrings);
	ret->bank_subs = (uint32_t)(bytes / ret->sub_size) - FILE_SUBS;
	if (most && total_with(ret, 0) > most) {
		if (session_banks_at(ret) > most)
			return no_room(ret);
		ret->bank_subs = (uint32_t)((most - session_banks_at(ret)) / ret->nbanks /
					    ret->sub_size);
	}
	ret->total = total_with(ret, 0);
	ret->place = place_with(ret, TIGHT_TAIL);
	return 0;
}

bool session_has_rings(const struct old_session *old)
{
	uint64_t all, end;

	return !__builtin_mul_overflow(old->s.ring_stride, old->s.nrings, &all) &&
		!__builtin_add_overflow(old->s.rings_off, all, &end) && end <= old->s.size;
}

/* Room for the journals of later visits, where an earlier one's rings have no place that they
 * keep. */
static void shape_roomy(const struct session_wish *w, const struct old_session *reuse,
			struct session_shape *shape)
{
	struct session_shape roomy = *shape;

	roomy.max_slots = MAX(shape->max_slots, ROOMY_SLOTS);
	roomy.notes = MAX(shape->notes, ROOMY_NOTES);
	if (!reuse || (!session_has_rings(reuse) &&
		       total_with(&roomy, FIRST_TAIL) <= most_in(w, reuse)))
		*shape = roomy;
}

uint64_t session_least(const struct session *s)
{
	struct session_shape least = {
		.max_slots = MIN(s->nslots + (uint32_t)FIRST_SLOTS, (uint32_t)SESSION_SLOTS),
		.nrings = s->nrings, .nsub = FEWEST_SUBS, .sub_size = SUBBUF_SIZE,
	};

	return total_with(&least, 0);
}

int session_shape(const struct session_wish *w, const struct old_session *reuse,
		  struct session_shape *ret)
{
	uint64_t rings = MAX(256, (uint64_t)w->nthreads * 4);
	uint64_t bytes = w->buffer;

	if (!bytes)
		bytes = MIN(MAX(ALL_RINGS / (uint64_t)MAX(w->nthreads, 1), 256u << 10), 4u << 20);
	if (w->max_slots > SESSION_SLOTS)
		return fail(0, "%u places are too many for one process (at most %u); probe "
			    "fewer functions", w->max_slots, SESSION_SLOTS), -E2BIG;
	*ret = (struct session_shape){
		.sub_size = SUBBUF_SIZE, .nrings = (uint32_t)MIN(rings, (uint64_t)SESSION_RINGS),
		.plans_funcs = w->plans_funcs, .sieve = w->sieve,
		.plans = !w->plans_funcs ? 0 :
			ALIGN_UP(2 * w->plans_funcs * sizeof(uint32_t) + w->plans, PAGE),
		.callers_funcs = w->callers_funcs, .callers = ALIGN_UP(w->callers, PAGE),
	};
	if (w->file)
		return shape_file(w, reuse, bytes, ret);
	/* An earlier visit's rings keep their place, if the journal fits, until they are given
	 * back. */
	ret->max_slots = MAX(w->max_slots, reuse ? reuse->s.max_slots : FIRST_SLOTS);
	ret->notes = MAX(w->notes, reuse ? reuse->s.notes_size : 0);
	ret->nsub = (uint32_t)MIN(MAX(bytes / SUBBUF_SIZE, FEWEST_SUBS), (uint64_t)SUBBUFS_MOST);
	ret->wished = (uint64_t)ret->nsub * SUBBUF_SIZE;
	if (w->roomy)
		shape_roomy(w, reuse, ret);
	int err = 0;

	if (reuse) {
		err = shape_to_fit(w, reuse, ret);
	} else {
		ret->total = total_with(ret, FIRST_TAIL);
		if (w->most && ret->total > w->most)
			shape_tightly(w, ret);
		ret->place = ret->total;
	}
	if (!err && w->sparse)
		shape_sparse(ret);
	return err;
}
