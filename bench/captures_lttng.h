/* SPDX-License-Identifier: MIT */
/* captures_lttng: the values of bench/captures.c as events of LTTng-UST. */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER captures
#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "./captures_lttng.h"

#if !defined(BENCH_CAPTURES_LTTNG_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define BENCH_CAPTURES_LTTNG_H

#include <lttng/tracepoint.h>

LTTNG_UST_TRACEPOINT_EVENT(captures, number, LTTNG_UST_TP_ARGS(int, x),
	LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(int, number, x)))
LTTNG_UST_TRACEPOINT_EVENT(captures, text, LTTNG_UST_TP_ARGS(const char *, s),
	LTTNG_UST_TP_FIELDS(lttng_ust_field_string(text, s)))
#endif

#include <lttng/tracepoint-event.h>
