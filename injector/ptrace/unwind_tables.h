/* SPDX-License-Identifier: MIT */
/* unwind_tables: which table says how to unwind from an address? Shared by unwind*.c only. */
#ifndef INJECTOR_UNWIND_TABLES_H
#define INJECTOR_UNWIND_TABLES_H

#include "injector/proc/layout.h"

/* The sorted table in an image's .eh_frame_hdr. */
struct unwind_table {
	raddr_t header;		/* its numbers count from here */
	raddr_t at;
	uint64_t entries;
};

/*
 * By the headers of the image as they stand in memory, of which nothing is believed that
 * the layout does not bear out. `read` is all or false. False: there is none that
 * could be used.
 */
bool unwind_table_find(const struct layout *, raddr_t image,
		       bool (*read)(raddr_t, void *buf, size_t n), struct unwind_table *ret);

#endif
