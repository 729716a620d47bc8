/* SPDX-License-Identifier: MIT */
#include "values/shapes.h"

#include <string.h>

enum { ANY = 0xff, TEXT_LIBCXX_SIZE = 24, TEXT_LIBCXX_POINTER = 16, TEXT_LIBCXX_LENGTH = 8 };

struct found {
	const struct type *type;
	uint32_t at;
};

/* What libraries have their members in, and no user has: names that are reserved. */
static bool is_wrapper(const char *name)
{
	static const char *const names[] = {
		"_M_impl", "_M_dataplus", "_M_t", "_M_payload", "__r_", "__value_", "__ptr_",
		"__end_cap_", "__rep_", "__l",
	};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (!strcmp(name, names[i]))
			return true;
	return !*name;
}

/* A member of that name, in the class itself, its bases, or what libraries wrap it in. */
static bool find_within(const struct signature *s, const struct type *t, const char *name,
			uint8_t kind, uint32_t at, unsigned int depth, struct found *ret)
{
	for (uint32_t i = 0; i < t->n; i++) {
		const struct member *m = signature_member_at(s, t, i);
		const char *its = m ? signature_name_at(s, m->name) : "";
		const struct type *of = m ? signature_type_at(s, m->type) : NULL;

		if (!m || m->bits)
			continue;
		if (!strcmp(its, name) && (kind == ANY || of->kind == kind)) {
			*ret = (struct found){ of, at + m->at };
			return true;
		}
		if ((of->kind == TYPE_STRUCT || of->kind == TYPE_UNION) && depth < NESTED_MAX &&
		    (m->flags & MEMBER_BASE || is_wrapper(its)) &&
		    find_within(s, of, name, kind, at + m->at, depth + 1, ret))
			return true;
	}
	return false;
}

static bool find(const struct signature *s, const struct type *t, const char *name,
		 struct found *ret)
{
	return find_within(s, t, name, ANY, 0, 0, ret);
}

static bool find_pointer(const struct signature *s, const struct type *t, const char *name,
			 struct found *ret)
{
	return find_within(s, t, name, TYPE_POINTER, 0, 0, ret);
}

static bool is_pointer(const struct found *f)
{
	return f->type->kind == TYPE_POINTER;
}

static bool is_length(const struct found *f)
{
	return f->type->kind == TYPE_INT && f->type->size == 8;
}

/* To characters of one byte. */
static bool is_text_pointer(const struct signature *s, const struct found *f)
{
	const struct type *of = signature_type_at(s, f->type->of);

	return is_pointer(f) && of->size == 1 && (of->kind == TYPE_CHAR || of->kind == TYPE_INT);
}

static void set_shape(struct type *t, uint8_t shape, const struct found *pointer,
		      const struct found *length, uint32_t of)
{
	t->shape = shape;
	t->pointer_at = pointer->at;
	t->length_at = length ? length->at : 0;
	t->of = of;
}

/* ---- libstdc++ ----------------------------------------------------------- */

/* Of libstdc++ the text that is copied on write has no length beside its pointer. */
static bool find_text(const struct signature *s, struct type *t)
{
	struct found plus, p, n;

	if (!find(s, t, "_M_dataplus", &plus) || !find(s, t, "_M_p", &p) ||
	    !is_text_pointer(s, &p))
		return false;
	if (find(s, t, "_M_string_length", &n) && is_length(&n))
		set_shape(t, SHAPE_TEXT, &p, &n, p.type->of);
	else if (t->size == 8)
		set_shape(t, SHAPE_TEXT_COW, &p, NULL, p.type->of);
	return t->shape;
}

/* A pointer and a length, by these names; text if `text`, or if it is to plain characters. */
static bool find_pair(const struct signature *s, struct type *t, const char *pointer,
		      const char *length, bool text)
{
	struct found p, n;

	if (!find(s, t, pointer, &p) || !find(s, t, length, &n) || !is_pointer(&p) ||
	    !is_length(&n))
		return false;
	if (text && !is_text_pointer(s, &p))
		return false;
	set_shape(t, text ? SHAPE_TEXT : SHAPE_SPAN, &p, &n, p.type->of);
	return true;
}

