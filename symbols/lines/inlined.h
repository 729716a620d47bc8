/* SPDX-License-Identifier: MIT */
/*
 * inlined: which functions does the debug information name that have no code of their own?
 */
#ifndef SYMBOLS_INLINED_H
#define SYMBOLS_INLINED_H

#include "symbols/symbols.h"

enum { INLINED_PLACES = 3 };	/* that are kept */

/* Where one was inlined: in a function that has code. */
struct inlined_place {
	char *into;
	char *file;		/* its last component, and line, of the call; NULL: not known */
	uint64_t line;
};

/* One of its copies. */
struct inlined_copy {
	raddr_t pc;		/* where it begins */
	uint64_t die;		/* its entry's offset in the debug information */
	struct range *ranges;	/* of its code, as the debug information has them */
	size_t nranges, ranges_cap;
};

struct inlined {
	char *name;		/* demangled, without parameters */
	struct inlined_place places[INLINED_PLACES];	/* of different functions */
	size_t nplaces;		/* all of them */
	bool has_code;		/* it was compiled on its own, too */
	char **into;		/* their names, to count each once */
	size_t ninto, into_cap;
	struct inlined_copy *copies;	/* if they are asked for */
	size_t ncopies, copies_cap;
};

struct inlined_list {
	uint64_t deadline;	/* CLOCK_MONOTONIC, ns; set by the caller: the search ends then */
	size_t most;		/* set by the caller: 0, or copies are asked for, of so many
				 * functions, also of those that have code of their own */
	struct inlined *v;
	size_t n, cap;
	bool cut;		/* not all was searched: the deadline came, or there are too many;
				 * or */
	uint64_t too_large;	/* bytes of debug information, more than are read; 0 */
	char *missing;		/* a file of split debug information that is not found; NULL */
};

/*
 * Add the functions of a file that the pattern matches, by their qualified or their plain
 * names, and that were inlined somewhere. Debug information is that of the file, or of its
 * debug file on this machine; `fd` is the file. 0, also if there is none, or -ENOMEM.
 */
int inlined_find(const struct symbols *, int fd, const struct pattern *, struct inlined_list *);
void inlined_clear(struct inlined_list *);

#endif
