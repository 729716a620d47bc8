/* SPDX-License-Identifier: MIT */
/* infect, inside: shared by infect*.c only. */
#ifndef INJECTOR_INFECT_IMPL_H
#define INJECTOR_INFECT_IMPL_H

#include "injector/blobs.h"
#include "injector/infect.h"

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
	struct gadgets gadgets;
	struct {
		raddr_t dlopen, dlerror, pthread_create, pthread_detach;
	} libc;
	int nthreads;
	struct range main_stack;	/* as far as it may grow */
	uint64_t stack_max;
	bool locks;		/* it locks its memory (mlockall) */
	bool reuse;		/* an earlier visit's payload and memory */
	bool in_place;		/* the borrowed thread calls dlopen itself */
	unsigned int loaders;	/* started, and without an answer so far: they
				 * may still use what is mapped */
	bool ending;		/* one has answered, in a thread of its own, which
				 * runs what is mapped until it ends */
	int payload_fd;		/* there; the loader closes it */

	struct remote remote;
	raddr_t scratch;	/* the loader's page, and its stack behind it */
	uint64_t robust_head;	/* its offset from the thread pointer, two's
				 * complement; 0: the thread asked has none */
	struct undoing undo[64];	/* of what this visit has mapped and opened */
	size_t nundo;
};

/* Threads, stack, limits, and the C library's functions. */
int infect_look(struct infecting *);
/* Has it locked memory? With mlockall(MCL_FUTURE) alone that is only seen once
 * something has been mapped. */
bool infect_sees_locks(const struct infecting *);
/* A remote mmap that is undone if the visit fails. */
int infect_map(struct infecting *, const char *what, raddr_t at, uint64_t size,
	       int prot, int flags, int fd, raddr_t *ret);
/* Map the pages of the islands, but where something has come to be meanwhile. */
int infect_islands(struct infecting *);
void infect_undo_islands(struct infecting *, struct remote *);
/* Find or map an arena for every need. */
int infect_arenas(struct infecting *);
/* Write the recording routines and their header into each new arena, once the
 * payload has said where it is. */
int infect_fill_arenas(struct infecting *);

/* Of the borrowed thread, where its robust list begins. */
void infect_note_thread(struct infecting *);
/* Tell the payload where a thread finds its own id, if that is certain. -EPERM
 * if it is not, and some thread may not ask the kernel. */
int infect_find_tid(struct infecting *);

#endif
