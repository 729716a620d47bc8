/* SPDX-License-Identifier: MIT */
/* parts: of which functions are there calls of which not all is known? */
#ifndef TRACE_PARTS_H
#define TRACE_PARTS_H

#include "trace/output/output.h"

/* One line, of those functions of which there are any. */
struct parts {
	struct output *out;
	const char *what;	/* one of these */
	bool any;
};

extern const char parts_of_record[], parts_unknown[];

void parts_add(struct parts *, const char *name, uint64_t calls);
void parts_end(const struct parts *);

/* A line each, if any events were lost, and if functions were disarmed. */
void parts_missing(struct output *, uint64_t lost, uint64_t disarmed);

#endif