static bool find_vector(const struct signature *s, struct type *t, const char *begin,
			const char *end)
{
	struct found p, n;

	if (!find(s, t, begin, &p) || !find(s, t, end, &n) || !is_pointer(&p) || !is_pointer(&n) ||
	    p.type->of != n.type->of)
		return false;
	set_shape(t, SHAPE_VECTOR, &p, &n, p.type->of);
	return true;
}

static bool find_optional(const struct signature *s, struct type *t,
			  const char *value, const char *there)
{
	struct found v, n;

	if (!find(s, t, value, &v) || !find(s, t, there, &n) || n.type->kind != TYPE_BOOL)
		return false;
	set_shape(t, SHAPE_OPTIONAL, &v, &n, (uint32_t)(v.type - s->types));
	return true;
}

/* One that others share has what counts them beside it. */
static bool find_owner(const struct signature *s, struct type *t)
{
	struct found p, n;
	const char *name = signature_name_at(s, t->name);

	if ((find_pointer(s, t, "_M_ptr", &p) && find(s, t, "_M_refcount", &n)) ||
	    (find_pointer(s, t, "__ptr_", &p) && find(s, t, "__cntrl_", &n)) ||
	    (!strncmp(name, "unique_ptr<", 11) && t->size == 8 &&
	     (find_pointer(s, t, "_M_head_impl", &p) || find_pointer(s, t, "__value_", &p) ||
	      find_pointer(s, t, "__ptr_", &p))))
		set_shape(t, SHAPE_OWNER, &p, NULL, p.type->of);
	return t->shape;
}

/* ---- libc++ -------------------------------------------------------------- */

/* Its usual layout, where the lowest bit of the first byte says that it is long. */
static bool find_libcxx_text(const struct signature *s, struct type *t)
{
	struct found l, p, n;

	if (t->size != TEXT_LIBCXX_SIZE || !find(s, t, "__l", &l) ||
	    !find(s, l.type, "__data_", &p) || !find(s, l.type, "__size_", &n) ||
	    !is_text_pointer(s, &p) || l.at || p.at != TEXT_LIBCXX_POINTER ||
	    n.at != TEXT_LIBCXX_LENGTH)
		return false;
	set_shape(t, SHAPE_TEXT_LIBCXX, &p, &n, p.type->of);
	return true;
}

/* -------------------------------------------------------------------------- */

/* clang leaves out the class that libstdc++ has the pointer in, which is all of that. */
static bool find_text_bare(struct signature *s, uint32_t type)
{
	struct type *t = &s->types[type];
	struct found p, n, local;

	if (!find(s, t, "_M_dataplus", &p) || !find(s, t, "_M_local_buf", &local) ||
	    local.type->kind != TYPE_ARRAY ||
	    signature_type_at(s, local.type->of)->kind != TYPE_CHAR ||
	    signature_type_at(s, local.type->of)->size != 1 ||
	    !(p.type->flags & TYPE_OPAQUE) || p.at || !find(s, t, "_M_string_length", &n) ||
	    !is_length(&n) || n.at != 8)
		return false;
	uint32_t of = signature_type(s, &(struct type){ .kind = TYPE_CHAR, .size = 1 });

	set_shape(&s->types[type], SHAPE_TEXT, &p, &n, of);
	return of;
}

void shape_find(struct signature *s, uint32_t type)
{
	struct type *t = &s->types[type];

	if (t->kind != TYPE_STRUCT || !t->n || find_text_bare(s, type))
		return;
	t = &s->types[type];
	(void)(find_text(s, t) || find_libcxx_text(s, t) ||
	       find_pair(s, t, "_M_str", "_M_len", true) ||
	       find_pair(s, t, "__data_", "__size_", true) ||
	       find_pair(s, t, "__data", "__size", true) ||
	       find_vector(s, t, "_M_start", "_M_finish") ||
	       find_vector(s, t, "__begin_", "__end_") ||
	       find_optional(s, t, "_M_value", "_M_engaged") ||
	       find_optional(s, t, "__val_", "__engaged_") || find_owner(s, t));
}
