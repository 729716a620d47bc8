/* SPDX-License-Identifier: MIT */
/* number: a value of a call as a number, for what calculates with it. */
#ifndef VALUES_NUMBER_H
#define VALUES_NUMBER_H

#include "values/pick.h"
#include "values/print.h"

struct number {
	bool real;		/* it is `d`, else `i` */
	bool is_unsigned;	/* `i` has its bits, which may be beyond what a signed one holds */
	__int128 i;
	double d;
};

/* Is a value of that type a number? No enumeration is, nor a character, bool or pointer. */
bool number_is(const struct type *);
/* False: it is not there, or no number. */
bool number_take(const struct capture *, const struct pick *, struct number *ret);
/* The integer of a scalar's bytes; with its sign, if it has one. Of unsigned ones of 16 bytes it
 * has the bits. */
__int128 number_of(const struct type *, const uint8_t bytes[SCALAR_MAX]);
/* The bytes of a bit field that lies there, as its type has them. */
enum held take_bit_field(const struct capture *, const struct member *, struct spot,
			 uint8_t ret[SCALAR_MAX]);
/* Those of another scalar; HELD_NOT: it is none. */
enum held take_scalar(const struct capture *, const struct type *, struct spot,
		      uint8_t ret[SCALAR_MAX]);

#endif
