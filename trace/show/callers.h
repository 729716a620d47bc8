/* SPDX-License-Identifier: MIT */
/* callers: their text. */
#ifndef TRACE_SHOW_CALLERS_H
#define TRACE_SHOW_CALLERS_H

#include "trace/format/callers.h"
#include "trace/read/frames.h"

/* Those of one call, the innermost first. */
struct shown_callers {
	struct caller v[CALLERS_MOST];
	size_t n;
	uint8_t cut;		/* enum callers_cut */
};

void shown_callers_take(const struct caller_names *, const struct call *,
			struct shown_callers *ret);

#define CALLER_ROOM 64		/* more than put_caller needs beside the names */

/* "net_read+0x1c (server)"; the address where no function is known. No more than CALLER_ROOM bytes
 * and the lengths of both names. */
char *put_caller(char *, const struct caller *);
size_t caller_room(const struct caller *);

#endif
