/* SPDX-License-Identifier: MIT */
/* The same of goroutines where threads have to be sought. */
#define WORLD_BARE
#include "tests/unit/payload_goroutines.c"
