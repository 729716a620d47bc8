/* SPDX-License-Identifier: MIT */
/* print: instructions as people read them, as gdb and objdump print them by default. */
#ifndef ARCH_PRINT_H
#define ARCH_PRINT_H

#include "arch/arch.h"

/*
 * The instruction at `p` (`n` bytes readable there), link-time address `pc`, as text of at
 * most `cap` bytes with its end. Its size in bytes; what is no instruction is one byte (of an
 * instruction set with instructions of one size, one of these), printed as a number.
 */
size_t arch_print(const struct arch *, const uint8_t *p, size_t n, raddr_t pc, char *out,
		  size_t cap);

#endif
