/* SPDX-License-Identifier: MIT */
/* The same where hardly any stack is left, and glibc's threads have room for words. */
#define WORLD_ROOM
#include "tests/unit/payload_tight.c"
