/* SPDX-License-Identifier: MIT */
/* follow_impl: what follow.c and follow_begin.c share, and no other file uses. */
#ifndef INJECTOR_FOLLOW_IMPL_H
#define INJECTOR_FOLLOW_IMPL_H

#include "injector/show/follow.h"

/* The wall clock now, as results have it. */
uint64_t follow_wall(const struct follow *);

#endif
