/* SPDX-License-Identifier: MIT */
/* kernel: what is the kernel like, on which we and all processes run? */
#ifndef INJECTOR_KERNEL_H
#define INJECTOR_KERNEL_H

#include <stdint.h>

/*
 * Bytes of a page: the least that is mapped, and of which pagemap tells. 4 KiB, and on arm64
 * also 16 or 64 KiB: a multiple of PAGE (payload/page.h), of which our own layouts are made.
 */
uint64_t kernel_page(void);

#endif
