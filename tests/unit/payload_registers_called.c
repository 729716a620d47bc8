/* SPDX-License-Identifier: MIT */
/*
 * Does a recording call leave every register and flag as it was, where functions return
 * by themselves?
 */
#define WORLD_CALLED
#include "tests/unit/payload_registers.c"
