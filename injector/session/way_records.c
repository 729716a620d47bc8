/* SPDX-License-Identifier: MIT */
/* way_records: each entry and each exit is a record in its thread's ring. */
#include "injector/session/ways.h"

const struct way way_records = { .kind = COUNT_NONE };
