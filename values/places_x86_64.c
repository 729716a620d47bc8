/* SPDX-License-Identifier: MIT */
/* places_x86_64: the classes of System V's convention (psABI 3.2.3). */
#include "values/places.h"

enum eightbyte {
	CLASS_NONE, CLASS_INTEGER, CLASS_SSE, CLASS_X87, CLASS_X87UP, CLASS_MEMORY,
};

enum {
	RAX = 0, RDX = 1,	/* numbers of DWARF (psABI, figure 3.36) */
	GENERAL_MAX = 6, VECTOR_MAX = 8,
};

/* rdi, rsi, rdx, rcx, r8, r9 */
static const uint8_t general[GENERAL_MAX] = { 5, 4, 1, 2, 8, 9 };

struct assigned {
	unsigned int general, vector;	/* registers that are taken */
	uint64_t stack;			/* bytes behind the return address */
	bool lost;			/* a type was not known: from there on nothing is */
};

/* What two fields of one eightbyte are together (psABI 3.2.3, rule 4). */
static enum eightbyte merge(enum eightbyte a, enum eightbyte b)
{
	if (a == b || b == CLASS_NONE)
		return a;
	if (a == CLASS_NONE)
		return b;
	if (a == CLASS_MEMORY || b == CLASS_MEMORY)
		return CLASS_MEMORY;
	if (a == CLASS_INTEGER || b == CLASS_INTEGER)
		return CLASS_INTEGER;
	if (a >= CLASS_X87 || b >= CLASS_X87)
		return CLASS_MEMORY;
	return CLASS_SSE;
}

static void merge_bytes(enum eightbyte c[2], uint64_t at, uint64_t size, enum eightbyte class)
{
	for (uint64_t i = at / 8; size && i <= (at + size - 1) / 8 && i < 2; i++)
		c[i] = merge(c[i], class);
}

static bool classify(const struct signature *, uint32_t type, uint64_t at, enum eightbyte c[2],
		     unsigned int depth);

static bool classify_members(const struct signature *s, const struct type *t, uint64_t at,
			     enum eightbyte c[2], unsigned int depth)
{
	for (uint32_t i = 0; i < t->n; i++) {
		const struct member *m = signature_member_at(s, t, i);

		if (!m || m->at > 16 - at)
			return false;
		if (m->bits)
			merge_bytes(c, at + m->at + m->bit / 8, (m->bit % 8 + m->bits + 7) / 8,
				    CLASS_INTEGER);
		else if (!classify(s, m->type, at + m->at, c, depth + 1))
			return false;
	}
	return !(t->flags & TYPE_OPAQUE);
}

static bool classify_elements(const struct signature *s, const struct type *t, uint64_t at,
			      enum eightbyte c[2], unsigned int depth)
{
	const struct type *of = signature_type_at(s, t->of);

	for (uint32_t i = 0; i < t->n && of->size && at < 16; i++, at += of->size)
		if (!classify(s, t->of, at, c, depth + 1))
			return false;
	return true;
}

/* A field that is not aligned as its type has the class MEMORY, and so does all. */
static bool classify_scalar(const struct signature *s, uint32_t type, uint64_t at,
			    enum eightbyte c[2], enum eightbyte class)
{
	const struct type *t = signature_type_at(s, type);

	if (at % signature_align(s, type))
		class = CLASS_MEMORY;
	merge_bytes(c, at, t->size, class);
	return true;
}

static bool classify_float(const struct signature *s, uint32_t type, uint64_t at,
			   enum eightbyte c[2])
{
	const struct type *t = signature_type_at(s, type);

	if (t->size <= 8 || t->flags & TYPE_QUAD)
		return classify_scalar(s, type, at, c, CLASS_SSE);
	if (at)
		c[0] = CLASS_MEMORY;
	c[0] = merge(c[0], CLASS_X87);
	c[1] = merge(c[1], CLASS_X87UP);
	return true;
}

/* The classes of the two eightbytes of a type of at most 16 bytes, of which this one lies at
 * `at`. False if a type is not known. */
static bool classify(const struct signature *s, uint32_t type, uint64_t at, enum eightbyte c[2],
		     unsigned int depth)
{
	const struct type *t = signature_type_at(s, type);

	if (depth > NESTED_MAX || at > 16 || t->size > 16)
		return false;
	switch (t->kind) {
	case TYPE_VARIANTS:
		return classify(s, t->of, at + t->pointer_at, c, depth + 1) &&
			classify_members(s, t, at, c, depth);
	case TYPE_STRUCT:
	case TYPE_UNION:
		return type_is_transparent(t) ? classify_scalar(s, type, at, c, CLASS_INTEGER) :
			classify_members(s, t, at, c, depth);
	case TYPE_ARRAY:
		return classify_elements(s, t, at, c, depth);
	case TYPE_FLOAT:
		return classify_float(s, type, at, c);
	case TYPE_COMPLEX:
	case TYPE_VECTOR:
		return classify_scalar(s, type, at, c, CLASS_SSE);
	default:
		return type_is_scalar(t) && classify_scalar(s, type, at, c, CLASS_INTEGER);
	}
}

