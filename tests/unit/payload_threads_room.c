/* SPDX-License-Identifier: MIT */
/* Do threads get and keep rings of their own, where glibc's threads have room for words? */
#define WORLD_ROOM
#include "tests/unit/payload_threads.c"
