/* SPDX-License-Identifier: MIT */
/* text_rust: structures, tuples and enums of Rust. */
#include <stdio.h>
#include <string.h>

#include "values/printing.h"

enum { MEMBERS_SHOWN = 64 };

/* Its own name, without paths and type arguments; a tuple has none. */
static int own_name(const char *name)
{
	return *name == '(' ? 0 : (int)strcspn(name, "<");
}

/* Members of tuples have numbers. */
static bool is_tuple(const struct signature *s, const struct type *t)
{
	const struct member *m = signature_member_at(s, t, 0);

	return m && !strncmp(signature_name_at(s, m->name), "__", 2);
}

static void print_members(const struct printing *p, const struct type *t, bool tuple,
			  struct spot s, unsigned int nested)
{
	const struct signature *sig = p->c->signature;

	for (uint32_t i = 0; i < t->n && i < MEMBERS_SHOWN; i++) {
		const struct member *m = signature_member_at(sig, t, i);

		if (!m)
			return;
		line_add(p->t, "%s", i ? ", " : "");
		if (!tuple)
			line_add(p->t, "%s: ", signature_name_at(sig, m->name));
		p->value(p, m->type, spot_beyond(s, m->at), nested + 1);
	}
}

void rust_struct(const struct printing *p, const struct type *t, const char *before,
		 struct spot s, unsigned int nested)
{
	const char *name = signature_name_at(p->c->signature, t->name);
	bool tuple = is_tuple(p->c->signature, t);
	bool more = t->flags & TYPE_OPAQUE || t->n > MEMBERS_SHOWN;
	int length = own_name(name);

	line_add(p->t, "%s%.*s", before, length, name);
	if (!t->n && !more) {
		line_add(p->t, "%s", length ? "" : "()");
		return;
	}
	line_add(p->t, "%s", tuple ? "(" : length ? " { " : "{ ");
	print_members(p, t, tuple, s, nested);
	if (more)
		line_add(p->t, "%s..", t->n ? ", " : "");
	else if (tuple && t->n == 1 && !length)
		line_add(p->t, ",");
	line_add(p->t, "%s", tuple ? ")" : " }");
}

/* ---- enums --------------------------------------------------------------- */

/* Of the numbers as they are in memory. */
static bool is_number(const struct enumerator *e, uint64_t number, uint64_t size)
{
	uint64_t mask = size >= 8 ? UINT64_MAX : (1ull << (8 * size)) - 1;

	return ((uint64_t)e->value & mask) == (number & mask);
}

/* Which variant is there; NULL: none has that number. */
static const struct member *find_variant(const struct signature *s, const struct type *t,
					 uint64_t number, uint64_t size)
{
	const struct member *otherwise = NULL;

	for (uint32_t i = 0; i < t->n; i++) {
		const struct member *m = signature_member_at(s, t, i);
		const struct enumerator *e = variant_number(s, t, i);

		if (e && is_number(e, number, size))
			return m;
		if (m && !e)
			otherwise = m;
	}
	return otherwise;
}

/* Those of the prelude are known without the enum's name. */
static bool is_prelude(const char *name)
{
	return !strncmp(name, "Option<", 7) || !strncmp(name, "Result<", 7);
}

static void print_variant(const struct printing *p, const struct type *t, const struct member *m,
			  struct spot s, unsigned int nested)
{
	const struct signature *sig = p->c->signature;
	const struct type *of = signature_type_at(sig, m->type);
	const char *name = signature_name_at(sig, t->name);
	char before[128] = "";

	if (!is_prelude(name) && own_name(name))
		snprintf(before, sizeof(before), "%.*s::", own_name(name), name);
	if (of->kind == TYPE_STRUCT)
		rust_struct(p, of, before, spot_beyond(s, m->at), nested + 1);
	else
		line_add(p->t, "%s%s", before, signature_name_at(sig, m->name));
}

void rust_variants(const struct printing *p, const struct type *t, struct spot s,
		   unsigned int nested)
{
	const struct signature *sig = p->c->signature;
	const struct type *of = signature_type_at(sig, t->of);
	uint64_t size = of->kind == TYPE_VOID ? 0 : MIN(of->size, 8);
	uint8_t bytes[8] = { 0 };
	enum held held = size ? capture_take(p->c, spot_beyond(s, t->pointer_at), (uint32_t)size,
					     bytes) : HELD;
	uint64_t number;

	memcpy(&number, bytes, sizeof(number));
	const struct member *m = held == HELD ? find_variant(sig, t, number, size) : NULL;

	if (held != HELD)
		line_missing(p->t, held);
	else if (!m || nested > 2 * NESTED_MAX)
		line_add(p->t, "%.*s { .. }", own_name(signature_name_at(sig, t->name)),
			 signature_name_at(sig, t->name));
	else
		print_variant(p, t, m, s, nested);
}
