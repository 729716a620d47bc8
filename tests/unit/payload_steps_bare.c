/* SPDX-License-Identifier: MIT */
/* Is the record exact wherever a signal comes, where threads have to be sought? */
#define WORLD_BARE
#include "tests/unit/payload_steps.c"
