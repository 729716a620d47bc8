/* SPDX-License-Identifier: MIT */
#include "symbols/elf/cursor.h"

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

/* Seven bits a byte. No number needs more than ten bytes, and a hostile one
 * could go on for the whole file. */
uint64_t cursor_uleb(struct cursor *c)
{
	uint64_t value = 0, byte;
	unsigned int bits = 0;

	do {
		byte = cursor_uint(c, 1);
		if (bits < 64)
			value |= (byte & 0x7f) << bits;
		bits += 7;
	} while (byte & 0x80 && bits < 70);
	if (byte & 0x80)
		c->bad = true;
	return value;
}

int64_t cursor_sleb(struct cursor *c)
{
	const uint8_t *from = c->p;
	uint64_t value = cursor_uleb(c);
	size_t bits = 7 * (size_t)(c->p - from);

	if (bits && bits < 64 && c->p[-1] & 0x40)
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
	case DW_EH_PE_absptr:
	case DW_EH_PE_udata8:
	case DW_EH_PE_sdata8:
		return cursor_uint(c, 8);
	case DW_EH_PE_uleb128:
		return cursor_uleb(c);
	case DW_EH_PE_udata2:
		return cursor_uint(c, 2);
	case DW_EH_PE_udata4:
		return cursor_uint(c, 4);
	case DW_EH_PE_sdata2:
		return (int64_t)(int16_t)cursor_uint(c, 2);
	case DW_EH_PE_sdata4:
		return (int64_t)(int32_t)cursor_uint(c, 4);
	}
	c->bad = true;
	return 0;
}

raddr_t cursor_pointer(struct cursor *c, uint8_t encoding)
{
	raddr_t base = encoding & DW_EH_PE_pcrel ? c->addr : 0;
	uint64_t value;

	if (encoding == DW_EH_PE_omit)
		return 0;
	if (encoding & ~(0x0f | DW_EH_PE_pcrel))
		c->bad = true;
	value = stored_value(c, encoding & 0x0f);
	return value ? base + value : 0;
}
