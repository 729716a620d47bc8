/* SPDX-License-Identifier: MIT */
/* Is every register kept, where threads are sought? */
#define WORLD_BARE
#include "tests/unit/payload_registers.c"
