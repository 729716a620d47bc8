/* SPDX-License-Identifier: MIT */
/* utf8: where does a character end? */
#ifndef TRACE_UTF8_H
#define TRACE_UTF8_H

#include "base/base.h"

/* Bytes of the UTF-8 character at `text`, which ends with a 0; 0 if it is none.
 * Overlong forms, surrogates and what is beyond U+10FFFF are none. */
size_t utf8_bytes(const char *text);

#endif
