/* SPDX-License-Identifier: MIT */
/*
 * pagemap: where are the pages of a process? (Documentation/admin-guide/mm/pagemap.rst)
 */
#ifndef INJECTOR_PAGEMAP_H
#define INJECTOR_PAGEMAP_H

#include <sys/types.h>

#include "base/base.h"

enum pagemap_place {
	PAGEMAP_NOWHERE,	/* nothing was put into it, or it would be read from its file */
	PAGEMAP_THERE,
	PAGEMAP_SWAPPED,
};

/* A process's pagemap; -1: it cannot be read. */
int pagemap_open(pid_t pid);
/* Entries of `n` pages of the kernel, from the one at `at` on. */
bool pagemap_read(int pagemap, raddr_t at, size_t n, uint64_t *ret);
enum pagemap_place pagemap_place(uint64_t entry);
/* Of a private mapping: a page that is there, or swapped out, and is not the file's. */
bool pagemap_is_copy(uint64_t entry);

#endif
