/* SPDX-License-Identifier: MIT */
/* Does recording work, where threads are sought? */
#define WORLD_BARE
#include "tests/unit/payload_basic.c"
