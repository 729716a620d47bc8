/* SPDX-License-Identifier: MIT */
/* The same where threads have to be sought. */
#define WORLD_BARE
#include "tests/unit/payload_refused.c"
