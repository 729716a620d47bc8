/* SPDX-License-Identifier: MIT */
/* cpu: the few instructions that the payload needs and C has no words for. */
#ifndef ARCH_CPU_H
#define ARCH_CPU_H

#if defined(__x86_64__)
#include "arch/x86_64/cpu.h"
#elif defined(__aarch64__)
#include "arch/arm64/cpu.h"
#else
#error "no arch/<name>/cpu.h for this instruction set"
#endif

#endif
