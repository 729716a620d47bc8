/* SPDX-License-Identifier: MIT */
/* Does recording work, where glibc's threads have room for words? */
#define WORLD_ROOM
#include "tests/unit/payload_basic.c"
