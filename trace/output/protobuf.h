/* SPDX-License-Identifier: MIT */
/* protobuf: messages of protocol buffers, field by field. */
#ifndef TRACE_PROTOBUF_H
#define TRACE_PROTOBUF_H

#include "trace/output/output.h"

/* A message that is being made. Zeroed, it is empty. */
struct message {
	unsigned char *bytes;	/* owned */
	size_t n, cap;
	bool broken;		/* memory ran out */
};

void message_clear(struct message *);	/* keeps its memory */
void message_free(struct message *);
void message_number(struct message *, uint32_t field, uint64_t value);
void message_text(struct message *, uint32_t field, const char *text);
/* A message within the message. */
void message_add(struct message *, uint32_t field, const struct message *);
/* Many numbers of one field. */
void message_numbers(struct message *, uint32_t field, const uint64_t *v, size_t n);
/* `m` as a field of the message that the output is. 0 or -ENOMEM. */
int message_write(const struct message *, uint32_t field, struct output *);

#endif
