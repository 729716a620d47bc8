/* SPDX-License-Identifier: MIT */
/*
 * location_now: where is a variable at a place within a function?
 *
 * What its location says there is taken as it is: nothing is known of a convention, and nothing is
 * concluded from what registers had at the entry.
 */
#include <dwarf.h>

#include "symbols/types/location.h"
#include "values/places.h"

enum { LISTED_MAX = 4096 };	/* locations of one variable */

/* One location that is read. */
struct reading_now {
	const struct frame_now *f;
	const struct numbering *n;
	Dwarf_Attribute *attribute;
	Dwarf_Op *ops;
	size_t nops, at;
	uint64_t size;
};

static const Dwarf_Op *take(struct reading_now *r)
{
	return r->at < r->nops ? &r->ops[r->at++] : NULL;
}

static bool take_if(struct reading_now *r, uint8_t atom)
{
	bool is = r->at < r->nops && r->ops[r->at].atom == atom;

	r->at += is;
	return is;
}

static bool general(const struct reading_now *r, uint64_t number)
{
	return number < r->n->general || number == r->n->stack;
}

static bool set_register(const struct reading_now *r, uint64_t number, struct piece *p)
{
	if (general(r, number)) {
		p->from = FROM_GENERAL;
		p->number = (uint8_t)number;
		return true;
	}
	if (number < r->n->vector || number >= r->n->vector + r->n->vectors)
		return false;
	p->from = FROM_VECTOR;
	p->number = (uint8_t)(number - r->n->vector);
	return true;
}

/* A register and a distance. */
static bool set_memory(const struct reading_now *r, uint64_t number, int64_t offset,
		       struct piece *p)
{
	*p = (struct piece){ .from = FROM_MEMORY, .number = (uint8_t)number,
			     .index = PIECE_NO_REGISTER, .offset = (int32_t)offset };
	return general(r, number) && offset == p->offset;
}

static bool frame_rule(const Dwarf_Op *op, const struct frame_now *f, uint64_t *number,
		       int64_t *offset)
{
	if (op->atom == DW_OP_call_frame_cfa && f->has_cfa) {
		*number = f->cfa_register;
		*offset = f->cfa_offset;
		return true;
	}
	*offset = 0;
	if (op->atom >= DW_OP_reg0 && op->atom <= DW_OP_reg31) {
		*number = op->atom - DW_OP_reg0;
		return true;
	}
	if (op->atom < DW_OP_breg0 || op->atom > DW_OP_breg31)
		return false;
	*number = op->atom - DW_OP_breg0;
	*offset = (int64_t)op->number;
	return true;
}

/* From the function's frame base. */
static bool set_frame(const struct reading_now *r, int64_t more, struct piece *p)
{
	Dwarf_Attribute a;
	Dwarf_Op *ops;
	size_t n;
	uint64_t number;
	int64_t offset;

	if (!dwarf_attr(r->f->function, DW_AT_frame_base, &a) ||
	    dwarf_getlocation_addr(&a, r->f->pc, &ops, &n, 1) != 1 || n != 1 ||
	    !frame_rule(&ops[0], r->f, &number, &offset) ||
	    __builtin_add_overflow(offset, more, &offset))
		return false;
	return set_memory(r, number, offset, p);
}

/* A variable that the file has, by its address or the number that this has in a list. */
static bool set_address(const struct reading_now *r, const Dwarf_Op *op, struct piece *p)
{
	Dwarf_Addr at = op->number;
	Dwarf_Attribute a;

	if (op->atom == DW_OP_addrx || op->atom == DW_OP_GNU_addr_index) {
		if (dwarf_getlocation_attr(r->attribute, op, &a) || dwarf_formaddr(&a, &at))
			return false;
	} else if (op->atom != DW_OP_addr) {
		return false;
	}
	*p = (struct piece){ .from = FROM_MEMORY, .number = PIECE_NO_REGISTER,
			     .index = PIECE_NO_REGISTER, .literal = at + r->f->bias };
	return true;
}

static bool set_based(const struct reading_now *r, const Dwarf_Op *op, struct piece *p)
{
	if (op->atom == DW_OP_fbreg)
		return set_frame(r, (int64_t)op->number, p);
	if (op->atom == DW_OP_call_frame_cfa && r->f->has_cfa)
		return set_memory(r, r->f->cfa_register, r->f->cfa_offset, p);
	if (op->atom == DW_OP_bregx)
		return set_memory(r, op->number, (int64_t)op->number2, p);
	if (op->atom >= DW_OP_breg0 && op->atom <= DW_OP_breg31)
		return set_memory(r, op->atom - DW_OP_breg0, (int64_t)op->number, p);
	return set_address(r, op, p);
}

/* Numbers as ops have them. */
static bool literal_of(const Dwarf_Op *op, uint64_t *ret)
{
	*ret = op->number;
	if (op->atom >= DW_OP_lit0 && op->atom <= DW_OP_lit31)
		*ret = op->atom - DW_OP_lit0;
	else if (op->atom < DW_OP_const1u || op->atom > DW_OP_consts)
		return false;
	return true;
}

static enum place_kind implicit(struct reading_now *r, const Dwarf_Op *op, struct piece *p)
{
	Dwarf_Block block;

	if (dwarf_getlocation_implicit_value(r->attribute, op, &block) || !block.data ||
	    block.length > sizeof(p->literal))
		return PLACE_UNKNOWN;
	p->from = FROM_LITERAL;
	for (size_t i = 0; i < block.length; i++)
		p->literal |= (uint64_t)block.data[i] << (8 * i);
	return PLACE_PIECES;
}

/* What is in no register and no memory, or was at the entry only, is optimised out. */
static enum place_kind take_simple(struct reading_now *r, struct piece *p)
{
	const Dwarf_Op *op = take(r);

