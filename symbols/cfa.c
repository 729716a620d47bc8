/* SPDX-License-Identifier: MIT */
/*
 * cfa: how far is the frame's fixed address from the stack pointer here?
 *
 * Runs call frame programs, and follows the rule of the CFA alone: where the
 * registers are saved does not matter.
 */
#include "symbols/unwind.h"

enum {
	CFA_ADVANCE = 0x40, CFA_OFFSET = 0x80, CFA_RESTORE = 0xc0,
	CFA_NOP = 0x00, CFA_SET_LOC = 0x01, CFA_ADVANCE1 = 0x02,
	CFA_ADVANCE2 = 0x03, CFA_ADVANCE4 = 0x04, CFA_OFFSET_EXT = 0x05,
	CFA_RESTORE_EXT = 0x06, CFA_UNDEFINED = 0x07, CFA_SAME_VALUE = 0x08,
	CFA_REGISTER = 0x09, CFA_REMEMBER = 0x0a, CFA_RESTORE_STATE = 0x0b,
	CFA_DEF = 0x0c, CFA_DEF_REGISTER = 0x0d, CFA_DEF_OFFSET = 0x0e,
	CFA_DEF_EXPRESSION = 0x0f, CFA_EXPRESSION = 0x10,
	CFA_OFFSET_EXT_SF = 0x11, CFA_DEF_SF = 0x12, CFA_DEF_OFFSET_SF = 0x13,
	CFA_VAL_OFFSET = 0x14, CFA_VAL_OFFSET_SF = 0x15,
	CFA_VAL_EXPRESSION = 0x16, CFA_NEGATE_RA = 0x2d, CFA_ARGS_SIZE = 0x2e,
	CFA_OFFSET_NEGATIVE = 0x2f,

	REMEMBER_MAX = 32,	/* compilers nest one deep */
};

struct machine {
	const struct unwind *u;
	const struct cie *cie;
	struct cursor c;
	raddr_t loc;
	struct cfa *cfa;
	struct cfa saved[REMEMBER_MAX];
	size_t nsaved;
};

static int advance(struct machine *m, uint64_t delta)
{
	uint64_t bytes;

	if (__builtin_mul_overflow(delta, m->cie->code_align, &bytes) ||
	    __builtin_add_overflow(m->loc, bytes, &m->loc))
		return -ENOTSUP;
	return 0;
}

/* Offsets wrap instead of overflowing: a hostile one is only a wrong one. */
static int64_t scaled(const struct machine *m, int64_t value)
{
	return (int64_t)((uint64_t)value * (uint64_t)m->cie->data_align);
}

static int remember(struct machine *m)
{
	if (m->nsaved == REMEMBER_MAX)
		return -ENOTSUP;
	m->saved[m->nsaved++] = *m->cfa;
	return 0;
}

static int restore_state(struct machine *m)
{
	if (!m->nsaved)
		return -ENOTSUP;
	*m->cfa = m->saved[--m->nsaved];
	return 0;
}

/* Rules of registers: read past them. -ENOTSUP for an unknown one, whose
 * length nobody knows. */
static int skip_rule(struct machine *m, uint8_t op)
{
	switch (op) {
	case CFA_NOP:
	case CFA_NEGATE_RA:
		return 0;
	case CFA_OFFSET_EXT:
	case CFA_REGISTER:
	case CFA_OFFSET_EXT_SF:
	case CFA_VAL_OFFSET:
	case CFA_VAL_OFFSET_SF:
	case CFA_OFFSET_NEGATIVE:
		cursor_uleb(&m->c);
		cursor_uleb(&m->c);
		return 0;
	case CFA_RESTORE_EXT:
	case CFA_UNDEFINED:
	case CFA_SAME_VALUE:
	case CFA_ARGS_SIZE:
		cursor_uleb(&m->c);
		return 0;
	case CFA_EXPRESSION:
	case CFA_VAL_EXPRESSION:
		cursor_uleb(&m->c);
		cursor_skip(&m->c, cursor_uleb(&m->c));
		return 0;
	}
	return -ENOTSUP;
}

static int define(struct machine *m, uint8_t op)
{
	struct cfa *cfa = m->cfa;

	switch (op) {
	case CFA_DEF:
		cfa->reg = cursor_uleb(&m->c);
		cfa->offset = cursor_uleb(&m->c);
		break;
	case CFA_DEF_SF:
		cfa->reg = cursor_uleb(&m->c);
		cfa->offset = scaled(m, cursor_sleb(&m->c));
		break;
	case CFA_DEF_REGISTER:
		cfa->reg = cursor_uleb(&m->c);
		return 0;
	case CFA_DEF_OFFSET:
		cfa->offset = cursor_uleb(&m->c);
		return 0;
	case CFA_DEF_OFFSET_SF:
		cfa->offset = scaled(m, cursor_sleb(&m->c));
		return 0;
	case CFA_DEF_EXPRESSION:
		cursor_skip(&m->c, cursor_uleb(&m->c));
		cfa->is_expression = true;
		return 0;
	default:
		return skip_rule(m, op);
	}
	cfa->is_expression = false;
	return 0;
}

static int step(struct machine *m)
{
	uint8_t op = cursor_uint(&m->c, 1);

	switch (op & 0xc0) {
	case CFA_ADVANCE:
		return advance(m, op & 0x3f);
	case CFA_OFFSET:
		cursor_uleb(&m->c);
		return 0;
	case CFA_RESTORE:
		return 0;
	}
	switch (op) {
	case CFA_SET_LOC:
		m->loc = cursor_pointer(&m->c, m->cie->encoding, &m->u->bases);
		return 0;
	case CFA_ADVANCE1:
		return advance(m, cursor_uint(&m->c, 1));
	case CFA_ADVANCE2:
		return advance(m, cursor_uint(&m->c, 2));
	case CFA_ADVANCE4:
		return advance(m, cursor_uint(&m->c, 4));
	case CFA_REMEMBER:
		return remember(m);
	case CFA_RESTORE_STATE:
		return restore_state(m);
	}
	return define(m, op);
}

int cfa_run(const struct unwind *u, const struct cie *cie,
	    struct cursor program, raddr_t start, raddr_t pc, struct cfa *ret)
{
	struct machine m = {
		.u = u, .cie = cie, .c = program, .loc = start, .cfa = ret,
	};
	struct cfa now = *ret;

	/* A rule holds from its own location on, so the last state before the
	 * location passes `pc` is the one wanted. */
	while (cursor_left(&m.c)) {
		int err = step(&m);

		if (err || m.c.bad)
			return -ENOTSUP;
		if (m.loc > pc)
			break;
		now = *ret;
	}
	*ret = now;
	return 0;
}
