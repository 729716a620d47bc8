/* SPDX-License-Identifier: MIT */
/* Do signals that interrupt the recording do no harm, where threads are sought? */
#define WORLD_BARE
#include "tests/unit/payload_signals.c"
