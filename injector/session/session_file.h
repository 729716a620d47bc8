/* SPDX-License-Identifier: MIT */
/*
 * session_file: a session in a file, which survives the process that records into it.
 *
 * A file that the target maps is a danger to it: where a page cannot be had, or is
 * not there any more, it gets a SIGBUS. So only file systems are taken that keep the
 * room which was taken at the start, and only a directory to which no other user can
 * write.
 */
#ifndef INJECTOR_SESSION_FILE_H
#define INJECTOR_SESSION_FILE_H

#include "injector/session/segment.h"
#include "payload/abi.h"

/* Make the file in a directory, which is made, too, if it is not there. */
int session_file_make(const char *dir, int *ret);
/* Take back what session_file_make has made. */
void session_file_drop(const char *dir);
/* Is there one? */
bool session_file_is_in(const char *dir);
/* Read one: the caller closes the segment's fd. */
int session_file_open(const char *dir, struct segment *ret, struct session *head);

#endif
