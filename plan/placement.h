/* SPDX-License-Identifier: MIT */
/*
 * placement: the probes of a plan as one process has them.
 *
 * A plan says what can be, and stays what it is. What a process adds is here: ids, where stubs
 * and islands are, the bytes to be written, and what there is no room for. It may be changed by
 *
 *  1. the selection, which sets `finds`, `guards`, `silent`, `watched`, `callers` and `valued`,
 *     and refuses functions that must be left alone;
 *  2. the look at the process, which refuses what differs there, and gives sites the stubs
 *     and islands, and probes the ids, that they had at an earlier visit;
 *  3. the search for islands, which says where they are, and how a site is written to lead
 *     there (`prefix`, `kept`, `level`, jump.len), or gives it up;
 *  4. the placing, which gives ids and stubs, and leaves the rest to plan_place.
 *
 * Then slots of the journal are made of it (injector/patch/slots.h). From there on nothing
 * changes but the `refusal` of a function that drops out.
 *
 * All addresses are link-time addresses of the plan's module.
 */
#ifndef PLAN_PLACEMENT_H
#define PLAN_PLACEMENT_H

#include "plan/plan.h"

struct valued;

struct placed_site {
	struct site site;	/* as it is in this process, for which it may change:
				 * see above, and plan_give_up */
	raddr_t stub;		/* 0: none yet */
	raddr_t alone;		/* of an entry: the stub that it gets where the exits are given up;
				 * 0: none yet */
	/*
	 * Where the jump leads, if not to the stub itself: a place that leads on to it.
	 * Always for a pun, whose first bytes are jump.len and whose last are the `kept`
	 * ones behind them, and for a full jump of which a pun keeps bytes. 0: none.
	 */
	raddr_t island;
	uint8_t prefix;		/* bytes of a pun that do nothing */
	/* What follows plan_place sets. */
	uint16_t stub_size;
	uint16_t stub_off[SITE_INSNS];	/* of each instruction's copy in the stub: where a
				 * PC at it is moved to, and displaced jumps lead;
				 * behind the recording call of the entry, before
				 * that of an exit or a place */
	uint8_t new_hole[ARCH_PATCH_MAX], new_jump[ARCH_PATCH_MAX];	/* bytes of the patches */
};

struct placed_probe {
	const struct probe *planned;
	uint32_t id;		/* function id in records; 0: none yet */
	uint8_t refusal;	/* enum refusal: the plan's, or one of this process */
	uint8_t entry_only;	/* the same */
	bool finds;		/* unwinders ask it about frames, and are led to the
				 * payload first */
	bool guards;		/* by it a process may put itself under a seccomp filter: the
				 * payload is asked first */
	bool silent;		/* that is all: nothing of it is recorded */
	bool watched;		/* its calls are timed in the target */
	bool callers;		/* of each call its callers are taken, too */
	const struct valued *valued;	/* what is known of their values; NULL: nothing is */
	bool shared;		/* its id is that of all that have its name and share theirs, if
				 * the same is read there */
	bool timed;		/* a place where a copy of an inlined function begins or ends: how
				 * long that takes the reader tells */
	bool hidden;		/* and no more than that */
	bool with;		/* it has no site: its mark is that of the last probe before it that
				 * is not so */
	raddr_t semaphore;	/* of a counter in the module's data, raised meanwhile; 0:
				 * there is none */
	struct placed_site *sites;	/* in the plan's order; where exits are given up,
				 * the entry's only */
	size_t nsites;
};

/* The probes of a plan, as many as it has, with nothing added to them yet; in one block for
 * free(). NULL: no memory. The plan must outlive it. */
struct placed_probe *plan_placement(const struct plan *);

/* The probe as plan_give_up leaves it where an exit has no place: with its entry alone, which is
 * made at `entry`. */
struct placed_probe plan_alone(const struct placed_probe *, struct placed_site *entry);

/* Where the recording routines of an arena are (link-time space, that is
 * minus the module's bias); and where the gates are of all functions by id, a byte
 * each (run-time, as is). */
struct routines {
	raddr_t entry, exit, mark;
	raddr_t tail;		/* for an exit that is no return; 0: as for any other */
	raddr_t gates;
	/* For a record that is `tight`: see struct record_call. */
	raddr_t first;
	int32_t spills;
	/* For an entry that is `lowered`: see REC_LOWERED_MASK. */
	raddr_t late;
	raddr_t find;		/* for a record that `finds` */
	uint64_t word;		/* what is in all records' words, */
	uint64_t late_word;	/* and, from REC_LATE_SHIFT on, in those of late entries, */
	uint64_t tail_word;	/* and in those of exits that are no returns */
	bool marks_late;	/* marks say by how much the stack pointer is lower, too */
	raddr_t leave;		/* for an exit that is a plain return, which it makes
				 * itself; 0: none does */
};

/*
 * Write the stub of a site whose `stub` address is set: its code to `out`
 * (at most `cap` bytes), its size to stub_size, the instruction map to
 * stub_off, and the patches' new bytes. -ERANGE if something
 * does not reach; the site is then unusable.
 */
int plan_place(const struct arch *, const struct placed_probe *, struct placed_site *,
	       const uint8_t *window_bytes, const struct routines *,
	       uint8_t *out, size_t cap);

/* The same with its note (payload/stub.h) before it: `out` is where that is to be, and
 * the stub plan_note_size() behind it. */
int plan_place_noted(const struct arch *, const struct placed_probe *, struct placed_site *,
		     const uint8_t *window_bytes, const struct routines *,
		     uint8_t *out, size_t cap);
size_t plan_note_size(const struct placed_probe *, const struct placed_site *);

/* The new bytes of a site's patches, which plan_place fills too, once its stub,
 * or its island, is somewhere else. -ERANGE. */
int plan_patches(const struct arch *, struct placed_site *);
/* The jump from a site's island to its stub; its size, or -ERANGE. */
int plan_island(const struct arch *, const struct placed_site *, uint8_t *out);

/*
 * Where the pun of a site can lead, `prefix` bytes of it being no more than
 * that; p and given as of arch->pun_set. -ENOTSUP: nowhere.
 */
int plan_pun(const struct arch *, const struct placed_site *, size_t prefix,
	     const uint8_t *p, uint16_t given, struct jump_set *ret);

/*
 * Give up a site that cannot be placed, before any of its probe is. A pun becomes
 * a trap, which has a place everywhere, if the plan may have any. Else the exits go
 * with one of them, and the whole probe with its entry; or with any site if it is
 * linked, because then a jump that leads into another window may be lost.
 */
void plan_give_up(struct placed_probe *, struct placed_site *);

/*
 * A PC inside a site's patched bytes: the address of the same instruction in
 * the stub, 0 if `pc` is not strictly inside the window (its first byte is
 * safe: the jump stands there), or -EILSEQ through *err if it is no instruction's
 * start. `pc` at a hole (reached by the short jump only) leads to the stub.
 */
raddr_t plan_forward(const struct placed_site *, raddr_t pc, int *err);

#endif
