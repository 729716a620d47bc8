/* SPDX-License-Identifier: MIT */
/*
 * text: how is a call with its values printed?
 *
 *	net_read(fd=7, buf="GET / HT"..., len=4096) = 512
 *
 * Text is what snprintf would have left: as much as has room, its NUL, and the length of all.
 */
#ifndef VALUES_TEXT_H
#define VALUES_TEXT_H

#include "values/pick.h"

/* "fd=7, buf=..."; contents that are there at the exit only are shown if the exit is. */
size_t values_args(const struct capture *, char *buf, size_t size);
/* The value of one parameter; "" if it is hidden, or none. */
size_t values_arg(const struct capture *, size_t i, char *buf, size_t size);
/* The value that was picked: also if it cannot be said. */
size_t values_picked(const struct capture *, const struct pick *, char *buf, size_t size);
/* The value of a type that lies there. */
size_t values_at(const struct capture *, uint32_t type, struct spot, char *buf, size_t size);
/* "512"; "" of a function that returns nothing. */
size_t values_result(const struct capture *, char *buf, size_t size);
/* The whole call; without a result before its exit. */
size_t values_call(const struct capture *, const char *name, char *buf, size_t size);
/* "int net_read(int fd, char *buf, size_t len)", without values. */
size_t values_declaration(const struct signature *, const char *name, char *buf, size_t size);
/* "path: text, buf: 64 bytes at the return": what is read of memory. */
size_t values_read(const struct signature *, const struct read_plan *, char *buf, size_t size);

#endif
