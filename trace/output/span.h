/* SPDX-License-Identifier: MIT */
/* span: how is a time printed, in ten columns? */
#ifndef TRACE_SPAN_H
#define TRACE_SPAN_H

#include "base/base.h"

/* At least 10 columns, and SPAN_MOST bytes at most; returns behind them. */
char *put_span(char *p, uint64_t ns, bool color);
/* The same of a time that is not known. */
char *put_no_span(char *p);

#define SPAN_MOST 40

#endif
