/* SPDX-License-Identifier: MIT */
/*
 * lineplaces: where does the code of this line of a source file begin?
 *
 * The line table of the debug information says it. A line has several places: each copy of a
 * function that was inlined has it, and so has each way to come to it again, as to the head of a
 * loop.
 */
#ifndef SYMBOLS_LINEPLACES_H
#define SYMBOLS_LINEPLACES_H

#include "symbols/symbols.h"

enum { LINEPLACES_FILES = 8 };	/* names that are kept */

struct lineplaces {
	raddr_t *v;		/* sorted, unique */
	size_t n, cap;
	char *files[LINEPLACES_FILES];	/* that end so and have code of the line, by their whole
					 * names; owned */
	size_t nfiles;		/* all of them */
	bool has_file;		/* there is one that ends so */
	uint64_t next;		/* the first line behind that has code; 0: none has */
	uint64_t too_large;	/* bytes of debug information, more than are read; 0 */
};

/* Add those of a file of code, of which `fd` is open. `file` is the end of a source file's name, by
 * whole components. 0, also if there is no debug information, or -ENOMEM. */
int lineplaces_find(const struct symbols *, int fd, const char *file, uint64_t line,
		    struct lineplaces *);
void lineplaces_clear(struct lineplaces *);

#endif
