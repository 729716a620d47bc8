/* SPDX-License-Identifier: MIT */
/* top: which functions are called now, and which take the time? */
#ifndef INJECTOR_TOP_H
#define INJECTOR_TOP_H

#include "injector/show/counts.h"

/* A table that is drawn anew each second, on a terminal. */
struct top;

int top_new(struct counts *, struct output *, struct top **ret);
/* The terminal is as it was. NULL is legal. */
void top_free(struct top *);
/* Draw it, if it is time; `now` is monotonic, ns. */
void top_tick(struct top *, uint64_t now);
/* Where keys come from; -1: from nowhere. */
int top_fd(const struct top *);
/* Do what the keys say that were typed. True: to end. */
bool top_typed(struct top *);
/* The terminal is the shell's for a while. */
void top_release(struct top *);
/* The same for good, and empty. */
void top_clear(struct top *);

/* The table once, of all the time since the begin, from what was taken last. */
void top_print(struct counts *, struct output *);

#endif
