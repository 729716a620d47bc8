/* SPDX-License-Identifier: MIT */
#include "symbols/types/location.h"

#include <dwarf.h>
#include <string.h>

#include "values/places.h"

enum { LISTED_MAX = 4096 };	/* locations of one parameter */

struct location {
	const struct numbering *n;
	Dwarf_Attribute *attribute;
	Dwarf_Op *ops;
	size_t nops, at;
	uint64_t size;
	struct place *place;
	uint64_t done;		/* bytes of the value that are told */
	bool of_now;		/* not only of what registers had at the entry */
	bool spilled;		/* in the frame there is a pointer to it */
};

enum found {
	FOUND_NOTHING,		/* an empty piece */
	FOUND_PIECE,
	FOUND_POINTER,		/* the value is where a register points to */
	FOUND_MEMORY,		/* in the frame */
	FOUND_UNKNOWN,
};

static const Dwarf_Op *peek(const struct location *l)
{
	return l->at < l->nops ? &l->ops[l->at] : NULL;
}

static bool next_is(const struct location *l, uint8_t atom)
{
	const Dwarf_Op *op = peek(l);

	return op && op->atom == atom;
}

static bool take_if(struct location *l, uint8_t atom)
{
	bool is = next_is(l, atom);

	l->at += is;
	return is;
}

/* ---- one location -------------------------------------------------------- */

static bool set_register(const struct location *l, uint64_t number, struct piece *ret)
{
	const struct numbering *n = l->n;

	if (number < n->general) {
		ret->from = FROM_GENERAL;
		ret->number = (uint8_t)number;
		return true;
	}
	if (number < n->vector || number >= n->vector + n->vectors)
		return false;
	ret->from = FROM_VECTOR;
	ret->number = (uint8_t)(number - n->vector);
	return true;
}

/* The number of a register, if the operation is one. */
static bool register_of(const Dwarf_Op *op, uint64_t *ret)
{
	if (op->atom >= DW_OP_reg0 && op->atom <= DW_OP_reg31)
		*ret = op->atom - DW_OP_reg0;
	else if (op->atom == DW_OP_regx)
		*ret = op->number;
	else
		return false;
	return true;
}

static bool based_on(const Dwarf_Op *op, uint64_t *number, int64_t *offset)
{
	if (op->atom >= DW_OP_breg0 && op->atom <= DW_OP_breg31) {
		*number = op->atom - DW_OP_breg0;
		*offset = (int64_t)op->number;
	} else if (op->atom == DW_OP_bregx) {
		*number = op->number;
		*offset = (int64_t)op->number2;
	} else {
		return false;
	}
	return true;
}

static bool literal_of(const Dwarf_Op *op, uint64_t *ret)
{
	if (op->atom >= DW_OP_lit0 && op->atom <= DW_OP_lit31) {
		*ret = op->atom - DW_OP_lit0;
		return true;
	}
	switch (op->atom) {
	case DW_OP_const1u: case DW_OP_const1s: case DW_OP_const2u: case DW_OP_const2s:
	case DW_OP_const4u: case DW_OP_const4s: case DW_OP_const8u: case DW_OP_const8s:
	case DW_OP_constu: case DW_OP_consts:
		*ret = op->number;
		return true;
	default:
		return false;
	}
}

/* What a register had at the entry: just what is asked for. */
static enum found take_entry_value(struct location *l, const Dwarf_Op *op, struct piece *ret)
{
	Dwarf_Attribute block;
	Dwarf_Op *ops;
	size_t n;
	uint64_t number;

	if (dwarf_getlocation_attr(l->attribute, op, &block) ||
	    dwarf_getlocation(&block, &ops, &n) || n != 1 || !register_of(&ops[0], &number) ||
	    !set_register(l, number, ret))
		return FOUND_UNKNOWN;
	return take_if(l, DW_OP_stack_value) ? FOUND_PIECE : FOUND_POINTER;
}

static enum found take_implicit(struct location *l, const Dwarf_Op *op, struct piece *ret)
{
	Dwarf_Block block;

	if (dwarf_getlocation_implicit_value(l->attribute, op, &block) || !block.data ||
	    block.length > sizeof(ret->literal))
		return FOUND_UNKNOWN;
	ret->from = FROM_LITERAL;
	memcpy(&ret->literal, block.data, block.length);
	return FOUND_PIECE;
}

/* To make a number narrower keeps the low bytes, which are what is read; and a bool is 0 or 1. */
static bool is_narrowing(const struct location *l, uint64_t mask)
{
	return mask == UINT8_MAX || mask == UINT16_MAX || mask == UINT32_MAX ||
		(mask == 1 && l->size == 1);
}

