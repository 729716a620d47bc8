/* SPDX-License-Identifier: MIT */
/* infect, inside: shared by infect*.c only. */
#ifndef INJECTOR_INFECT_IMPL_H
#define INJECTOR_INFECT_IMPL_H

#include "injector/blobs.h"
#include "injector/infect.h"
#include "injector/tids.h"
#include "injector/victim.h"

enum {
	SCRATCH_CODE = 4096,
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
		raddr_t dlopen, dlerror, pthread_create, pthread_detach;
	} libc;
	int nthreads;
	struct range main_stack;	/* as far as it may grow */
	uint64_t stack_max;
	bool locks;		/* it locks its memory (mlockall) */
	bool reuse;		/* an earlier visit's payload and memory */
	const char *no_loader;	/* why its own loader cannot load the payload;
				 * NULL: it can */
	bool bare;		/* so we map it ourselves, and it finds threads
				 * without thread-local storage */
	bool of_go;		/* and there is room for some in Go's threads, which
				 * no C library knows */
	bool in_place;		/* the borrowed thread calls dlopen itself */
	unsigned int slept;	/* threads that have slept over starting the loader */
	unsigned int loaders;	/* started, and without an answer so far: they
				 * may still use what is mapped */
	bool ending;		/* one has answered, in a thread of its own, which
				 * runs what is mapped until it ends */
	int payload_fd;		/* there; the loader closes it; -1: none */

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

/* Threads, stack, limits, and the C library's functions. */
int infect_look(struct infecting *);
/* The session that it is to have, with room for so many slots. */
struct session_wish infect_wish(const struct infecting *, uint32_t slots);
/* Is anything to be recorded where hardly any stack is left? */
bool infect_needs_rooms(const struct infecting *);
/* Has it locked memory? With mlockall(MCL_FUTURE) alone that is only seen once
 * something has been mapped. */
bool infect_sees_locks(const struct infecting *);
/* Borrow a thread, have it run `what`, give it back as it was. */
int infect_with_borrowed(struct infecting *, enum victim_use, int (*what)(struct infecting *));
/* A system call with which a visit that fails ends. */
void infect_note_undo(struct infecting *, long nr, uint64_t a0, uint64_t a1);
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

/* 7: a memfd with the payload, and what the loader has to know. */
int infect_hand_over(struct infecting *);
/* 7 and 8: the payload is there, and has answered. */
int infect_load(struct infecting *);
/* False: a thread still runs the loader's code, and will for long. */
bool infect_loader_has_left(struct infecting *);

/* A remote mmap that is undone if the visit fails. */
int infect_map(struct infecting *, const char *what, raddr_t at, uint64_t size,
	       int prot, int flags, int fd, raddr_t *ret);
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
/* Find or map an arena for every need. */
int infect_arenas(struct infecting *);
/* Write the recording routines and their header into each new arena, once the
 * payload has said where it is. */
int infect_fill_arenas(struct infecting *);

/* Who the borrowed thread is. */
void infect_note_thread(struct infecting *);
/* Where does a thread find its own id, if that is certain? -EPERM if it is not,
 * and some thread may not ask the kernel; -ENOTSUP if that is all by which the
 * payload would know its threads. */
int infect_find_tid(struct infecting *);
int infect_refuse_threads(const struct infecting *);

#endif
