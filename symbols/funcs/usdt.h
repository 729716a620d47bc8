/* SPDX-License-Identifier: MIT */
/*
 * usdt: where has a file places that its makers meant for tracers (USDT, sys/sdt.h)?
 *
 * The compiler leaves a nop at each, and the section .note.stapsdt a note: where it is, what it is
 * called, where its arguments are there, and which counter says that it is looked at.
 */
#ifndef SYMBOLS_USDT_H
#define SYMBOLS_USDT_H

#include "base/base.h"

struct usdt_site {
	raddr_t pc;		/* link-time */
	raddr_t semaphore;	/* of a counter of two bytes, in data; 0: it has none */
	const char *name;	/* PROVIDER:NAME, without control characters */
	const char *args;	/* as the note has them: see values/usdt_args.h */
};

/* In the order of the notes. */
struct usdt_sites {
	struct usdt_site *v;
	size_t n;
};

/* Read the file behind `fd`. What makes no sense in it is left out, and a file without notes has
 * no sites. 0, -ENOMEM, or -errno as symbols_open. */
int usdt_read(int fd, const char *path, const struct usdt_sites **ret);
void usdt_free(const struct usdt_sites *);	/* NULL is legal */

#endif
