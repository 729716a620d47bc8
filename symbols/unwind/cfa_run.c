/* SPDX-License-Identifier: MIT */
/*
 * cfa_run: what do the programs of unwind entries say of the frame's fixed address, the CFA?
 *
 * An entry has a program that says where it is, from its start on, row by row; what the entry has
 * in common with others has one that is run before. Of what they say of registers only their length
 * matters. Each is checked once, when it is read: then it cannot run out of bytes, and takes back
 * no more states than it has kept.
 *
 * libdw would run them, too, but for each question it allocates all that a program may say, and it
 * keeps entries in a tree that only one thread at a time may look into.
 */
#include "symbols/unwind/unwind.h"

enum {
	REGISTER_MAX = 255,	/* arm64 has 128 */
	BLOCK_MAX = 1024,	/* the longest expression, in bytes */
};

/*
 * The operands of each operation: an integer of 1, 2 or 4 bytes, `u`leb128 (or
 * sleb128, which is as long), `r`egister, `b`lock, encoded `a`ddress; `+` and
 * `-` remember and restore a state. NULL: no compiler uses it.
 */
static const char *const operands[0x40] = {
	[DW_CFA_nop] = "",
	[DW_CFA_set_loc] = "a",
	[DW_CFA_advance_loc1] = "1",
	[DW_CFA_advance_loc2] = "2",
	[DW_CFA_advance_loc4] = "4",
	[DW_CFA_offset_extended] = "ru",
	[DW_CFA_restore_extended] = "r",
	[DW_CFA_undefined] = "r",
	[DW_CFA_same_value] = "r",
	[DW_CFA_register] = "rr",
	[DW_CFA_remember_state] = "+",
	[DW_CFA_restore_state] = "-",
	[DW_CFA_def_cfa] = "ru",
	[DW_CFA_def_cfa_register] = "r",
	[DW_CFA_def_cfa_offset] = "u",
	[DW_CFA_def_cfa_expression] = "b",
	[DW_CFA_expression] = "rb",
	[DW_CFA_offset_extended_sf] = "ru",
	[DW_CFA_def_cfa_sf] = "ru",
	[DW_CFA_def_cfa_offset_sf] = "u",
	[DW_CFA_val_offset] = "ru",
	[DW_CFA_val_offset_sf] = "ru",
	[DW_CFA_val_expression] = "rb",
	[DW_CFA_GNU_window_save] = "",	/* arm64: sign the return address */
	[DW_CFA_GNU_args_size] = "u",
	[DW_CFA_GNU_negative_offset_extended] = "ru",
};

static bool operand_is_sane(struct cursor *c, char kind, uint8_t encoding,
			    size_t *remembered)
{
	uint64_t n;

	switch (kind) {
	case '1':
	case '2':
	case '4':
		cursor_uint(c, kind - '0');
		break;
	case 'r':
		return cursor_uleb(c) <= REGISTER_MAX;
	case 'u':
		cursor_uleb(c);
		break;
	case 'b':
		n = cursor_uleb(c);
		cursor_skip(c, n);
		return n <= BLOCK_MAX;
	case 'a':
		cursor_pointer(c, encoding);
		break;
	case '+':
		return ++*remembered <= REMEMBER_MAX;
	case '-':
		return (*remembered)-- > 0;
	}
	return true;
}

/* Go behind the next operation. */
static bool next_operation(struct cursor *c, uint8_t encoding, size_t *remembered)
{
	uint8_t op = cursor_uint(c, 1);
	const char *kinds = operands[op & 0x3f];

	/* These three have an operand in the operation itself. */
	if (op & 0xc0)
		kinds = (op & 0xc0) == DW_CFA_offset ? "u" : "";
	if (!kinds)
		return false;
	for (; *kinds; kinds++)
		if (!operand_is_sane(c, *kinds, encoding, remembered))
			return false;
	return true;
}

bool cfa_is_sane(struct cursor c, uint8_t encoding)
{
	size_t remembered = 0;

	while (cursor_left(&c))
		if (!next_operation(&c, encoding, &remembered))
			return false;
	return !c.bad;
}

