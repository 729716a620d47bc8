/* SPDX-License-Identifier: MIT */
/*
 * squeeze: how is a packet compressed, so that others can undo it?
 *
 * A packet is a frame of zstd by itself, and before it stands what zstd passes over:
 * a copy of its head, and how long the frame is. So a reader that looks for packets need not
 * decompress, a damaged one costs no other, and `zstd -d` makes the stream that would have been
 * written without compression.
 */
#ifndef TRACE_SQUEEZE_H
#define TRACE_SQUEEZE_H

#include "trace/format/layout.h"

struct squeezer;	/* what it takes to do so, either way */

int squeezer_new(struct squeezer **ret);
void squeezer_free(struct squeezer *);	/* NULL is legal */

/* head and words[n] as they are to stand in the file; *ret is valid until the next
 * call. 0, or -errno with a message. */
int squeeze_packet(struct squeezer *, const struct packet *head, const uint64_t *words, size_t n,
		   const void **ret, size_t *size);
/* The packet of a frame, into packet[PACKET_BYTES / 8]: its bytes, or -EBADMSG if it
 * is none, without a message. */
ssize_t unsqueeze_packet(struct squeezer *, const void *frame, size_t size, uint64_t *packet);

#endif
