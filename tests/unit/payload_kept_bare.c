/* SPDX-License-Identifier: MIT */
/* Are registers recorded as they are where threads have to be sought? */
#define WORLD_BARE
#include "tests/unit/payload_kept.c"
