/* SPDX-License-Identifier: MIT */
/* stand: what has a stub pushed where a thread stands in it? */
#ifndef ARCH_STAND_H
#define ARCH_STAND_H

#if defined(__x86_64__)
#include "arch/x86_64/stand.h"
#elif defined(__aarch64__)
#include "arch/arm64/stand.h"
#else
#error "no arch/<name>/stand.h for this instruction set"
#endif

#endif
