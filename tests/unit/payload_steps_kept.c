/* SPDX-License-Identifier: MIT */
/* Is the record exact wherever a signal comes, where registers are recorded? */
#define STEPS_KEPT 3
#include "tests/unit/payload_steps.c"
