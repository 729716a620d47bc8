/* SPDX-License-Identifier: MIT */
/* callers: their text. */
#ifndef TRACE_SHOW_CALLERS_H
#define TRACE_SHOW_CALLERS_H

#include "trace/format/callers.h"
#include "trace/read/frames.h"

/* Of a function that is inlined only the name and the module are known. */
struct shown_caller {
	struct caller caller;
	bool inlined;
};

enum { SHOWN_CALLERS = 4 * CALLERS_MOST };

/* Those of one call, the innermost first; what is inlined in one stands before it. */
struct shown_callers {
	struct shown_caller v[SHOWN_CALLERS];
	size_t n;
	uint8_t cut;		/* enum callers_cut */
};

void shown_callers_take(const struct caller_names *, const struct call *,
			struct shown_callers *ret);

#define CALLER_ROOM 64		/* more than put_caller needs beside the names */

/* "net_read+0x1c (server)"; "net_peek [inlined] (server)"; the address where no function is known.
 * No more than CALLER_ROOM bytes and the lengths of both names. */
char *put_caller(char *, const struct shown_caller *);
size_t caller_room(const struct shown_caller *);

#endif
