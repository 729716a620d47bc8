/* SPDX-License-Identifier: MIT */
/* Is the record exact wherever a signal comes, where functions return by themselves? */
#define WORLD_CALLED
#include "tests/unit/payload_steps.c"
