/* SPDX-License-Identifier: MIT */
/* filter: which calls were recorded, as the options say it? */
#ifndef TRACE_FILTER_H
#define TRACE_FILTER_H

#include "trace/format/about.h"

/* "-t 50ms -D 2 -w 'len > 4096'", or "-" where all are. Owned by the caller; NULL: no memory. What
 * cannot be printed is '?'. */
char *filter_text(const struct about_filter *);

#endif
