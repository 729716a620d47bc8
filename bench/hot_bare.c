/* SPDX-License-Identifier: MIT */
/* hot_bare: what does recording cost where threads have to be sought? */
#define WORLD_BARE
#include "bench/hot.c"
