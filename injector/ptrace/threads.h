/* SPDX-License-Identifier: MIT */
/*
 * threads: which C library, or which language's runtime, keeps the threads of a process, and
 * what does it know of each?
 *
 * One struct each, in a file of its own (threads_glibc.c); THREAD_RUNTIMES lists them. What they
 * do otherwise with functions is plan/runtime.h's.
 */
#ifndef INJECTOR_THREADS_H
#define INJECTOR_THREADS_H

#include "injector/ptrace/target.h"

struct symbols;

/* What a language's runtime keeps of a thread that it has made itself. */
struct kept_thread {
	uint64_t tid_offset;	/* from the thread pointer (two's complement): where
				 * the thread's id is, which the thread has stored
				 * itself, as it knows it */
	uint64_t tid;
	struct range own;	/* the stack that it was made with */
	struct range signal;	/* of its handlers */
	struct range current;	/* the one that it runs on, of several; empty: none */
};

/* Which of its stacks holds `sp`? Empty: none. */
struct range kept_stack(const struct kept_thread *, raddr_t sp);

/* A thread by which the others are known. */
struct tids_of {
	const struct target *target;
	pid_t tid;
	raddr_t tp;		/* its thread pointer */
	const struct thread_runtime *keeper;	/* the language's that has made the thread, and
				 * no C library has; NULL: else */
	uint64_t place;		/* where that keeps the thread's id */
};

/* Bytes of each thread, from the thread pointer or the thread's id on. */
struct thread_bytes {
	int32_t at;
	uint32_t size;		/* 0: there are none */
};

enum { THREAD_BYTES_MOST = 64 };

struct thread_runtime {
	const char *name;	/* for messages */
	/* Bytes that the runtime leaves alone, where the payload may have a word of its own. */
	struct thread_bytes room;
	bool room_by_id;	/* they are so far from the thread's id, not its pointer */
	/* NULL: that is certain. Else: in all threads of the process, is there nothing yet so far
	 * from the thread pointer? Not so where another program has found them, too. */
	bool (*has_room)(const struct tids_of *, uint64_t at);

	/* ---- a C library ---- */

	/*
	 * The place of the id in all threads, from the thread pointer (two's complement); 0:
	 * unknown. Threads that are being born or die are waited for, `patience` ms. A thread
	 * that has to be asked is stopped by the target that is given; NULL: then it has no
	 * place. NULL: it is no C library.
	 */
	uint64_t (*ids)(struct target *, struct tids_of *, int patience);
	/* A function of this library alone, by which it is known where a loader has brought it,
	 * and its dlopen takes what brings thread-local storage of its own. NULL: it does not. */
	const char *loads_by;
	/* One that came later than the room became free. */
	const char *room_by;

	/* ---- a language's runtime that makes threads itself ---- */

	/* Has it made this thread, which is to be stopped? False also if that is not over yet. */
	bool (*keeps)(const struct target *, raddr_t tp, struct kept_thread *ret);
	/* Is a program of that language? */
	bool (*made)(const struct symbols *);
	/* Bytes, from the id on, that are all zero in a thread until it knows that. */
	struct thread_bytes newborn;
	/* It maps its memory itself: a program of it that has no heap so far gets none. */
	bool own_heap;
	/* Calls that it makes before its main thread is complete, and no C library does. */
	const uint64_t *calls;
	size_t ncalls;
};

/* All. Their numbers are their places here, from 1 on. */
#define THREAD_RUNTIMES(X) X(glibc) X(musl) X(go)

#define X(name) extern const struct thread_runtime threads_##name;
THREAD_RUNTIMES(X)
#undef X

/* By number, as a session has it; NULL: there is none. */
const struct thread_runtime *threads_by_number(uint32_t number);
uint32_t threads_number(const struct thread_runtime *);	/* 0 of NULL */
/* The language's runtime that keeps this thread, which is to be stopped; NULL: none. */
const struct thread_runtime *threads_keeper(const struct target *, raddr_t tp,
					     struct kept_thread *ret);
/* Of a program; NULL: it leaves threads to its C library. */
const struct thread_runtime *threads_of(const struct symbols *);
/* "glibc, musl or Go" */
const char *threads_names(void);
/* Why the payload is not loaded by the program's own loader: none that has loads_by. */
const char *threads_no_loader(void);

#endif
