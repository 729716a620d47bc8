/* SPDX-License-Identifier: MIT */
/*
 * ring_snapshot: what did the rings of a session hold at one moment, while their threads went
 * on?
 *
 * A copy of the session in memory of our own, for the reader of the rings, which
 * finds in it what it finds in a session that is not written any more. The process
 * is not stopped, and notices nothing.
 */
#ifndef INJECTOR_RING_SNAPSHOT_H
#define INJECTOR_RING_SNAPSHOT_H

#include "injector/session/segment.h"
#include "payload/abi.h"

struct ring_snapshot {
	void *map;		/* the copy: struct session and so on */
	size_t size;
	uint64_t begin;		/* ticks: of the oldest sub-buffer; 0: there is none */
	uint64_t overwritten;	/* events, over all rings */
	uint64_t lost;		/* since the start, over all rings and beside them */
};

/* `s` is the session's head, checked (session_find); its sizes hold. */
int ring_snapshot_take(const struct segment *, const struct session *s, struct ring_snapshot *ret);
void ring_snapshot_clear(struct ring_snapshot *);

#endif
