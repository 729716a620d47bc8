/* SPDX-License-Identifier: MIT */
/* The same where hardly any stack is left, and threads have to be sought. */
#define WORLD_BARE
#include "tests/unit/payload_tight.c"
