/* SPDX-License-Identifier: MIT */
/* member: where is a member within its structure, and which number has an enumerator? */
#include <dwarf.h>

#include "symbols/elf/debuginfo.h"
#include "symbols/types/build.h"

int64_t enumerator_as(const struct type *t, int64_t value)
{
	unsigned int shift = 64 - 8 * (unsigned int)t->size;

	return t->flags & TYPE_SIGNED ? (int64_t)((uint64_t)value << shift) >> shift :
		(int64_t)((uint64_t)value << shift >> shift);
}

/* Bytes from the structure's begin: a constant, or as DWARF 2 has it. */
static bool member_offset(Dwarf_Die *die, uint64_t *ret)
{
	Dwarf_Attribute a;
	Dwarf_Word value;
	Dwarf_Op *ops;
	size_t n;

	*ret = 0;
	if (!dwarf_attr(die, DW_AT_data_member_location, &a))
		return true;
	if (dwarf_formudata(&a, &value) == 0) {
		*ret = value;
		return true;
	}
	if (dwarf_getlocation(&a, &ops, &n) || n != 1 || ops[0].atom != DW_OP_plus_uconst)
		return false;
	*ret = ops[0].number;
	return true;
}

/* A field's bits: DWARF 4, or from the other end of what holds it, as before. */
static bool bit_field(Dwarf_Die *die, const struct type *of, struct member *m)
{
	uint64_t bits, from, storage = of->size;

	if (!die_number(die, DW_AT_bit_size, &bits))
		return true;
	if (!bits || bits > 128)
		return false;
	m->bits = (uint8_t)bits;
	if (die_number(die, DW_AT_data_bit_offset, &from)) {
		if (from / 8 > UINT32_MAX)
			return false;
		m->at = (uint32_t)(from / 8);
		m->bit = from % 8;
		return true;
	}
	if (!die_number(die, DW_AT_bit_offset, &from))
		return true;
	die_number(die, DW_AT_byte_size, &storage);
	/* Below 0: in a packed structure it goes on behind what holds it. */
	int64_t low = 8 * (int64_t)storage - (int64_t)from - (int64_t)bits;

	if (storage > 16 || (int64_t)from < -64 || (int64_t)from > 128 || low < 0)
		return false;
	m->at += (uint32_t)(low / 8);
	m->bit = low % 8;
	return true;
}

bool build_member(struct building *b, Dwarf_Die *die, const struct type *t, struct member *m)
{
	uint64_t at;

	if (!member_offset(die, &at) || at > t->size)
		return false;
	m->at = (uint32_t)at;
	const struct type *of = signature_type_at(b->s, m->type);

	if (!bit_field(die, of, m) || at > UINT32_MAX)
		return false;
	uint64_t size = m->bits ? (m->bit + m->bits + 7u) / 8 : of->size;

	if (size > t->size || m->at > t->size - size)
		return false;
	m->name = signature_text(b->s, debuginfo_name(die));
	return true;
}
