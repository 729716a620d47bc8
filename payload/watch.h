/* SPDX-License-Identifier: MIT */
/* watch: functions of which the payload itself looks how long their calls take, in the session. */
#ifndef PAYLOAD_WATCH_H
#define PAYLOAD_WATCH_H

#include <stdint.h>

/* A function whose calls may not take longer than so many ticks. */
struct watch {
	uint64_t ticks;
	uint32_t func;
	uint32_t pad;
};

#define WATCHES 16

enum watch_state {
	WATCH_ARMED = 0,
	WATCH_FIRES = 1,	/* which call has fired, is being written */
	WATCH_FIRED = 2,	/* rings keep what was before: see is_frozen in ring.c */
};

#endif
