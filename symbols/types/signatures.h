/* SPDX-License-Identifier: MIT */
/*
 * signatures: which parameters and results do functions have, by the debug information of
 * their file? It is read when the first function is asked for, and of it only the units of
 * functions that are asked for.
 */
#ifndef SYMBOLS_SIGNATURES_H
#define SYMBOLS_SIGNATURES_H

#include "symbols/symbols.h"
#include "values/signature.h"

struct signatures;

/* Those of a file, of which `fd` stays open, and the symbols. 0 or -ENOMEM. */
int signatures_open(const struct symbols *, int fd, struct signatures **ret);
void signatures_close(struct signatures *);	/* NULL is legal */
/* Its places are settled. 0, -ENOENT if nothing is known of it, or -ENOMEM. The caller clears
 * *ret if it is 0. */
int signatures_get(struct signatures *, const struct func *, struct signature *ret);
/*
 * The parameters and variables that the innermost function has at `pc`, in code of this one: it may
 * be inlined there. `inlined` is not 0: the parameters of the copy of that number
 * (symbols/lines/inlined.h), which begins there. `bias` is the module's. What has no place there is
 * optimised out. The same errors.
 */
int signatures_at(struct signatures *, const struct func *, raddr_t pc, uint64_t inlined,
		  raddr_t bias, struct signature *ret);
/* The functions that are inlined at `pc`, in code of this one or of its fragment: their names, the
 * innermost first, each with its end, and an empty one; in *ret, for the caller to free. NULL:
 * there are none, or nothing is known. 0 or -ENOMEM. */
int signatures_inlined(struct signatures *, const struct func *, raddr_t pc, char **ret);
/* Bytes of debug information that was not read, for it is too large; 0. */
uint64_t signatures_too_large(const struct signatures *);
/* The file of split debug information that was looked for first of those that are not found, as the
 * module names it; NULL. */
const char *signatures_missing(const struct signatures *);

#endif
