/* SPDX-License-Identifier: MIT */
#include "symbols/cursor.h"

void cursor_skip(struct cursor *c, uint64_t n)
{
	if (n > cursor_left(c)) {
		c->bad = true;
		n = cursor_left(c);
	}
	c->p += n;
	c->addr += n;
}

uint64_t cursor_uint(struct cursor *c, size_t size)
{
	uint64_t value = 0;

	if (size > cursor_left(c)) {
		cursor_skip(c, size);
		return 0;
	}
	for (size_t i = 0; i < size; i++)
		value |= (uint64_t)c->p[i] << (8 * i);
	cursor_skip(c, size);
	return value;
}

/* Seven bits a byte; *bits is how many there were. No number needs more than
 * ten bytes, and a hostile one could go on for the whole file. */
static uint64_t leb(struct cursor *c, unsigned int *bits, bool *negative)
{
	uint64_t value = 0, byte;

	*bits = 0;
	do {
		byte = cursor_uint(c, 1);
		if (*bits < 64)
			value |= (byte & 0x7f) << *bits;
		*bits += 7;
	} while (byte & 0x80 && *bits < 70);
	if (byte & 0x80)
		c->bad = true;
	*negative = byte & 0x40;
	return value;
}

uint64_t cursor_uleb(struct cursor *c)
{
	unsigned int bits;
	bool negative;

	return leb(c, &bits, &negative);
}

int64_t cursor_sleb(struct cursor *c)
{
	unsigned int bits;
	bool negative;
	uint64_t value = leb(c, &bits, &negative);

	if (negative && bits < 64)
		value |= UINT64_MAX << bits;
	return (int64_t)value;
}

struct cursor cursor_take(struct cursor *c, uint64_t n)
{
	struct cursor part = { .p = c->p, .addr = c->addr };

	cursor_skip(c, n);
	part.end = c->p;
	part.bad = c->bad;
	return part;
}

static uint64_t stored_value(struct cursor *c, uint8_t format)
{
	switch (format) {
	case PE_ABS:
	case PE_U8:
	case PE_S8:
		return cursor_uint(c, 8);
	case PE_ULEB:
		return cursor_uleb(c);
	case PE_SLEB:
		return cursor_sleb(c);
	case PE_U2:
		return cursor_uint(c, 2);
	case PE_U4:
		return cursor_uint(c, 4);
	case PE_S2:
		return (int64_t)(int16_t)cursor_uint(c, 2);
	case PE_S4:
		return (int64_t)(int32_t)cursor_uint(c, 4);
	}
	c->bad = true;
	return 0;
}

raddr_t cursor_pointer(struct cursor *c, uint8_t encoding,
		       const struct pointer_bases *bases)
{
	uint8_t relative_to = encoding & 0x70;
	raddr_t base = 0;

	if (encoding == PE_OMIT)
		return 0;
	if (relative_to == PE_ALIGNED) {
		cursor_skip(c, -c->addr & 7);
		return cursor_uint(c, 8);
	}
	if (relative_to == PE_PCREL)
		base = c->addr;
	else if (relative_to == PE_TEXTREL)
		base = bases->text;
	else if (relative_to == PE_DATAREL)
		base = bases->data;
	else if (relative_to == PE_FUNCREL)
		base = bases->func;
	else if (relative_to)
		c->bad = true;

	uint64_t value = stored_value(c, encoding & 0x0f);

	return value ? base + value : 0;
}
