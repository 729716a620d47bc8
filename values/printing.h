/* SPDX-License-Identifier: MIT */
/* printing: what the files share that make text of values. */
#ifndef VALUES_PRINTING_H
#define VALUES_PRINTING_H

#include "values/capture.h"
#include "values/print.h"

struct printing {
	const struct capture *c;
	struct line *t;
	/* The text of a value of any type: types are made of types, in other files. */
	void (*value)(const struct printing *, uint32_t type, struct spot, unsigned int nested);
};

static inline struct spot spot_beyond(struct spot s, uint64_t at)
{
	return (struct spot){ s.own, s.of, s.at + (uint32_t)at };
}

/* ---- text_rust.c: as its {:?} has it, but for the names of enums ---------- */

/* `before` is put before its name. */
void rust_struct(const struct printing *, const struct type *, const char *before, struct spot,
		 unsigned int nested);
void rust_variants(const struct printing *, const struct type *, struct spot,
		   unsigned int nested);

/* ---- text_go.c ------------------------------------------------------------ */

/* "*errors.errorString("bad")", "int(5)", "main.square(0xc0000140)" */
void go_interface(const struct printing *, uint32_t type, struct spot, unsigned int nested);

#endif
