/* SPDX-License-Identifier: MIT */
/* Is each call of a fiber counted once, where threads are sought? */
#define WORLD_BARE
#include "tests/unit/payload_fibers.c"
