/* SPDX-License-Identifier: MIT */
/*
 * read: do the readers of strangers' bytes survive whatever these are?
 *
 * Each of elf.c, debug.c, split.c, rings.c, archive.c and session_file.c is one reader, fed with
 * an input that drive.c makes (always the same ones, in `make check`) or libFuzzer
 * (`make fuzz-read`). What a result promises is checked; a promise that is broken ends the process.
 */
#ifndef TESTS_FUZZ_READ_READ_H
#define TESTS_FUZZ_READ_READ_H

#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "payload/abi.h"

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

/* One of which some only make sense beside the ticks that it is now. */
static inline uint64_t input_value(struct input *in, uint64_t now)
{
	uint8_t how = (uint8_t)input_number(in, 1);

	switch (how % 8) {
	case 0: return input_number(in, 8);
	case 1: return now + input_number(in, 3);
	case 2: return (now >> REC_TIME_BITS << REC_TIME_BITS) +
			(input_number(in, 1) << REC_TIME_BITS);
	case 3: return 1ull << (how >> 3 & 63);
	case 4: return UINT64_MAX - (how >> 3);
	default: return how >> 3;
	}
}

#endif
