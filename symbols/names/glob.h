/* SPDX-License-Identifier: MIT */
/*
 * glob: does this name match that shell pattern?
 *
 * Not fnmatch(3): names come from hostile files, and fnmatch takes exponential
 * time for patterns of many stars; it also depends on the locale.
 */
#ifndef SYMBOLS_GLOB_H
#define SYMBOLS_GLOB_H

#include "base/base.h"

/* `*`, `?`, [set], [!set] with ranges and [:classes:], and \ before a character
 * that is meant literally. The first `n` bytes of `name` are matched whole. A
 * `[` that nothing closes is a character like others. */
bool glob_match(const char *glob, const char *name, size_t n);
/* Nothing in it is special. */
bool glob_is_literal(const char *glob);

#endif
