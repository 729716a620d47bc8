/* SPDX-License-Identifier: MIT */
/* callers: the tables by which the payload walks stacks (payload/callers.h), made of the files that
 * a process has mapped. */
#ifndef INJECTOR_CALLERS_H
#define INJECTOR_CALLERS_H

#include "injector/modules/modules.h"
#include "injector/session/session.h"
#include "symbols/unwind/rows.h"

/* A module's code, and its rows. */
struct callers_code {
	struct range range;	/* run-time: from its first executable mapping to its last */
	dev_t dev;
	ino_t ino;
	struct unwind_rows rows;
	bool written;
	struct callers_module at;	/* where, if it is */
	bool mapped;		/* of the last look */
	bool signal;		/* it is not a file's, but where signal handlers return to */
};

struct callers_tables {
	struct callers_code *v;
	size_t n, cap;
	uint64_t used;		/* bytes of the session's */
	uint32_t changes;
};

/* Read the unwind information of those that are not known yet, and forget what is not mapped any
 * more. What cannot be read has none: a stack ends there, or goes on by frame pointers. 0 or
 * -ENOMEM. */
int callers_read(struct callers_tables *, const struct modules *);
/* Find where signal handlers return to, if the C library does not tell: in its code, or that of the
 * kernel. 0 or -ENOMEM. */
int callers_find_signals(struct callers_tables *, const struct target *, const struct modules *);
/* Is it there, as was found? */
bool callers_are_handled_at(const struct callers_tables *, raddr_t);
/* What they take in a session, with room for `nfuncs` functions, and for libraries that come
 * later. */
uint64_t callers_size(const struct callers_tables *, uint32_t nfuncs);
/* Into a session that was made with such room: `most` callers of each call are taken. */
void callers_begin(struct session_map *, uint32_t nfuncs, uint32_t most);
/* Write those that have come, as far as there is room, and let all hold that are mapped now. How
 * many there was no room for. */
size_t callers_write(struct callers_tables *, struct session_map *);
/* The callers of this function are to be taken. */
void callers_choose(struct session_map *, uint32_t func, enum callers_of);
void callers_clear(struct callers_tables *);

enum { CALLERS_MODULES = 4096 };	/* of one list */

/* For callers_later.c: where the lists are, what a module's rows and rules take, and these (`at`
 * says where), at a place of a table: the rows that lie in its code, and its rules behind them. */
uint64_t callers_lists_at(uint32_t nfuncs);
uint64_t callers_code_size(const struct callers_code *);
void callers_code_write(struct callers_code *, uint8_t *base, uint64_t at);

#endif
