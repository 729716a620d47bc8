/* SPDX-License-Identifier: MIT */
/*
 * known: the signatures of well-known functions, in the language of hand.h, for libraries that
 * are installed without debug information.
 */
#ifndef VALUES_KNOWN_H
#define VALUES_KNOWN_H

#include "values/signature.h"

/* One line each; NULL ends them. */
extern const char *const known_libc[], *const known_pthread[];
extern const char *const known_ssl[], *const known_zlib[], *const known_databases[];
/* Places for tracers, by PROVIDER:NAME: see usdt_signature.h. */
extern const char *const known_usdt[];

/* The function of that symbol in a library whose file (or soname) is called so. 0, -ENOENT, or
 * -ENOMEM. The caller clears *ret if it is 0. */
int known_find(const char *library, const char *symbol, uint16_t machine, struct signature *ret);
/* A signature by debug information does not say what is behind pointers, and when: take that of
 * the table, if it has the function, with as many parameters. */
void known_refine(const char *library, const char *symbol, struct signature *);
/* Is each line of the table right? For tests: the first that is not, or NULL. */
const char *known_wrong(uint16_t machine);
size_t known_count(void);

#endif
