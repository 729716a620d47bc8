/* SPDX-License-Identifier: MIT */
/*
 * keepsake: a session in a file, which survives the process that records into it.
 *
 * A file that the target maps is a danger to it: where a page cannot be had, or is
 * not there any more, it gets a SIGBUS. So only file systems are taken that keep the
 * room which was taken at the start, and only a directory to which no other user can
 * write.
 */
#ifndef INJECTOR_KEEPSAKE_H
#define INJECTOR_KEEPSAKE_H

#include "injector/session/segment.h"
#include "payload/abi.h"

/* Make the file in a directory, which is made, too, if it is not there. */
int keepsake_make(const char *dir, int *ret);
/* Take back what keepsake_make has made. */
void keepsake_drop(const char *dir);
/* Is there one? */
bool keepsake_is_in(const char *dir);
/* Read one: the caller closes the segment's fd. */
int keepsake_open(const char *dir, struct segment *ret, struct session *head);

#endif
