/* SPDX-License-Identifier: MIT */
/*
 * hand: a signature that is written by hand.
 *
 *	FUNCTION(NAME:TYPE, ..., ret:TYPE)
 *
 * NAME is the next parameter, or the N-th if it is "argN"; the result if it is "ret". "..." says
 * that there may be more. Types:
 *
 *	i8 i16 i32 i64 i128	signed, u8 ... unsigned, x8 ... hexadecimal, o8 ... octal
 *	int uint long ulong	i32 u32 i64 u64
 *	bool char f32 f64 f80	(f80: long double)
 *	ptr			an address
 *	str str(LENGTH)		text up to its NUL, or LENGTH
 *	buf(LENGTH)		bytes
 *	list(LENGTH, TYPE)	so many values, one behind the other
 *	ptr{NAME@OFFSET:TYPE, ...}	an address of a structure with these members, bytes from its
 *				begin; a single one may have no name
 *	addr{...}		the same, shown with the address in front of it
 *	chars(N)		of a member: N bytes of text within the structure
 *	outstr out(LENGTH)	the same, as they are when the function has returned
 *	void			of a result
 *
 * LENGTH is a number, a parameter's name, "ret", or *NAME: of 8 bytes where a parameter points
 * to, *NAME/4 of four. A result below 0 is no length. Within a list or a structure a TYPE is one
 * that needs no length, and is as the function begins.
 */
#ifndef VALUES_HAND_H
#define VALUES_HAND_H

#include "values/signature.h"

struct hand_error {
	size_t column;		/* in the text, from 0 */
	const char *what;
};

/* The name of the function: its length, of the text's begin. Its places are settled. 0,
 * -EINVAL with *error, or -ENOMEM. The caller clears *ret if it is 0. */
int hand_parse(const char *text, uint16_t machine, struct signature *ret, size_t *name,
	       struct hand_error *error);

#endif
