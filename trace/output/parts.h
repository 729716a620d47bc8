/* SPDX-License-Identifier: MIT */
/* parts: of which functions are calls counted of which a part is in the record only? */
#ifndef TRACE_PARTS_H
#define TRACE_PARTS_H

#include "trace/output/output.h"

/* One line, of those functions of which there are any. */
struct parts {
	struct output *out;
	bool any;
};

void parts_add(struct parts *, const char *name, uint64_t calls);
void parts_end(const struct parts *);

#endif
