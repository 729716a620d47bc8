/* SPDX-License-Identifier: MIT */
/* units: how much is "50ms", "64K", "4121"? */
#ifndef INJECTOR_UNITS_H
#define INJECTOR_UNITS_H

#include "base/base.h"

/* A decimal number, without sign; 0 or -EINVAL, and -ERANGE beyond `max`.
 * No messages: the caller knows what the number was for. */
int units_number(const char *text, uint64_t max, uint64_t *ret);
/* TIME: a number, a fraction allowed, with ns, us, ms, s or m; in ns. A bare
 * number counts in `bare` ns, and is -EINVAL where that is 0. */
int units_time(const char *text, uint64_t bare, uint64_t *ret);
/* A share: percent, a fraction allowed and the sign as well; in hundredths of one. */
int units_percent(const char *text, uint32_t *ret);
/* SIZE: bytes, or a number with K, M or G (powers of 1024). */
int units_size(const char *text, uint64_t *ret);

#endif
