/* SPDX-License-Identifier: MIT */
/* shapes_go: strings, slices and interfaces of Go, which have one structure each. */
#include <string.h>

#include "values/shapes.h"

static const struct member *named(const struct signature *s, const struct type *t, uint32_t i,
				  const char *name, uint8_t kind)
{
	const struct member *m = signature_member_at(s, t, i);

	return m && !m->bits && !strcmp(signature_name_at(s, m->name), name) &&
		signature_type_at(s, m->type)->kind == kind &&
		signature_type_at(s, m->type)->size == 8 ? m : NULL;
}

static bool find_run(const struct signature *s, struct type *t, const char *pointer, uint8_t shape)
{
	const struct member *p = named(s, t, 0, pointer, TYPE_POINTER);
	const struct member *n = named(s, t, 1, "len", TYPE_INT);

	if (!p || !n)
		return false;
	t->shape = shape;
	t->pointer_at = p->at;
	t->length_at = n->at;
	t->of = signature_type_at(s, p->type)->of;
	return true;
}

static bool find_interface(const struct signature *s, struct type *t)
{
	const struct member *data = named(s, t, 1, "data", TYPE_POINTER);
	const struct member *tab = named(s, t, 0, "tab", TYPE_POINTER) ?:
		named(s, t, 0, "_type", TYPE_POINTER);

	if (!data || !tab)
		return false;
	t->shape = SHAPE_INTERFACE;
	t->pointer_at = data->at;
	t->length_at = tab->at;
	t->of = data->type;
	return true;
}

void shape_find_go(struct signature *s, uint32_t type)
{
	struct type *t = &s->types[type];

	if (t->kind != TYPE_STRUCT || t->flags & TYPE_OPAQUE)
		return;
	if (t->n == 3)
		(void)(named(s, t, 2, "cap", TYPE_INT) && find_run(s, t, "array", SHAPE_SPAN));
	else if (t->n == 2 && !find_run(s, t, "str", SHAPE_TEXT))
		find_interface(s, t);
}