/* Rule 5: what is left over of both. */
static void settle_classes(enum eightbyte c[2])
{
	if (c[0] == CLASS_MEMORY || c[1] == CLASS_MEMORY ||
	    (c[1] == CLASS_X87UP && c[0] != CLASS_X87))
		c[0] = c[1] = CLASS_MEMORY;
}

/* Is all of it in one vector register: SSE and SSEUP? */
static bool is_vector(const struct signature *s, const struct type *t, unsigned int depth)
{
	if (t->size != 16 || depth > NESTED_MAX)
		return false;
	if (t->kind == TYPE_VECTOR || (t->kind == TYPE_FLOAT && t->flags & TYPE_QUAD))
		return true;
	if (t->kind == TYPE_ARRAY)
		return t->n == 1 && is_vector(s, signature_type_at(s, t->of), depth + 1);
	if ((t->kind != TYPE_STRUCT && t->kind != TYPE_UNION) || t->n != 1)
		return false;
	return is_vector(s, signature_type_at(s, signature_member_at(s, t, 0)->type), depth + 1);
}

static bool place_class(struct place *p, enum eightbyte class, unsigned int number, uint64_t at,
			uint64_t size)
{
	return place_add(p, &(struct piece){
		.from = class == CLASS_SSE ? FROM_VECTOR : FROM_GENERAL,
		.number = number, .at = at, .size = size,
	});
}

/* ---- parameters ---------------------------------------------------------- */

static void place_stack(const struct signature *s, uint32_t type, struct assigned *a,
			struct place *ret)
{
	uint64_t size = signature_type_at(s, type)->size;
	uint64_t align = MAX(8, signature_align(s, type));

	a->stack = ALIGN_UP(a->stack, align);
	if (size > UINT16_MAX || a->stack > INT16_MAX * 16) {
		a->lost = true;
		return;
	}
	/* The return address lies below. */
	ret->kind = PLACE_PIECES;
	place_add(ret, &(struct piece){ .from = FROM_STACK, .offset = (int32_t)a->stack + 8,
					.size = (uint16_t)size });
	a->stack += ALIGN_UP(size, 8);
}

/* In registers, if there are enough of them for all of it. */
static bool place_registers(const struct type *t, const enum eightbyte c[2], bool whole,
			    struct assigned *a, struct place *ret)
{
	unsigned int integers = 0, vectors = 0;

	for (int i = 0; i < 2; i++) {
		integers += c[i] == CLASS_INTEGER;
		vectors += c[i] == CLASS_SSE && !(i && whole);
	}
	if (a->general + integers > GENERAL_MAX || a->vector + vectors > VECTOR_MAX)
		return false;
	ret->kind = PLACE_PIECES;
	for (int i = 0; i < 2; i++) {
		uint64_t size = whole ? t->size : MIN(8, t->size - 8 * i);

		if (c[i] == CLASS_INTEGER)
			place_class(ret, c[i], general[a->general++], 8 * i, size);
		else if (c[i] == CLASS_SSE && !(i && whole))
			place_class(ret, c[i], a->vector++, 8 * i, size);
	}
	return true;
}

/* The next register, or the next word of the stack. */
static void place_word(struct assigned *a, uint16_t at, struct place *ret)
{
	if (a->general < GENERAL_MAX) {
		place_class(ret, CLASS_INTEGER, general[a->general++], at, 8);
		return;
	}
	place_add(ret, &(struct piece){ .from = FROM_STACK, .offset = (int32_t)a->stack + 8,
					.at = at, .size = 8 });
	a->stack += 8;
}

static void place_param(const struct signature *s, uint32_t type, struct assigned *a,
			struct place *ret)
{
	const struct type *t = signature_type_at(s, type);
	enum eightbyte c[2] = { CLASS_NONE, CLASS_NONE };

