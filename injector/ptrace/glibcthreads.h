/* SPDX-License-Identifier: MIT */
/*
 * glibcthreads: what does glibc keep of a thread, and leaves alone?
 *
 * In the head of its control block there are 512 bytes that the loader used before
 * version 2.23. They stay because programs built with AddressSanitizer depend on the
 * size of that head (tcbhead_t). They are zero in a new block; one that is used again has
 * what the thread before has left there.
 */
#ifndef INJECTOR_GLIBCTHREADS_H
#define INJECTOR_GLIBCTHREADS_H

enum {
	/* Of these, behind the thread pointer. */
	GLIBC_ROOM_AT = 0x240, GLIBC_ROOM = 32,
};

#endif
