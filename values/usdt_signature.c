/* SPDX-License-Identifier: MIT */
#include "values/usdt_signature.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "values/hand.h"
#include "values/known.h"
#include "values/places.h"

/* ---- places -------------------------------------------------------------- */

static bool set_register(const struct usdt_arg *a, const struct numbering *n, struct piece *p)
{
	bool vector = a->from == USDT_VECTOR;
	unsigned int first = vector ? n->vector : 0, count = vector ? n->vectors : n->general;

	bool is_one = a->reg >= 0 && (unsigned int)a->reg >= first &&
		(unsigned int)a->reg < first + count;

	if ((!is_one && a->reg != (int)n->stack) || a->size + a->part > (vector ? 16 : 8))
		return false;
	p->from = vector ? FROM_VECTOR : FROM_GENERAL;
	p->number = (uint8_t)((unsigned int)a->reg - first);
	p->offset = a->part;
	return true;
}

static bool set_memory(const struct usdt_arg *a, const struct usdt_symbols *symbols,
		       struct piece *p)
{
	int16_t base = a->base, index = a->index;
	int64_t number = a->number;

	p->from = FROM_MEMORY;
	p->number = p->index = PIECE_NO_REGISTER;
	p->scale = a->scale ? a->scale : 1;
	if (a->symbol[0]) {
		uint64_t at;

		if (!symbols->find(symbols->ctx, a->symbol, &at))
			return false;
		number += (int64_t)at;
	}
	/* What is added to a variable's address may be 0, which no pointer is. */
	if (a->symbol[0] && base >= 0 && index < 0) {
		index = base;
		base = -1;
		p->scale = 1;
	}
	if (base < 0)
		p->literal = (uint64_t)number;
	else if (number == (int32_t)number)
		p->offset = (int32_t)number;
	else
		return false;
	if (base >= 0)
		p->number = (uint8_t)base;
	if (index >= 0)
		p->index = (uint8_t)index;
	return true;
}

static bool set_piece(const struct usdt_arg *a, const struct usdt_symbols *symbols,
		      const struct numbering *n, struct piece *p)
{
	switch (a->from) {
	case USDT_GENERAL:
	case USDT_VECTOR:
		return set_register(a, n, p);
	case USDT_MEMORY:
		return set_memory(a, symbols, p);
	case USDT_NUMBER:
		p->from = FROM_LITERAL;
		p->literal = (uint64_t)a->number;
		return a->size <= 8;
	case USDT_ADDRESS:
		p->from = FROM_LITERAL;
		if (a->size > 8 || !symbols->find(symbols->ctx, a->symbol, &p->literal))
			return false;
		p->literal += (uint64_t)a->number;
		return true;
	default:
		return false;
	}
}

static void set_place(const struct usdt_arg *a, const struct usdt_symbols *symbols,
		      const struct convention *c, struct place *ret)
{
	struct piece p = { .size = a->size };

	*ret = (struct place){ .kind = PLACE_UNKNOWN };
	if (c && a->size && set_piece(a, symbols, &c->numbering, &p) && place_add(ret, &p))
		ret->kind = PLACE_PIECES;
}

/* ---- types --------------------------------------------------------------- */

static bool is_number(const struct usdt_arg *a)
{
	return a->size == 1 || a->size == 2 || a->size == 4 || a->size == 8 || a->size == 16;
}

/* As the note has it. */
static uint32_t noted_type(struct signature *s, const struct usdt_arg *a,
			   const struct convention *c)
{
	char name[8];
	struct type t = { .kind = TYPE_INT, .size = a->size, .align = 1,
			  .flags = a->is_signed ? TYPE_SIGNED : 0 };

	if (!is_number(a))
		t.kind = TYPE_UNKNOWN;
	if (a->is_float && t.size >= 2) {
		t.kind = TYPE_FLOAT;
		t.flags = t.size == 16 && !(c && c->extended) ? TYPE_QUAD : 0;
	}
	snprintf(name, sizeof(name), "%c%u", a->is_float ? 'f' : a->is_signed ? 'i' : 'u',
		 8u * a->size);
	t.name = signature_text(s, name);
	return signature_type(s, &t);
}

/* A type by hand is believed where it has as many bytes. An integer, or a bool, has those that are
 * there; no pointer has fewer than eight. */
static void settle_type(struct signature *s, struct parameter *p, const struct usdt_arg *a,
			const struct convention *c)
{
	struct type t = *signature_type_at(s, p->type);

	if (t.size == a->size)
		return;
	p->contents = (struct contents){ .behind = BEHIND_NOTHING };
	if ((t.kind != TYPE_INT && t.kind != TYPE_BOOL) || !is_number(a)) {
		p->type = noted_type(s, a, c);
		return;
	}
	t.size = a->size;
	t.name = 0;
	p->type = signature_type(s, &t);
}

static void add_noted(struct signature *s, const struct usdt_arg *a, const struct convention *c)
{
	struct parameter *p = &s->params[s->nparams++];

	*p = (struct parameter){ .type = noted_type(s, a, c),
				 .contents.behind = BEHIND_NOTHING };
}

void usdt_settle(struct signature *s, const char *text, const struct usdt_symbols *symbols)
{
	const struct convention *c = convention_of(s->machine);
	struct usdt_args args;

	_Static_assert((int)USDT_ARGS_MAX <= (int)PARAMS_MAX, "each has room");
	usdt_args_parse(text, s->machine, &args);
	s->more = args.more;
	s->result = (struct parameter){ .place.kind = PLACE_NOWHERE };
	for (size_t i = args.n; i < s->nparams; i++)
		s->params[i].place = (struct place){ .kind = PLACE_UNKNOWN };
	for (size_t i = 0; i < args.n; i++) {
		if (i == s->nparams)
			add_noted(s, &args.v[i], c);
		else
			settle_type(s, &s->params[i], &args.v[i], c);
		set_place(&args.v[i], symbols, c, &s->params[i].place);
	}
}

/* ---- well-known ones ----------------------------------------------------- */

int usdt_known(const char *name, uint16_t machine, struct signature *ret)
{
	size_t n = strlen(name), length;
	struct hand_error error;

	for (const char *const *line = known_usdt; *line; line++)
		if (!strncmp(*line, name, n) && (*line)[n] == '(')
			return hand_parse(*line, machine, ret, &length, &error);
	return -ENOENT;
}
