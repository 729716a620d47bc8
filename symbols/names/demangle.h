/* SPDX-License-Identifier: MIT */
/*
 * demangle: what does a person call this symbol?
 */
#ifndef SYMBOLS_DEMANGLE_H
#define SYMBOLS_DEMANGLE_H

#include "base/base.h"

/* Strings that live as long as their owner, in large blocks. */
struct strings {
	struct string_block *blocks;
};

/* A copy, or NULL. Control characters are replaced. */
const char *strings_add(struct strings *, const char *text, size_t n);
void strings_clear(struct strings *);

struct names {
	const char *name, *full, *raw;
};

/*
 * The names of a symbol. `raw` must live as long as the result; what is not
 * mangled, or mangled so that its name would be enormous, is its own name and
 * full name. 0 or -ENOMEM.
 */
int demangle(struct strings *, const char *raw, struct names *ret);

/* How many parameters a function of C++ has in the source, by its symbol, with `...` as one; -1:
 * that does not tell. */
int demangle_params(const char *raw);
/* Length of a name without what a compiler appends to clones of a function
 * (.isra.0, .constprop.1, .part.2, .cold, .warm, .llvm.123, .lto_priv.0). */
size_t demangle_stem(const char *name);
/* Length of a demangled or raw Rust name without its hash; that of the whole
 * name if it has none. */
size_t demangle_unhashed(const char *name);

#endif
