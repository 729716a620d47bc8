/* SPDX-License-Identifier: MIT */
/*
 * text: change bytes of the target's code, and know that they are changed. The
 * only writer of the target's text, but for the trap in the loader of a command that has
 * not begun (injector/launch/launch_load.c).
 *
 * All changes of one page are one write through /proc/PID/mem, which gives the
 * process a private copy of the page (never the file). The kernel copies what
 * lies within one page in one go, so killed at any moment we leave each page
 * either as it was or complete; a write that straddled two would not be so.
 */
#ifndef INJECTOR_TEXT_H
#define INJECTOR_TEXT_H

#include "injector/ptrace/target.h"

enum { CHANGE_MAX = 16 };

struct change {
	raddr_t addr;
	uint8_t len;
	uint8_t rank;		/* those of a lower rank are written before those
				 * of a higher one, and restored after them */
	bool finds;		/* as the slot's */
	uint8_t kept;		/* bytes behind it that a pun needs as they are,
				 * ours or not */
	uint8_t from[CHANGE_MAX], to[CHANGE_MAX];
	uint32_t slot;		/* of the journal */
	uint32_t func;		/* whose it is */
};

enum text_is {
	TEXT_FROM,		/* has the old bytes of this change */
	TEXT_TO,		/* has the new ones */
	TEXT_OTHER,		/* has neither: not ours */
};

/* What stands at each of `n` places: ret[i] is an enum text_is. */
int text_look(const struct target *, const struct change *, size_t n, uint8_t *ret);
/*
 * Make the changes, in order, page by page: each page is read and every place
 * of it found to have its old bytes, written, and read back. *done counts the
 * changes made, also on failure; nothing of a page that failed is written.
 * -EIO: a place has other bytes than expected; -EAGAIN: `until` (ns, 0: no
 * limit) has passed.
 */
int text_change(struct target *, const struct change *, size_t n,
		uint64_t until, size_t *done);
/*
 * Of `n` changes that are all to be made or none, `done` were since `begun`: to undo these
 * takes as long again. So when half of the time has passed they are given up, if at this
 * pace the rest would not be done in the other half.
 */
bool text_is_hopeless(uint64_t begun, uint64_t now, uint64_t until, size_t done, size_t n);
/* text_change that gives up by this rule. */
int text_change_all(struct target *, const struct change *, size_t n, uint64_t until,
		    size_t *done);
/* The change that undoes it. */
struct change text_reversed(const struct change *);
/* Take the first `done` changes back, last first. */
void text_undo(struct target *, const struct change *, size_t done);
/* Make the private copies of the pages now, while the target runs, by writing
 * to each a byte that it holds: the stop is then shorter. *at is the change
 * that it failed at. */
int text_touch(const struct target *, const struct change *, size_t n, size_t *at);

#endif
