/* SPDX-License-Identifier: MIT */
/* Do rings that keep the last do so where threads are sought? */
#define WORLD_BARE
#include "tests/unit/payload_keep.c"
