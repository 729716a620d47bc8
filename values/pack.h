/* SPDX-License-Identifier: MIT */
/*
 * pack: a signature and its read plan as a string of bytes, as they stand in a recording.
 *
 * All fields one behind the other, in the order of the headers: numbers as ULEB128 or SLEB128
 * (DWARF 5, 7.6), texts with their length before them. What another version has written is
 * refused.
 */
#ifndef VALUES_PACK_H
#define VALUES_PACK_H

#include "values/reads.h"
#include "values/signature.h"

#define PACK_VERSION 1

struct packed {
	uint8_t *v;		/* owned */
	size_t n, cap;
};

/* 0 or -ENOMEM. *ret begins all zero; the caller frees `v`. */
int values_pack(const struct signature *, const struct read_plan *, struct packed *ret);
/* The plan is one that reads_check finds good, and of the signature every list is within its
 * bounds. 0, -EBADMSG or -ENOMEM. The caller clears *ret if it is 0. */
int values_unpack(const uint8_t *bytes, size_t n, struct signature *ret, struct read_plan *plan);

#endif
