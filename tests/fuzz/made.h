/* SPDX-License-Identifier: MIT */
/* made: an ELF file of functions made of random instructions. */
#ifndef TESTS_FUZZ_MADE_H
#define TESTS_FUZZ_MADE_H

/* A descriptor of the file, the caller's; or -errno. world_seed() decides what
 * is in it. */
int made_module(void);

#endif
