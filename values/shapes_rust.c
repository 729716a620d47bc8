/* SPDX-License-Identifier: MIT */
/* shapes_rust: strings, slices and vectors of Rust: text, or a pointer and a number of elements. */
#include <string.h>

#include "values/shapes.h"

enum { WRAPPED_MAX = 6 };	/* structures around Vec's pointer, and around its bytes */

static const struct member *find_member(const struct signature *s, const struct type *t,
					const char *name)
{
	for (uint32_t i = 0; i < t->n; i++) {
		const struct member *m = signature_member_at(s, t, i);

		if (m && !strcmp(signature_name_at(s, m->name), name))
			return m;
	}
	return NULL;
}

static bool is_length(const struct signature *s, const struct member *m)
{
	const struct type *t = m ? signature_type_at(s, m->type) : NULL;

	return t && t->kind == TYPE_INT && t->size == 8;
}

static bool is_byte(const struct type *t)
{
	return t->kind == TYPE_INT && t->size == 1 && !(t->flags & TYPE_SIGNED);
}

/* "&str", "*const str", "alloc::boxed::Box<str>": not "&[u8]", which has the same members. */
static bool is_str(const char *name)
{
	size_t n = strcspn(name, ">,");

	return n >= 3 && !strncmp(name + n - 3, "str", 3) && !memchr(name, '[', n) &&
		(n == 3 || strchr("& <", name[n - 4]));
}

/* "&[T]", "*const [T]", "alloc::boxed::Box<[T]>": not "*const alloc::rc::RcInner<[T]>". */
static bool is_list(const char *name)
{
	const char *at = strchr(name, '[');
	size_t n = at ? (size_t)(at - name) : 0;

	return n && (at[-1] != '<' || (n >= 4 && !strncmp(at - 4, "Box<", 4)));
}

/* A pointer to what has no size of its own has the number of elements beside it: those of a
 * structure are the last member's. */
static bool find_wide(struct signature *s, struct type *t)
{
	const struct member *p = find_member(s, t, "data_ptr"), *n = find_member(s, t, "length");
	const struct type *pointer = p ? signature_type_at(s, p->type) : NULL;

	if (!p || t->n != 2 || t->size != 16 || !is_length(s, n) ||
	    (pointer->kind != TYPE_POINTER && pointer->kind != TYPE_REFERENCE) ||
	    (signature_type_at(s, pointer->of)->kind == TYPE_STRUCT &&
	     !is_list(signature_name_at(s, t->name))))
		return false;
	t->shape = is_byte(signature_type_at(s, pointer->of)) &&
		is_str(signature_name_at(s, t->name)) ? SHAPE_TEXT : SHAPE_SPAN;
	t->pointer_at = p->at;
	t->length_at = n->at;
	t->of = pointer->of;
	return true;
}

/* The pointer of a Vec is within buf.inner.ptr.pointer.pointer, or fewer of these. */
static const struct type *find_pointer(const struct signature *s, const struct member *m,
				       uint32_t *at)
{
	static const char *const names[] = { "inner", "ptr", "pointer", "__0" };

	*at = 0;
	for (int depth = 0; m && depth < WRAPPED_MAX; depth++) {
		const struct type *t = signature_type_at(s, m->type);
		const struct member *next = NULL;

		*at += m->at;
		if (t->kind == TYPE_POINTER || t->kind == TYPE_REFERENCE)
			return t;
		for (size_t i = 0; i < ARRAY_SIZE(names) && !next && t->kind == TYPE_STRUCT; i++)
			next = find_member(s, t, names[i]);
		m = next;
	}
	return NULL;
}

/* What is in it is told by the type argument: newer versions have a pointer to bytes. */
static bool find_vec(struct signature *s, struct type *t)
{
	const struct member *buf = find_member(s, t, "buf"), *n = find_member(s, t, "len");
	uint32_t at;

	if (!buf || t->n != 2 || !is_length(s, n) || !find_pointer(s, buf, &at))
		return false;
	t->shape = SHAPE_SPAN;
	t->pointer_at = at;
	t->length_at = n->at;
	return true;
}

/* String, and in some structures more OsString and PathBuf, are a Vec of bytes. */
static void find_string(struct signature *s, struct type *t)
{
	static const char *const names[] = { "String", "OsString", "PathBuf", "Buf" };
	const struct member *m = signature_member_at(s, t, 0);
	const struct type *of = m ? signature_type_at(s, m->type) : NULL;
	const char *name = signature_name_at(s, t->name);
	bool named = false;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		named |= !strcmp(name, names[i]);
	if (!named || t->n != 1 || m->at || of->size != t->size ||
	    (of->shape != SHAPE_TEXT && of->shape != SHAPE_SPAN) ||
	    !is_byte(signature_type_at(s, of->of)))
		return;
	t->shape = SHAPE_TEXT;
	t->pointer_at = of->pointer_at;
	t->length_at = of->length_at;
	t->of = of->of;
}

static void set_inner(struct type *t, const struct member *m)
{
	t->shape = SHAPE_INNER;
	t->pointer_at = m->at;
	t->of = m->type;
}

/* A pointer to what has the functions of a trait: what it is of is not told. */
static bool find_object(const struct signature *s, struct type *t)
{
	const struct member *p = find_member(s, t, "pointer"), *v = find_member(s, t, "vtable");

	if (!p || !v || t->n != 2 || t->size != 16)
		return false;
	set_inner(t, p);
	return true;
}

/* Rc and Arc point to the value and what counts them. */
static bool find_counted(const struct signature *s, struct type *t)
{
	const struct member *strong = find_member(s, t, "strong"), *weak = find_member(s, t, "weak");
	const struct member *m = find_member(s, t, "value") ?: find_member(s, t, "data");

	if (!strong || !weak || !m || t->n != 3)
		return false;
	set_inner(t, m);
	return true;
}

static bool find_owner(const struct signature *s, struct type *t)
{
	const struct member *m = find_member(s, t, "ptr");
	const char *name = signature_name_at(s, t->name);
	const struct type *pointer;
	uint32_t at;

	if ((strncmp(name, "Rc<", 3) && strncmp(name, "Arc<", 4)) || t->size != 8 || !m ||
	    !(pointer = find_pointer(s, m, &at)))
		return false;
	t->shape = SHAPE_OWNER;
	t->pointer_at = at;
	t->of = pointer->of;
	return true;
}

/* A number that is never 0 is shown as a number. */
static bool find_nonzero(struct signature *s, struct type *t)
{
	const struct member *m = signature_member_at(s, t, 0);
	const struct type *of = m ? signature_type_at(s, m->type) : NULL;

	if (t->n != 1 || m->at || strncmp(signature_name_at(s, t->name), "NonZero", 7) ||
	    of->size != t->size || (of->kind != TYPE_INT && of->shape != SHAPE_INNER))
		return false;
	set_inner(t, m);
	return true;
}

bool shape_find_rust(struct signature *s, uint32_t type)
{
	struct type *t = &s->types[type];

	if (t->kind != TYPE_STRUCT || t->flags & TYPE_OPAQUE || find_wide(s, t))
		return false;
	if (find_vec(s, t))
		return true;
	if (!find_object(s, t) && !find_counted(s, t) && !find_owner(s, t) && !find_nonzero(s, t))
		find_string(s, t);
	return false;
}

void shape_elements(struct signature *s, uint32_t type, uint32_t of)
{
	struct type *t = &s->types[type];

	t->of = of;
	if (!of)
		t->shape = SHAPE_NONE;
}
