/* SPDX-License-Identifier: MIT */
/*
 * spelling: one C++ name can be written in several ways: which one is to be compared?
 *
 * Demanglers write what the standard library's types are made of, and people what they
 * are called.
 */
#ifndef SYMBOLS_SPELLING_H
#define SYMBOLS_SPELLING_H

#include "base/base.h"

/*
 * The name, or a pattern over names, as it is compared: std::string for what it stands
 * for (and likewise wstring, string_view, ostream and all others that are called basic_x),
 * without default arguments of std's templates, inline namespaces, [abi:...] and spaces
 * that separate nothing, and with const behind what it is about. False if it is longer
 * than `size`, or nested too deeply.
 */
bool spelling_make(const char *name, char *ret, size_t size);
/* The same with inline namespaces. */
bool spelling_make_scoped(const char *name, char *ret, size_t size);
/* Is there anything in it that people write otherwise? */
bool spelling_matters(const char *pattern);

/* What a name of C++ consists of. */

bool spelling_in_word(char);
/* Behind the word `operator`: the end of its symbol, `p` itself if it is none (`operator
 * int`). */
const char *spelling_operator(const char *p);

#endif
