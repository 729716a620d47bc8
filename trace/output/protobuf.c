/* SPDX-License-Identifier: MIT */
/* protobuf: messages of protocol buffers, field by field. */
#include "trace/output/protobuf.h"

#include <errno.h>
#include <string.h>

enum {
	VARINT = 0, BYTES = 2,	/* wire types */
	VARINT_MOST = 10,	/* bytes of a number */
};

static unsigned char *put_varint(unsigned char *p, uint64_t value)
{
	while (value > 127) {
		*p++ = (unsigned char)(value | 128);
		value >>= 7;
	}
	*p++ = (unsigned char)value;
	return p;
}

static unsigned char *protobuf_room(struct message *m, size_t n)
{
	if (m->cap - m->n < n) {
		size_t cap = MAX(m->cap * 2, m->n + n + 256);
		unsigned char *bytes = realloc(m->bytes, cap);

		if (!bytes) {
			m->broken = true;
			return NULL;
		}
		m->bytes = bytes;
		m->cap = cap;
	}
	return m->bytes + m->n;
}

void message_clear(struct message *m)
{
	m->n = 0;
}

void message_free(struct message *m)
{
	free(m->bytes);
	*m = (struct message){ 0 };
}

void message_number(struct message *m, uint32_t field, uint64_t value)
{
	unsigned char *p = protobuf_room(m, 2 * VARINT_MOST);

	if (p)
		m->n = (size_t)(put_varint(put_varint(p, (uint64_t)field << 3 | VARINT), value) -
				m->bytes);
}

static void add_bytes(struct message *m, uint32_t field, const void *bytes, size_t n)
{
	unsigned char *p = protobuf_room(m, 2 * VARINT_MOST + n);

	if (!p)
		return;
	p = put_varint(put_varint(p, (uint64_t)field << 3 | BYTES), n);
	if (n)
		memcpy(p, bytes, n);
	m->n = (size_t)(p + n - m->bytes);
}

void message_text(struct message *m, uint32_t field, const char *text)
{
	add_bytes(m, field, text, strlen(text));
}

void message_add(struct message *m, uint32_t field, const struct message *inner)
{
	m->broken |= inner->broken;
	add_bytes(m, field, inner->bytes, inner->n);
}

void message_numbers(struct message *m, uint32_t field, const uint64_t *v, size_t n)
{
	struct message packed = { 0 };
	unsigned char *p = protobuf_room(&packed, n * VARINT_MOST);

	for (size_t i = 0; p && i < n; i++)
		p = put_varint(p, v[i]);
	packed.n = p ? (size_t)(p - packed.bytes) : 0;
	message_add(m, field, &packed);
	message_free(&packed);
}

int message_write(const struct message *m, uint32_t field, struct output *out)
{
	char *start = output_room(out, 2 * VARINT_MOST);
	unsigned char *p = (unsigned char *)start;

	if (m->broken || !start)
		return fail(ENOMEM, "write the results");
	p = put_varint(put_varint(p, (uint64_t)field << 3 | BYTES), m->n);
	output_take(out, (size_t)((char *)p - start));
	output_text(out, (const char *)m->bytes, m->n);
	return 0;
}
