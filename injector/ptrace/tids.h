/* SPDX-License-Identifier: MIT */
/*
 * tids: where does a thread of the target keep its own id?
 *
 * The payload wants the id at a thread's first call, when to ask the kernel for
 * it may be deadly: the process may have installed a seccomp filter by then. And
 * where it has no thread-local storage, it knows threads by it.
 *
 * The C library has the id in the thread's control block, at a place that is
 * written down nowhere. In glibc it has always been shortly before the head of
 * the robust list; and where that is, the kernel tells for every thread, without
 * a stop. A thread whose list is elsewhere is stopped and asked where its block is.
 * musl has all its threads in a ring of such blocks. So: where all threads have their
 * ids, or unknown. Of Go's threads one is looked at here, and all when they are stopped
 * (commit).
 */
#ifndef INJECTOR_TIDS_H
#define INJECTOR_TIDS_H

#include "injector/ptrace/glibcthreads.h"
#include "injector/ptrace/target.h"

/* A thread by which the others are known. */
struct tids_of {
	const struct target *target;
	pid_t tid;
	raddr_t tp;		/* its thread pointer */
	raddr_t head;		/* of its robust list; 0: none */
	uint64_t go;		/* the place, if Go's runtime keeps the thread and no
				 * C library does (injector/ptrace/gothreads.h); 0: else */
};

/* To be asked while the thread is stopped. */
struct tids_of tids_note(const struct target *, pid_t tid, raddr_t tp);

/* The place in all threads of glibc, from the thread pointer (two's complement);
 * 0: unknown. Threads that are being born or die are waited for, `patience` ms. Where
 * the thread has a list of its own, another one takes its place. Those that have are
 * stopped by the target that is given; NULL: then they have no place. */
uint64_t tids_glibc(struct target *, struct tids_of *, int patience);
/* In all threads of glibc, do the bytes from GLIBC_ROOM_AT on hold nothing? Not so where
 * another program has found them, too. */
bool tids_have_room(const struct tids_of *);
/* The same for a C library that is glibc or musl, with what the payload relies on
 * to find threads: a thread pointer that points to itself. */
uint64_t tids_any(struct target *, struct tids_of *, int patience);

#endif
