/* SPDX-License-Identifier: MIT */
/*
 * session: the memory that we share with the target: its journal, its rings.
 *
 * A visit always makes a fresh session (a memfd, as a rule), sized by us through our own
 * descriptor and sealed against shrinking, so that the target cannot take
 * pages from under our mapping. An earlier visit's is found through
 * /proc/PID/maps and read through /proc/PID/mem: nothing more is needed to
 * finish for an injector that died.
 */
#ifndef INJECTOR_SESSION_H
#define INJECTOR_SESSION_H

#include "injector/proc/procfs.h"
#include "injector/ptrace/target.h"
#include "payload/abi.h"

#define SESSION_NAME "inject-session"
#define PAYLOAD_NAME "inject-payload"

/* Sizes of a session to be made. */
struct session_shape {
	uint32_t max_slots, nrings, nsub;
	uint64_t wished;	/* bytes of a ring's sub-buffers that there were to be */
	uint32_t sub_size, nbanks, bank_subs;
	uint64_t notes;		/* bytes of the notes */
	uint32_t plans_funcs;	/* functions that may have read plans; 0: there is no room */
	uint64_t plans;		/* bytes of these and their list */
	uint32_t callers_funcs;	/* functions whose callers may be taken, */
	uint64_t callers;	/* and bytes of the tables for that; 0: there are none */
	bool sieve;		/* calls are sifted */
	uint64_t gates;		/* likewise */
	uint64_t total;		/* bytes of the memfd, or file */
	uint64_t place;		/* bytes of addresses that are to be its own, if it is the
				 * first: later ones may be larger */
};

/* What is asked of one. */
struct session_wish {
	int nthreads;
	uint64_t buffer;	/* bytes per thread; 0: chosen so that all together
				 * stay modest */
	uint32_t max_slots;
	uint32_t nfuncs;	/* that may come to have gates */
	uint64_t notes;		/* bytes, whole pages */
	uint32_t plans_funcs;	/* that may come to have read plans; 0: none */
	uint64_t plans;		/* bytes of these alone */
	uint32_t callers_funcs;	/* functions whose callers may come to be taken */
	uint64_t callers;	/* bytes of the tables for that; 0: none are taken */
	bool sieve;		/* calls are sifted */
	bool sparse;		/* sub-buffers shall be small: each is over after some minutes,
				 * however little is in it (REC_TIME_BITS) */
	bool file;		/* it is to be as small as can be: see shape_file */
	bool roomy;		/* a later one that is larger shall find room, and an earlier one's
				 * place may grow */
	uint64_t behind;	/* bytes of addresses that are free behind an earlier one */
	uint64_t most;		/* bytes of addresses that it shall take, if it can do with
				 * so many, and with `buffer`, if that is given; 0: any */
	uint64_t limit;		/* and that one may take which follows another, at all */
};

struct old_session;
/*
 * Rings and sub-buffers as they are wished for. The place of an earlier session is
 * used again: a thread that was stopped in the middle of a recording routine may still
 * write to it, unless the rings were given back (session_keep). A later session that needs more
 * grows behind it, up to SESSION_PLACE in all if it is `roomy`, else up to `most`, or `limit` if it
 * could not be otherwise; without room it has smaller rings, whatever `buffer` is. -ENOSPC if the
 * journal does not fit there.
 */
#define SESSION_PLACE (8ull << 30)	/* room for the times of thousands of functions */
int session_shape(const struct session_wish *, const struct old_session *reuse,
		  struct session_shape *ret);
/* Bytes of addresses that a later visit can do with: the journal, and rings as small as can be. */
uint64_t session_least(const struct session *);

/* Our mapping of a session. */
struct session_map {
	struct session *s;	/* shared with the target: hostile */
	struct slot *slots;
	struct session_shape shape;	/* our own copy of the sizes */
	uint8_t *plans;		/* in it: see struct capture_plan. NULL: another one writes them */
	uint64_t plans_used;	/* bytes, with their list */
	uint8_t *callers;	/* in it: see struct callers */
	int fd;
	bool file;		/* it is one that has a name */
};

/*
 * Take all the room of a file that is to hold a session: to write where there is none
 * would be the target's SIGBUS. That may take long, so no thread is held meanwhile.
 */
