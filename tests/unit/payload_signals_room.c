/* SPDX-License-Identifier: MIT */
/* Do signals that interrupt the recording do no harm, where glibc leaves room for words? */
#define WORLD_ROOM
#include "tests/unit/payload_signals.c"