	switch (op->atom) {
	case DW_OP_entry_value:
	case DW_OP_GNU_entry_value:
	case DW_OP_implicit_pointer:
	case DW_OP_GNU_implicit_pointer:
	case DW_OP_GNU_parameter_ref:
		r->at = r->nops;
		return PLACE_GONE;
	case DW_OP_regx:
		return set_register(r, op->number, p) ? PLACE_PIECES : PLACE_UNKNOWN;
	case DW_OP_implicit_value:
		return implicit(r, op, p);
	default:
		break;
	}
	if (op->atom >= DW_OP_reg0 && op->atom <= DW_OP_reg31)
		return set_register(r, op->atom - DW_OP_reg0, p) ? PLACE_PIECES : PLACE_UNKNOWN;
	if (literal_of(op, &p->literal)) {
		p->from = FROM_LITERAL;
		return take_if(r, DW_OP_stack_value) ? PLACE_PIECES : PLACE_UNKNOWN;
	}
	if (!set_based(r, op, p))
		return PLACE_UNKNOWN;
	/* A value that is an address, or is made as one is. */
	if (take_if(r, DW_OP_stack_value))
		p->from = FROM_ADDRESS;
	return PLACE_PIECES;
}

static uint64_t most(const struct piece *p)
{
	return p->from == FROM_MEMORY ? UINT16_MAX : p->from == FROM_VECTOR ? 16 : 8;
}

static bool add(struct place *place, struct piece *p, uint64_t at, uint64_t size)
{
	if (p->from == FROM_MEMORY)
		size = MIN(size, (uint64_t)UINT16_MAX);
	p->at = (uint16_t)at;
	p->size = (uint16_t)size;
	return size && size <= most(p) && at <= UINT16_MAX && place_add(place, p);
}

/* All pieces; what is between them is nowhere. */
static enum place_kind parse(struct reading_now *r, struct place *ret)
{
	uint64_t done = 0;

	while (r->at < r->nops) {
		bool empty = r->ops[r->at].atom == DW_OP_piece;
		struct piece p = { 0 };
		enum place_kind kind = empty ? PLACE_GONE : take_simple(r, &p);

		if (kind == PLACE_UNKNOWN || (kind == PLACE_GONE && !empty && !done))
			return kind;
		if (!take_if(r, DW_OP_piece))
			return r->at == r->nops && !done && kind == PLACE_PIECES &&
				add(ret, &p, 0, r->size) ? PLACE_PIECES : PLACE_UNKNOWN;
		uint64_t size = r->ops[r->at - 1].number;

		if (size > r->size - MIN(done, r->size) ||
		    (kind == PLACE_PIECES && !add(ret, &p, done, size)))
			return PLACE_UNKNOWN;
		done += size;
	}
	return ret->n ? PLACE_PIECES : PLACE_GONE;
}

static bool is_memory(const struct place *p)
{
	for (unsigned int i = 0; i < p->n; i++)
		if (p->pieces[i].from == FROM_MEMORY && p->pieces[i].number != PIECE_NO_REGISTER)
			return true;
	return false;
}

static bool is_list(Dwarf_Attribute *a)
{
	unsigned int form = dwarf_whatform(a);

	return form == DW_FORM_sec_offset || form == DW_FORM_loclistx || form == DW_FORM_data4 ||
		form == DW_FORM_data8;
}

static void constant(Dwarf_Die *die, uint64_t size, struct place *ret)
{
	struct piece p = { .from = FROM_LITERAL, .size = (uint16_t)size };
	Dwarf_Attribute a;
	Dwarf_Sword value;

	if (!dwarf_attr_integrate(die, DW_AT_const_value, &a) || !size || size > 8 ||
	    dwarf_formsdata(&a, &value))
		return;
	p.literal = (uint64_t)value;
	if (place_add(ret, &p))
		ret->kind = PLACE_PIECES;
}

/* Of the "views" of one address libdw knows nothing: a location of some of them has an empty range.
 * No instruction is between them. */
static bool find_empty(struct reading_now *r)
{
	Dwarf_Addr base, start, end;
	ptrdiff_t at = 0;

	for (unsigned int i = 0; i < LISTED_MAX; i++) {
		at = dwarf_getlocations(r->attribute, at, &base, &start, &end, &r->ops, &r->nops);
		if (at <= 0)
			break;
		if (start == end && start == r->f->pc)
			return true;
	}
	return false;
}

void location_now(Dwarf_Die *die, const struct frame_now *f, uint16_t machine, uint64_t size,
		  struct place *ret)
{
	const struct convention *c = convention_of(machine);
	struct reading_now r = { .f = f, .n = c ? &c->numbering : NULL, .size = size };
	Dwarf_Attribute a;

	*ret = (struct place){ .kind = PLACE_GONE };
	if (!c || !dwarf_attr(die, DW_AT_location, &a)) {
		constant(die, size, ret);
		return;
	}
	r.attribute = &a;
	/* Where several are true the first is as good as the others. */
	int n = dwarf_getlocation_addr(&a, f->pc, &r.ops, &r.nops, 1);

	if (n <= 0 && !(f->begins && find_empty(&r))) {
		ret->kind = n < 0 ? PLACE_UNKNOWN : PLACE_GONE;
		return;
	}
	struct place found = { 0 };

	found.kind = (uint8_t)parse(&r, &found);
	/* One that is told for the whole function is not true before there is a frame. */
	if (f->early && !is_list(&a) && is_memory(&found))
		found.kind = PLACE_UNKNOWN;
	if (found.kind != PLACE_PIECES)
		found.n = 0;
	*ret = found;
}
