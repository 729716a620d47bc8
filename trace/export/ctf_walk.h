/* SPDX-License-Identifier: MIT */
/* ctf_walk: a value as fields of CTF: said in the metadata, or put together. */
#ifndef TRACE_CTF_WALK_H
#define TRACE_CTF_WALK_H

#include <stdio.h>

#include "values/capture.h"

struct ctf_walk {
	const struct capture *c;	/* said: of nothing that was read */
	bool exit;		/* of an exit's event: what was read at the entry is not there */
	FILE *text;		/* NULL: it is put together, in */
	uint8_t *out;
	size_t n, size;
	size_t steps;		/* a bound of both */
	bool failed;		/* it cannot be said so, or a value is not there */
};

/* `name` may be any text, and is the field's if none before it has the same: `index` tells it from
 * those. As text: a string, which is always there. */
void ctf_walk_value(struct ctf_walk *, uint32_t type, struct spot, const char *name, size_t index);
void ctf_walk_text(struct ctf_walk *, const char *text, const char *name, size_t index);
/* struct { ... } name; around what is said of the members. */
void ctf_walk_begin(struct ctf_walk *);
void ctf_walk_end(struct ctf_walk *, const char *name, size_t index);

#endif
