/* SPDX-License-Identifier: MIT */
/*
 * usdt_signature: the arguments of a place for tracers (USDT), as a signature.
 *
 * A note says of each argument where it is, how many bytes it has and whether it is signed, and
 * nothing of what it means: a pointer to text is a number. That is told by hand (hand.h), or by a
 * table of well-known places (known_usdt.c).
 */
#ifndef VALUES_USDT_SIGNATURE_H
#define VALUES_USDT_SIGNATURE_H

#include "values/usdt_args.h"
#include "values/signature.h"

/* Where the file's symbols are in the process. */
struct usdt_symbols {
	bool (*find)(void *ctx, const char *symbol, uint64_t *ret);
	void *ctx;
};

/*
 * Give all parameters of *s the places that the note's arguments have, and those that it has no
 * type for the types that the note tells. An argument that is in no form that is known has no known
 * place; so has a parameter for which there is no argument. There is no result.
 */
void usdt_settle(struct signature *s, const char *args, const struct usdt_symbols *);
/* As it is known, by its name of PROVIDER:NAME; 0, -ENOENT, or -ENOMEM. */
int usdt_known(const char *name, uint16_t machine, struct signature *ret);

#endif