	*ret = (struct place){ .kind = PLACE_UNKNOWN };
	if (t->flags & TYPE_INDIRECT) {
		ret->kind = PLACE_POINTED;
		place_word(a, 0, ret);
		return;
	}
	if (t->kind == TYPE_INT && t->size == 16 && s->halves) {
		ret->kind = PLACE_PIECES;
		place_word(a, 0, ret);
		place_word(a, 8, ret);
		return;
	}
	if (t->kind == TYPE_VECTOR && t->size > 16) {
		a->lost = true;		/* it depends on the instructions that may be used */
		return;
	}
	if (t->size > 16) {
		place_stack(s, type, a, ret);
		return;
	}
	if ((!t->size && t->kind != TYPE_STRUCT && t->kind != TYPE_UNION) ||
	    !classify(s, type, 0, c, 0)) {
		a->lost = true;
		return;
	}
	settle_classes(c);
	if (c[0] == CLASS_NONE && c[1] == CLASS_NONE)
		ret->kind = PLACE_NOWHERE;
	else if (c[0] == CLASS_MEMORY || c[0] == CLASS_X87 ||
		 !place_registers(t, c, is_vector(s, t, 0), a, ret))
		place_stack(s, type, a, ret);
}

/* ---- the result ---------------------------------------------------------- */

/* In rax, rdx; xmm0, xmm1; st0, st1. */
static void place_result_registers(const struct type *t, const enum eightbyte c[2], bool whole,
				   struct place *ret)
{
	static const uint8_t integers[] = { RAX, RDX };
	unsigned int general_used = 0, vector_used = 0;

	ret->kind = PLACE_PIECES;
	if (c[0] == CLASS_X87) {
		place_add(ret, &(struct piece){ .from = FROM_X87, .size = 10 });
		return;
	}
	for (int i = 0; i < 2; i++) {
		uint64_t size = whole ? t->size : MIN(8, t->size - 8 * i);

		if (c[i] == CLASS_INTEGER)
			place_class(ret, c[i], integers[general_used++], 8 * i, size);
		else if (c[i] == CLASS_SSE && !(i && whole))
			place_class(ret, c[i], vector_used++, 8 * i, size);
	}
}

/* Of a value in memory: the pointer to it is in rax. It also takes rdi at the entry. */
static void place_result(const struct signature *s, struct assigned *a, struct place *ret)
{
	const struct type *t = signature_type_at(s, s->result.type);
	enum eightbyte c[2] = { CLASS_NONE, CLASS_NONE };
	bool known = true;

	*ret = (struct place){ .kind = PLACE_NOWHERE };
	if (t->kind == TYPE_VOID)
		return;
	if (t->kind == TYPE_VECTOR && t->size > 16) {
		*ret = (struct place){ .kind = PLACE_UNKNOWN };
		return;
	}
	if (t->kind == TYPE_COMPLEX && t->size == 32) {
		ret->kind = PLACE_PIECES;
		for (unsigned int i = 0; i < 2; i++)
			place_add(ret, &(struct piece){ .from = FROM_X87, .number = i,
							.at = 16 * i, .size = 10 });
		return;
	}
	if (t->size > 16 || t->flags & TYPE_INDIRECT)
		c[0] = CLASS_MEMORY;
	else
		known = classify(s, s->result.type, 0, c, 0);
	settle_classes(c);
	if (!known) {
		ret->kind = PLACE_UNKNOWN;
		a->lost = t->kind == TYPE_STRUCT || t->kind == TYPE_UNION ||
			t->kind == TYPE_UNKNOWN;
	} else if (c[0] == CLASS_MEMORY) {
		ret->kind = PLACE_POINTED;
		place_class(ret, CLASS_INTEGER, RAX, 0, 8);
		a->general++;
	} else if (c[0] != CLASS_NONE || c[1] != CLASS_NONE) {
		place_result_registers(t, c, is_vector(s, t, 0), ret);
	}
}

static void place_all(const struct signature *s, struct place params[PARAMS_MAX],
		      struct place *result)
{
	struct assigned a = { 0 };

	place_result(s, &a, result);
	for (size_t i = 0; i < s->nparams; i++) {
		params[i] = (struct place){ .kind = PLACE_UNKNOWN };
		if (!a.lost)
			place_param(s, s->params[i].type, &a, &params[i]);
	}
}

/* Registers: psABI, figure 3.36. */
static const struct registers registers_rust = {
	general, GENERAL_MAX, VECTOR_MAX, { RAX, RDX }, 8,
};

/* rax, rbx, rcx, rdi, rsi, r8 to r11 */
static const uint8_t general_go[] = { 0, 3, 2, 5, 4, 8, 9, 10, 11 };
static const struct registers registers_go = {
	general_go, ARRAY_SIZE(general_go), 15, { RAX, 3 }, 8,
};

const struct convention convention_x86_64 = {
	place_all, { 7, 6, 17, 16, 16 }, true, &registers_rust, &registers_go,
};
