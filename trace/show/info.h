/* SPDX-License-Identifier: MIT */
/* info: what does a trace directory hold? */
#ifndef TRACE_INFO_H
#define TRACE_INFO_H

#include "trace/read/archive.h"
#include "trace/output/output.h"

/* Without reading its events. */
void info_print(const struct archive *, const char *path, struct output *);

#endif
