/* SPDX-License-Identifier: MIT */
/* signatures: of the functions of a recording, unpacked as they are asked for. */
#ifndef TRACE_SIGNATURES_H
#define TRACE_SIGNATURES_H

#include "trace/format/event.h"
#include "values/capture.h"

struct signed_func {
	const uint8_t *packed;		/* by which it is found */
	bool good;
	struct signature signature;
	struct read_plan plan;
};

/* All zero at first. */
struct signatures {
	struct signed_func **v;		/* sorted by `packed` */
	size_t n, cap;
};

void signatures_clear(struct signatures *);
/* NULL: nothing is read of its calls, or it cannot be told what. It stays until the end. */
const struct signed_func *signatures_of(struct signatures *, const struct reader_func *);
/* A text with names from files, which may hold anything: made printable. */
void signatures_clean(char *text);

#endif
