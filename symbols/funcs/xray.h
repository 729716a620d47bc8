/* SPDX-License-Identifier: MIT */
/*
 * xray: where has clang left sleds that its own runtime rewrites?
 *
 * A program built with -fxray-instrument can switch its tracing on and off
 * while it runs, on all threads: see plan/text/compiled.c for what that forbids us.
 */
#ifndef SYMBOLS_XRAY_H
#define SYMBOLS_XRAY_H

#include "symbols/unwind/unwind.h"

/* Add the first address of each sled in text, unsorted. 0 or -ENOMEM. */
int xray_find(const struct image *, struct addresses *ret);

#endif