/*
 * clang has two members in one register so: the register, shifted to the right by whole bytes,
 * and made narrower, by a conversion, or in split units by masks.
 */
static bool take_shift(struct location *l, struct piece *ret)
{
	uint64_t value;

	while (l->at < l->nops) {
		const Dwarf_Op *op = &l->ops[l->at], *next = op + 1;

		if (op->atom == DW_OP_convert || op->atom == DW_OP_GNU_convert) {
			l->at++;
			continue;
		}
		if (!literal_of(op, &value))
			return true;
		if (l->at + 1 >= l->nops)
			return false;
		if (next->atom == DW_OP_shr && value % 8 == 0 && value <= 56 && !ret->offset)
			ret->offset = (int32_t)(value / 8);
		else if (next->atom != DW_OP_and || !is_narrowing(l, value))
			return false;
		l->at += 2;
	}
	return true;
}

/* A register and no distance: its value, or where it points to. One of the frame is neither. */
static enum found take_based(struct location *l, uint64_t number, int64_t offset,
			     struct piece *ret)
{
	bool shifted = take_shift(l, ret), value = take_if(l, DW_OP_stack_value);

	if (number == l->n->stack || number == l->n->frame) {
		l->spilled = next_is(l, DW_OP_deref);
		return value ? FOUND_UNKNOWN : FOUND_MEMORY;
	}
	if (offset || !shifted || !set_register(l, number, ret) || ret->from != FROM_GENERAL)
		return FOUND_UNKNOWN;
	return value ? FOUND_PIECE : FOUND_POINTER;
}

/* One operation, and what belongs to it. */
static enum found take_simple(struct location *l, struct piece *ret)
{
	const Dwarf_Op *op = &l->ops[l->at++];
	uint64_t number;
	int64_t offset;

	l->of_now |= op->atom != DW_OP_entry_value && op->atom != DW_OP_GNU_entry_value;
	if (register_of(op, &number))
		return set_register(l, number, ret) ? FOUND_PIECE : FOUND_UNKNOWN;
	if (based_on(op, &number, &offset))
		return take_based(l, number, offset, ret);
	if (literal_of(op, &ret->literal)) {
		ret->from = FROM_LITERAL;
		return take_if(l, DW_OP_stack_value) ? FOUND_PIECE : FOUND_UNKNOWN;
	}
	switch (op->atom) {
	case DW_OP_fbreg:
	case DW_OP_call_frame_cfa:
		l->spilled = take_if(l, DW_OP_deref);
		return FOUND_MEMORY;
	case DW_OP_entry_value:
	case DW_OP_GNU_entry_value:
		return take_entry_value(l, op, ret);
	case DW_OP_implicit_value:
		return take_implicit(l, op, ret);
	default:
		return FOUND_UNKNOWN;
	}
}

/* ---- all pieces of a value ----------------------------------------------- */

static uint64_t piece_most(const struct piece *p)
{
	return p->from == FROM_VECTOR ? 16 : 8;
}

/* Add what was found, `size` bytes of the value; false if that cannot be. */
static bool add_piece(struct location *l, enum found found, struct piece *p, uint64_t size)
{
	if (found == FOUND_NOTHING)
		return true;
	if (!size || size + (p->from == FROM_GENERAL ? (uint64_t)p->offset : 0) > piece_most(p))
		return false;
	p->at = (uint16_t)l->done;
	p->size = (uint16_t)size;
	return place_add(l->place, p);
}

static enum found whole(struct location *l, enum found found, struct piece *p)
{
	if (found == FOUND_POINTER) {
		p->size = 8;
		return place_add(l->place, p) ? FOUND_POINTER : FOUND_UNKNOWN;
	}
	return found == FOUND_PIECE && !add_piece(l, found, p, l->size) ? FOUND_UNKNOWN : found;
}

/* FOUND_PIECE: the place has pieces. */
static enum found parse(struct location *l)
{
	while (l->at < l->nops) {
		struct piece p = { 0 };
		enum found found = next_is(l, DW_OP_piece) ? FOUND_NOTHING : take_simple(l, &p);

		if (found == FOUND_MEMORY || found == FOUND_UNKNOWN)
			return found;
		if (!next_is(l, DW_OP_piece))
			return l->done || l->at < l->nops ? FOUND_UNKNOWN : whole(l, found, &p);
		uint64_t size = l->ops[l->at++].number;

		if (size > l->size - l->done || found == FOUND_POINTER ||
		    !add_piece(l, found, &p, size))
			return FOUND_UNKNOWN;
		l->done += size;
	}
	return l->place->n ? FOUND_PIECE : FOUND_NOTHING;
}

