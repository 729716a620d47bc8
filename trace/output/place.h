/* SPDX-License-Identifier: MIT */
/*
 * place: where does a trace directory stand, and what becomes of an older one?
 *
 * It is kept as NAME.old; the one that has this name is removed. Nothing but trace
 * directories is replaced: whatever else has one of the two names is refused.
 */
#ifndef TRACE_PLACE_H
#define TRACE_PLACE_H

#include <dirent.h>

#include "base/base.h"

/* The n-th of several, from 1: the first has the name itself, the others NAME.2 and so
 * on. To be freed; NULL if memory is out. */
char *place_nth(const char *path, unsigned int n);
/* Could place_make do it? Changes nothing. 0 or -errno with a message. */
int place_check(const char *path);
/* Would it leave alone the directory that is open as `dir`? 0 or -errno with a message. */
int place_spares(const char *path, int dir);
/* Make the directory and open it. */
int place_make(const char *path, int *ret);
/* Metadata are written under this name, then renamed. Readers of CTF pass over names that
 * begin with a dot, so that a kill in between leaves them a trace to read. */
#define PLACE_METADATA_NEW ".metadata.new"
/* Is this file of a trace directory ours, by its name? */
bool place_is_stream(const char *name);
/* The next name but . and .. ; NULL at the end, with errno 0, or where it cannot be
 * read: to take that for the end would be to overlook what there is. */
const char *place_next(DIR *);

#endif
