/* SPDX-License-Identifier: MIT */
/* Do threads get and keep rings of their own, where threads are sought? */
#define WORLD_BARE
#include "tests/unit/payload_threads.c"
