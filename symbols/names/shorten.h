/* SPDX-License-Identifier: MIT */
/*
 * shorten: what is left of a name without the arguments of its templates?
 *
 *	std::vector<int, std::allocator<int> >::push_back	std::vector<>::push_back
 *	<alloc::vec::Vec<T> as core::ops::Drop>::drop	<alloc::vec::Vec<> as core::ops::Drop>::drop
 *
 * By its spelling (spelling.h), so that std::string is called that.
 */
#ifndef SYMBOLS_SHORTEN_H
#define SYMBOLS_SHORTEN_H

#include "symbols/names/demangle.h"

/* With `kept` levels of arguments: 0 for none. What has no < stays as it is. False if it is
 * longer than `size`, or nested too deeply. */
bool shorten(const char *name, unsigned int kept, char *ret, size_t size);
/* The same with inline namespaces, as std::__cxx11::string. */
bool shorten_scoped(const char *name, unsigned int kept, char *ret, size_t size);

/*
 * Replace each of the names by its short one, which `made` owns. Names that differ still do:
 * where several become equal, each keeps inline namespaces, or else its arguments, but not
 * theirs; where these are equal, too, a level more, and so on. 0 or -ENOMEM.
 */
int shorten_all(const char **names, size_t n, struct strings *made);

#endif
