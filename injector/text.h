/* SPDX-License-Identifier: MIT */
/*
 * text: change bytes of the target's code, and know that they are changed. The
 * only writer of the target's text.
 *
 * Every change is one write within one page, through /proc/PID/mem, which
 * gives the process a private copy of the page (never the file): killed at any
 * moment, we leave each place either as it was or complete.
 */
#ifndef INJECTOR_TEXT_H
#define INJECTOR_TEXT_H

#include "injector/target.h"

enum { CHANGE_MAX = 16 };

struct change {
	raddr_t addr;
	uint8_t len;
	uint8_t from[CHANGE_MAX], to[CHANGE_MAX];
	uint32_t slot;		/* of the journal */
};

enum text_is {
	TEXT_FROM,		/* has the old bytes of this change */
	TEXT_TO,		/* has the new ones */
	TEXT_OTHER,		/* has neither: somebody else's */
};

/* What stands at each of `n` places: ret[i] is an enum text_is. */
int text_look(const struct target *, const struct change *, size_t n, uint8_t *ret);
/* Write all, in order; *done counts how many were written. */
int text_write(const struct target *, const struct change *, size_t n, size_t *done);
/* 0 if every place has its new bytes; -EIO and the first that has not. */
int text_verify(const struct target *, const struct change *, size_t n, size_t *bad);
/* Make the private copies of the pages now, while the target runs, by writing
 * to each the byte that it holds: the stop is then shorter. */
int text_touch(const struct target *, const struct change *, size_t n);

#endif
