/* SPDX-License-Identifier: MIT */
/* infect, inside: shared by infect*.c only. */
#ifndef INJECTOR_INFECT_IMPL_H
#define INJECTOR_INFECT_IMPL_H

#include "injector/infect/infect.h"
#include "injector/proc/gaps.h"
#include "injector/proc/kernel.h"
#include "injector/ptrace/tids.h"
#include "injector/remote/loan.h"
#include "injector/session/blobs.h"

enum {
	SCRATCH_CODE = 4096,	/* at most, in a page of the kernel's */
	SCRATCH_STACK = 256 << 10,
};

/* The system call in the target that takes one thing back. */
struct undoing {
	long nr;
	uint64_t args[2];
};

struct infecting {
	struct target *target;
	struct modules *mods;
	const struct infect_options *opt;
	struct infection *result;

	struct payload_info payload;
	raddr_t payload_at;	/* its base there */
	struct gadgets gadgets;
	struct {
		raddr_t dlopen, dlerror;
	} libc;
	int nthreads;
	struct range main_stack;	/* as far as it may grow */
	uint64_t stack_max;
	bool crowded;		/* something else lies behind the earlier visit's session */
	uint64_t session_most, session_limit;	/* bytes of addresses for the session, as
						 * session_wish's */
	bool locks;		/* it locks its memory (mlockall) */
	bool reuse;		/* an earlier visit's payload and memory */
	const struct thread_runtime *loaded;	/* the C library that a loader has brought, if
				 * that loader can load the payload; NULL: none */
	bool spare;		/* whose control blocks may have room */
	const char *no_loader;	/* why its own loader cannot load the payload;
				 * NULL: it can */
	bool alone;		/* it had one thread when these were looked at */
	bool bare;		/* we map the payload ourselves */
	uint64_t room;		/* that its threads have for thread-local storage, from
				 * the thread pointer on; 0: none */
	const struct thread_runtime *keeper;	/* of a language, that has made them, so that
				 * no C library knows them; NULL: none */
	uint64_t descriptors;	/* that it may open, before the first loan */
	bool nameless;		/* it has no descriptor left, not even for the session's
				 * memory */
	bool busy;		/* a thread may still use what is mapped */

	/* Free memory as it was before the first loan: to read the list of mappings, which
	 * may be long, while a thread is held, would hold it for as long. */
	struct gaps gaps;
	struct remote remote;
	raddr_t scratch;	/* the loader's page, and its stack behind it */
	struct {
		raddr_t list;	/* of their words in the session; 0: not there yet */
		size_t n, laid;	/* words; how many are settled */
		uint32_t turn;	/* of the last loan */
		uint64_t ticks;	/* that one may take */
		unsigned int idle;	/* loans in a row that have settled none */
		bool ready;	/* and nothing else is to be mapped, either */
	} islands;
	struct tids_of known;	/* the thread that was borrowed last */
	uint64_t tid_offset;	/* where a thread keeps its id; 0: unknown */
	struct undoing undo[64];	/* of what this visit has mapped and opened */
	size_t nundo;
};

/* Where the stack behind the loader's page begins. */
static inline raddr_t scratch_stack(raddr_t scratch)
{
	return scratch + kernel_page();
}

/* Threads, stack, limits, and the C library's functions. */
int infect_look(struct infecting *);
/* The session that it is to have, with room for so many slots. */
struct session_wish infect_wish(const struct infecting *, uint32_t slots);
/* Is anything to be recorded where hardly any stack is left? */
bool infect_needs_spills(const struct infecting *);
/* Has it locked memory? With mlockall(MCL_FUTURE) alone that is only seen once
 * something has been mapped. */
bool infect_sees_locks(const struct infecting *);
/* Borrow a thread, have it run `what`, give it back as it was. */
int infect_with_borrowed(struct infecting *, enum loan_use, int (*what)(struct infecting *));
/* A system call with which a visit that fails ends; and what it would undo is no more. */
void infect_note_undo(struct infecting *, long nr, uint64_t a0, uint64_t a1);
void infect_forget_undo(struct infecting *, long nr, uint64_t a0);
/* A memfd of the target that we have open too; *there is its number there. */
int infect_memfd(struct infecting *, const char *name, int *there, int *here);
/* Give the target a file that we have open; its number there. `at`: memory there that
 * a call may use. */
int infect_lend(struct infecting *, raddr_t at, int file, int *there);
/* Close a descriptor there; or note that it is closed. */
int infect_close(struct infecting *, int fd);
void infect_forget_fd(struct infecting *, int fd);
/* From now on the borrowed thread's calls run on the scratch's stack. */
int infect_use_stack(struct infecting *);
/* On a borrowed thread: the payload, which is there, gets to know the session. */
int infect_say_hello(struct infecting *);

/* 4g: the payload is there, and has answered. */
int infect_load(struct infecting *);

/* A remote mmap that is undone if the visit fails. */
int infect_map(struct infecting *, const char *what, raddr_t at, uint64_t size,
	       int prot, int flags, int fd, raddr_t *ret);
/* The same for a region of which little will ever be used, readable and writable. */
int infect_map_sparse(struct infecting *, const char *what, raddr_t at, uint64_t size,
		      int flags, int fd, raddr_t *ret);
/* What was mapped without access becomes readable and writable, and is locked no more. */
int infect_unlock(struct infecting *, const char *what, raddr_t at, uint64_t size);
int infect_keep_from_cores(struct infecting *, raddr_t at, uint64_t size);
/* Where strings lie that a remote call reads. */
raddr_t infect_name_at(const struct infecting *);
/* Before a thread is borrowed: all the room of a file that is to hold the session. */
int infect_take_room(const struct infecting *);
/* 4d. */
int infect_make_session(struct infecting *);
/* Before the first loan for them: nothing is known of the islands yet. */
void infect_begin_islands(struct infecting *);
/* Map pages of the islands on a borrowed thread, as many as one loan has time for. */
int infect_islands(struct infecting *);
/* Are some left for another loan? It is to be made after the thread has had its rest. */
bool infect_islands_left(const struct infecting *);
/* Which pages are mapped: not those where something has come to be meanwhile. */
int infect_see_islands(struct infecting *);
/* They are to be unmapped, by infect_islands. */
void infect_undo_islands(struct infecting *);
/* Is the loader's code of this very build where an earlier visit says that it is? */
bool infect_has_loader(const struct target *, raddr_t scratch);
/* Where is memory free? Asked before the first loan, and again where that has changed. */
int infect_find_gaps(struct infecting *);
/* No more there. 0 or -ENOMEM. */
int infect_take_gap(struct infecting *, raddr_t at, uint64_t size);
/* Find or map an arena for every need. */
int infect_arenas(struct infecting *);
/* Write the recording routines and their header into each new arena, once the
 * payload has said where it is. */
int infect_fill_arenas(struct infecting *);

/* Which thread the borrowed one is. */
void infect_note_thread(struct infecting *);
/* Where does a thread find its own id, and room? -ENOTSUP if that is not certain, and the
 * payload would have nothing else to know threads by, or there are several. */
int infect_find_tid(struct infecting *);
int infect_refuse_threads(const struct infecting *);
/* Is what threads of a language's own are known by safe from the kernel's code? */
bool infect_vdso_keeps_g(const struct target *);
/* Has it no other threads now? */
bool infect_is_alone(const struct infecting *);

#endif
