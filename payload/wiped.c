/* SPDX-License-Identifier: MIT */
/*
 * wiped: what stands for what a thread had, in a child that a signal handler forks in the middle of
 * a slow path? See thread_ring().
 */
#include "payload/payload.h"

struct ring payload_no_ring;
struct side payload_no_sides[2];
