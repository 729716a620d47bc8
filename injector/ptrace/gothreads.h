/* SPDX-License-Identifier: MIT */
/*
 * gothreads: what does Go's runtime keep of a thread that no C library knows?
 *
 * A program of Go's that does not use C makes its threads itself. The runtime has
 * a struct m for each, in which six words stand where a C library would have
 * thread-local storage (m.tls); the thread pointer points to the second of them.
 * The first is g, whose code the thread runs: a goroutine, the runtime's own on a
 * stack of its own (g0), or a signal handler's (gsignal). The other five are
 * unused, in all versions, and zero when a thread begins: an m belongs to one
 * thread for all its life, and is garbage then.
 *
 * What is taken for granted of these structs has been so since Go 1.5; what
 * differs between versions is found out, and what is read is believed only if each
 * of the structs leads back to the others.
 */
#ifndef INJECTOR_GOTHREADS_H
#define INJECTOR_GOTHREADS_H

#include "injector/ptrace/target.h"

enum {
	/* Bytes behind the thread pointer that nothing uses. */
	GOTHREAD_ROOM_AT = 8, GOTHREAD_ROOM = 32,
	/* From there: m.tls, g and these. */
	GOTHREAD_TLS_AT = -8, GOTHREAD_TLS = 48,
};

struct gothread {
	uint64_t tid_offset;	/* from the thread pointer (two's complement): where
				 * the thread's id is, which the thread has stored
				 * itself, as it knows it */
	uint64_t tid;
	struct range own;	/* g0's stack */
	struct range signal;	/* gsignal's */
	struct range current;	/* of the goroutine that it runs; empty: none */
};

/* Of the thread with this thread pointer, which is to be stopped; false if it is
 * none of such, or not yet. */
bool gothread_read(const struct target *, raddr_t tp, struct gothread *ret);
/* Which of its stacks holds `sp`? Empty: none. */
struct range gothread_stack(const struct gothread *, raddr_t sp);

#endif