int session_take_room(int file, const struct session_shape *);
/* What holds it. */
enum session_kind {
	SESSION_MEMFD,
	SESSION_FILE,		/* that start has made */
	SESSION_NAMELESS,	/* shared memory without a name, of a target that has no
				 * descriptor left */
};

/* Map and initialise what is behind `fd` (consumed), which is sized and sealed if it is a
 * memfd, and has its room if it is another. */
int session_create(int fd, const struct session_shape *, enum session_kind,
		   struct session_map *ret);
/* What an earlier visit has mapped for islands stays known. */
void session_keep_islands(struct session_map *, const struct old_session *);
void session_unmap(struct session_map *);
/* Let the calls of a function come further than its stub, for good if it `guards`; and none any
 * more. */
void session_open_gate(struct session_map *, uint32_t func, bool guards);
void session_close(struct session_map *);
/* The read plan of a function, for the payload, if we write any (`plans`). False: there is no room
 * for it. */
struct capture_plan;
bool session_add_plan(struct session_map *, uint32_t func, const struct capture_plan *,
		      size_t size);
/* Give the memory of the rings back; what they hold is lost. Now, by us: else
 * the next visit's borrowed thread would have to free it. */
void session_empty(struct session_map *);

/* An earlier visit's session, copied out of the target and checked. */
struct old_session {
	bool found;
	raddr_t base;		/* where the target has mapped it */
	uint64_t mapped;	/* bytes of that mapping */
	uint64_t place;		/* bytes of addresses that are ours from there on: see
				 * is_ours */
	uint64_t first;		/* as the kernel shows them, in one or in several: of the
				 * first */
	ino_t ino;		/* of the memfd: what else maps it shares it;
				 * also known if nothing in it makes sense */
	struct session s;
	struct slot *slots;	/* s.nslots of them; owned */
	uint64_t *islands;	/* s.nislands words of their list; owned */
	bool file;		/* not in memory: a file that start has made */
	bool nameless;		/* memory without a name: SESSION_NAMELESS */
};

/* Is a process's mapping that of a session, by its name; or, if it has none, by what it
 * says of itself? */
bool session_is_mapping(pid_t, const struct mapping *);
/* Is it one, if it is known that one has its inode? */
bool session_may_be(const struct mapping *);
/* Is this the head of one, of which so many bytes are there? */
bool session_is_sane(const struct session *, uint64_t mapped);
/* Look for one in a process; found == false if there is none. A damaged one
 * (hostile or foreign) is an error: -EBADMSG. */
int session_find(const struct target *, struct old_session *ret);
void session_forget(struct old_session *);
/* May it still stand? The journal comes first. */
bool session_is_pending(const struct slot *);
/* How many of its sites may still stand in the text. */
size_t session_pending(const struct old_session *);
/* How many of these do, in this process. */
size_t session_standing(const struct target *, const struct old_session *);
/* It was mapped, and no thread was told of it: the visit was killed before it got further. */
bool session_is_unused(const struct old_session *);
/* Its payload and all that it has mapped can be used again by a payload with
 * this build-id. */
bool session_reusable(const struct old_session *, const uint8_t build_id[20]);
/* It goes on by itself: probes are in, and no inject has to be there. */
bool session_is_started(const struct old_session *);
/* Is this the process that it was made in, and no forked child of that? */
bool session_is_of(const struct session *, pid_t);
/* Is the injector that holds it alive? Its pid, or 0. */
pid_t session_holder(const struct session *);

/* Its probes are out: nothing is recorded any more, and the memory of its rings is given back if
 * we may. No error: what is still there is memory. */
void session_end(const struct target *);
/*
 * The addresses of its rings go, too: from now on it says that it is so many bytes, with its
 * journal and without notes or rings. What is mapped behind them is unmapped next; killed before
 * that, it is a session that has more room than it says. Only where no thread can come to its
 * rings any more.
 */
int session_keep(const struct target *, const struct old_session *, uint64_t size);
/* Has it its rings still? */
bool session_has_rings(const struct old_session *);

/* Write one slot's state in the target's journal, by /proc/PID/mem. */
int session_mark(const struct target *, const struct old_session *, size_t slot,
		 enum slot_state state);

#endif