static void parse_place(struct location *l, struct place *ret)
{
	static const uint8_t kinds[] = {
		[FOUND_NOTHING] = PLACE_GONE, [FOUND_PIECE] = PLACE_PIECES,
		[FOUND_POINTER] = PLACE_POINTED, [FOUND_MEMORY] = PLACE_BY_TYPE,
		[FOUND_UNKNOWN] = PLACE_UNKNOWN,
	};

	*ret = (struct place){ 0 };
	l->place = ret;
	ret->kind = kinds[parse(l)];
	if (ret->kind != PLACE_PIECES && ret->kind != PLACE_POINTED)
		ret->n = 0;
}

/* A parameter of which a clone was made for one value. */
static void constant_place(Dwarf_Die *param, uint64_t size, struct place *ret)
{
	Dwarf_Attribute a;
	Dwarf_Sword value;

	if (!dwarf_attr(param, DW_AT_const_value, &a) || !size || size > 8 ||
	    dwarf_formsdata(&a, &value))
		return;
	ret->kind = PLACE_PIECES;
	place_add(ret, &(struct piece){ .from = FROM_LITERAL, .size = (uint16_t)size,
					  .literal = (uint64_t)value });
}

/* What a register had at the entry is true of the entry, wherever else the location is. The first
 * pointer to a value in later code is taken for want of that: rustc has none for the prologue. */
static bool is_later(const struct location *l, const struct place *found, const struct place *had)
{
	if (had->kind == PLACE_GONE &&
	    (found->kind == PLACE_POINTED || (found->kind == PLACE_BY_TYPE && l->spilled)))
		return true;
	return !l->of_now && (found->kind == PLACE_PIECES || found->kind == PLACE_POINTED);
}

/* Go has expressions as blocks, which libdw takes for lists: one of the frame is seen by its first
 * byte. */
static bool is_frame_block(Dwarf_Attribute *a)
{
	Dwarf_Block block;

	return dwarf_whatform(a) == DW_FORM_block1 && !dwarf_formblock(a, &block) &&
		block.data && block.length &&
		(block.data[0] == DW_OP_call_frame_cfa || block.data[0] == DW_OP_fbreg);
}

/*
 * Told of the whole function, that a register points to it: gcc says so of the register that the
 * prologue has moved the pointer to, and then it is not true at the entry, as no place in the frame
 * is. Where the pointer comes in itself the convention says.
 */
static bool is_set_later(const struct location *l, const struct place *p)
{
	return dwarf_whatform(l->attribute) == DW_FORM_exprloc && p->kind == PLACE_POINTED &&
		p->pieces[0].from == FROM_GENERAL;
}

static bool is_in_registers(const struct place *p)
{
	bool ret = false;

	for (size_t i = 0; i < p->n; i++)
		ret |= p->pieces[i].from != FROM_LITERAL;
	return ret && p->kind == PLACE_PIECES;
}

void location_at(Dwarf_Die *param, raddr_t entry, uint16_t machine, uint64_t size,
		 struct place *ret)
{
	const struct convention *c = convention_of(machine);
	struct location l = { .n = c ? &c->numbering : NULL, .size = size };
	Dwarf_Addr base, start, end;
	struct place found;
	Dwarf_Attribute a;
	ptrdiff_t at = 0;

	*ret = (struct place){ .kind = PLACE_GONE };
	if (!c || !dwarf_attr(param, DW_AT_location, &a)) {
		constant_place(param, size, ret);
		return;
	}
	l.attribute = &a;
	if (is_frame_block(&a)) {
		ret->kind = PLACE_BY_TYPE;
		return;
	}
	for (unsigned int i = 0; i < LISTED_MAX; i++) {
		at = dwarf_getlocations(&a, at, &base, &start, &end, &l.ops, &l.nops);
		if (at <= 0)
			break;
		l.at = l.done = 0;
		l.of_now = l.spilled = false;
		parse_place(&l, &found);
		if (is_set_later(&l, &found))
			found = (struct place){ .kind = PLACE_BY_TYPE };
		bool is_place = found.kind == PLACE_PIECES || found.kind == PLACE_POINTED;
		bool now = entry >= start && entry < end;

		if (now ? is_place || ret->kind == PLACE_GONE : is_later(&l, &found, ret)) {
			*ret = found;
			ret->later = !now;
			ret->always = dwarf_whatform(&a) == DW_FORM_exprloc && l.of_now &&
				is_in_registers(&found);
		}
		if ((ret->kind == PLACE_PIECES || ret->kind == PLACE_POINTED) && !ret->later)
			return;
	}
	if (at < 0 && ret->kind == PLACE_GONE)
		ret->kind = PLACE_UNKNOWN;
}