bool cfa_find(struct cursor *c, uint8_t encoding, uint8_t op, raddr_t *ret)
{
	size_t remembered = REMEMBER_MAX / 2;	/* the other half by the program before it */

	while (cursor_left(c) && !c->bad) {
		bool is = *c->p == op;

		*ret = c->addr;
		if (!next_operation(c, encoding, &remembered))
			return false;
		if (is)
			return true;
	}
	return false;
}

/* ---- programs ------------------------------------------------------------ */

/* Most numbers have one byte. */
static inline uint64_t run_uleb(struct cfa_run *r)
{
	if (r->c.p == r->c.end || *r->c.p & 0x80)
		return cursor_uleb(&r->c);
	r->c.addr++;
	return *r->c.p++;
}

/* The CFA is a register and a number from here on. */
static void run_define(struct cfa_run *r, uint64_t reg, int64_t offset)
{
	r->now = (struct cfa){ .reg = reg, .offset = offset, .known = true };
}

/* Where it goes on, if this operation says that. */
static bool run_advance(struct cfa_run *r, uint8_t op, raddr_t *to)
{
	uint64_t by = op & 0x3f;

	switch (op) {
	case DW_CFA_set_loc:
		*to = cursor_pointer(&r->c, r->cie->encoding);
		return true;
	case DW_CFA_advance_loc1:
	case DW_CFA_advance_loc2:
	case DW_CFA_advance_loc4:
		by = cursor_uint(&r->c, 1u << (op - DW_CFA_advance_loc1));
		break;
	default:
		if ((op & 0xc0) != DW_CFA_advance_loc)
			return false;
	}
	*to = r->at + by * r->cie->code_factor;
	return true;
}

/* Another one: what it says of the CFA. False: it may not say it here. */
static bool run_operation(struct cfa_run *r, uint8_t op)
{
	uint64_t reg = r->now.reg;
	size_t remembered = REMEMBER_MAX / 2;

	switch (op) {
	case DW_CFA_def_cfa:
		reg = run_uleb(r);
		run_define(r, reg, (int64_t)run_uleb(r));
		return true;
	case DW_CFA_def_cfa_sf:
		reg = run_uleb(r);
		run_define(r, reg, cursor_sleb(&r->c) * r->cie->data_factor);
		return true;
	case DW_CFA_def_cfa_register:
		r->now.reg = run_uleb(r);
		return r->now.known;
	case DW_CFA_def_cfa_offset:
		r->now.offset = (int64_t)run_uleb(r);
		return r->now.known;
	case DW_CFA_def_cfa_offset_sf:
		r->now.offset = cursor_sleb(&r->c) * r->cie->data_factor;
		return r->now.known;
	case DW_CFA_def_cfa_expression:
		r->now.known = false;
		break;
	case DW_CFA_remember_state:
		r->kept[r->nkept++] = r->now;
		return true;
	case DW_CFA_restore_state:
		r->now = r->kept[--r->nkept];
		return true;
	}
	/* Of a register. */
	r->c.p--, r->c.addr--;
	return next_operation(&r->c, r->cie->encoding, &remembered);
}

enum cfa_ran cfa_run(struct cfa_run *r)
{
	raddr_t from = r->at, to;

	while (r->c.p < r->c.end) {
		uint8_t op = *r->c.p++;

		r->c.addr++;
		if ((op & 0xc0) == DW_CFA_offset) {
			run_uleb(r);
		} else if (run_advance(r, op, &to)) {
			r->at = to;
			if (to != from)
				return to > from ? CFA_RAN_ROW : CFA_RAN_BAD;
		} else if (!run_operation(r, op)) {
			return CFA_RAN_BAD;
		}
	}
	return CFA_RAN_ALL;
}

void cfa_begin(struct cie *cie, struct cursor program)
{
	struct cfa_run r = { .c = program, .cie = cie };
	enum cfa_ran ran;

	do
		ran = cfa_run(&r);
	while (ran == CFA_RAN_ROW);
	cie->bad = ran == CFA_RAN_BAD;
	cie->initial = r.now;
}
