/* SPDX-License-Identifier: MIT */
/*
 * onward: which calls end early for us, because their function goes on in another one by a jump?
 * What that one does, and how long it takes, is no part of them.
 */
#ifndef INJECTOR_ONWARD_H
#define INJECTOR_ONWARD_H

#include "injector/modules/select.h"
#include "trace/output/output.h"

/* A line with the functions that the i-th goes on in; none if there are none. */
void onward_print(const struct selected *, size_t i, struct output *);
/* Say of which of few functions that is so, where those that they go on in are not probed. Where
 * many are selected their callees are among them, mostly. */
void onward_say(const struct selection *);

#endif
