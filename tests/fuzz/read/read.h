/* SPDX-License-Identifier: MIT */
/*
 * read: do the readers of strangers' bytes survive whatever these are?
 *
 * Each of elf.c, rings.c and archive.c is one reader, fed with an input that drive.c
 * makes (always the same ones, in `make check`) or libFuzzer (`make fuzz-read`). What
 * a result promises is checked; a promise that is broken ends the process.
 */
#ifndef TESTS_FUZZ_READ_READ_H
#define TESTS_FUZZ_READ_READ_H

#include <stdlib.h>
#include <string.h>

#include "base/base.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* An input that is a list of things to do is taken from its begin; behind its end
 * there are zeros. */
struct input {
	const uint8_t *at;
	size_t left;
};

static inline uint64_t input_number(struct input *in, size_t bytes)
{
	size_t n = MIN(bytes, in->left);
	uint64_t v = 0;

	memcpy(&v, in->at, n);
	in->at += n;
	in->left -= n;
	return v;
}

#endif
