/* SPDX-License-Identifier: MIT */
/* The same of goroutines whose functions return by themselves. */
#define WORLD_CALLED
#include "tests/unit/payload_goroutines.c"
