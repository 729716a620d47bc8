/* SPDX-License-Identifier: MIT */
#include "values/signature.h"

#include <errno.h>
#include <string.h>

int signature_begin(struct signature *s, uint16_t machine)
{
	*s = (struct signature){ .machine = machine };
	char *c = vec_push(s->text, s->ntext, s->text_cap);
	struct type *t = vec_push(s->types, s->ntypes, s->types_cap);

	if (!c || !t) {
		signature_clear(s);
		return -ENOMEM;
	}
	t->kind = TYPE_VOID;
	return 0;
}

void signature_clear(struct signature *s)
{
	free(s->types);
	free(s->members);
	free(s->enumerators);
	free(s->text);
	*s = (struct signature){ 0 };
}

uint32_t signature_text(struct signature *s, const char *text)
{
	size_t n = text ? strlen(text) + 1 : 0, at = s->ntext;

	if (n < 2)
		return 0;
	if (at + n > TEXT_MAX) {
		s->out_of_memory = true;
		return 0;
	}
	while (s->text_cap < at + n)
		if (base_grow((void **)&s->text, &s->text_cap, 1)) {
			s->out_of_memory = true;
			return 0;
		}
	memcpy(s->text + at, text, n);
	s->ntext += n;
	return at;
}

uint32_t signature_type(struct signature *s, const struct type *t)
{
	struct type *made = s->ntypes < TYPES_MAX ?
		vec_push(s->types, s->ntypes, s->types_cap) : NULL;

	if (!made) {
		s->out_of_memory = true;
		return 0;
	}
	*made = *t;
	return s->ntypes - 1;
}

bool signature_member(struct signature *s, const struct member *m)
{
	struct member *made = s->nmembers < MEMBERS_MAX ?
		vec_push(s->members, s->nmembers, s->members_cap) : NULL;

	if (made)
		*made = *m;
	s->out_of_memory |= !made;
	return made;
}

bool signature_enumerator(struct signature *s, int64_t value, const char *name)
{
	struct enumerator *made = s->nenumerators < ENUMERATORS_MAX ?
		vec_push(s->enumerators, s->nenumerators, s->enumerators_cap) : NULL;

	if (made)
		*made = (struct enumerator){ .value = value, .name = signature_text(s, name) };
	s->out_of_memory |= !made;
	return made;
}

const struct type *signature_type_at(const struct signature *s, uint32_t i)
{
	return &s->types[i < s->ntypes ? i : 0];
}

const char *signature_name_at(const struct signature *s, uint32_t i)
{
	return i < s->ntext ? s->text + i : "";
}

const struct member *signature_member_at(const struct signature *s, const struct type *t,
					 uint32_t i)
{
	uint64_t at = (uint64_t)t->first + i;

	return i < t->n && at < s->nmembers ? &s->members[at] : NULL;
}

const struct enumerator *signature_enumerator_at(const struct signature *s, const struct type *t,
						 uint32_t i)
{
	uint64_t at = (uint64_t)t->first + i;

	return i < t->n && at < s->nenumerators ? &s->enumerators[at] : NULL;
}

const struct enumerator *variant_number(const struct signature *s, const struct type *t,
					uint32_t i)
{
	const struct member *m = signature_member_at(s, t, i);
	uint64_t at = (uint64_t)t->length_at + i;

	return m && !(m->flags & MEMBER_OTHERWISE) && at < s->nenumerators ?
		&s->enumerators[at] : NULL;
}

bool type_is_scalar(const struct type *t)
{
	return t->kind == TYPE_INT || t->kind == TYPE_CHAR || t->kind == TYPE_BOOL ||
		t->kind == TYPE_ENUM || t->kind == TYPE_POINTER || t->kind == TYPE_REFERENCE ||
		t->kind == TYPE_CODE;
}

bool type_is_transparent(const struct type *t)
{
	return t->kind == TYPE_UNION && !t->n && t->size == 8 && !(t->flags & TYPE_OPAQUE);
}

static uint32_t align_within(const struct signature *s, uint32_t index, unsigned int depth)
{
	const struct type *t = signature_type_at(s, index);
	uint32_t align = 1;

	if (t->align && !(t->align & (t->align - 1)))
		return t->align;
	switch (t->kind) {
	case TYPE_VARIANTS:
		align = align_within(s, t->of, NESTED_MAX);
		/* fall through */
	case TYPE_STRUCT:
	case TYPE_UNION:
		for (uint32_t i = 0; i < t->n && depth < NESTED_MAX; i++) {
			const struct member *m = signature_member_at(s, t, i);
			uint32_t a = m ? align_within(s, m->type, depth + 1) : 1;

			/* One that is packed lies, or ends, where the alignment would not. */
			if (m && !m->bits && m->at % a == 0 && t->size % a == 0)
				align = MAX(align, a);
			else if (m && t->size % a == 0)
				align = MAX(align, m->bits ? a : 1);
		}
		return align;
	case TYPE_ARRAY:
		return depth < NESTED_MAX ? align_within(s, t->of, depth + 1) : 1;
	case TYPE_COMPLEX:
		return MAX(1, t->size / 2);
	default:
		/* As wide as they are: 16 bytes of long double, too. */
		return t->size && !(t->size & (t->size - 1)) && t->size <= 64 ? t->size : 1;
	}
}

uint32_t signature_align(const struct signature *s, uint32_t type)
{
	return align_within(s, type, 0);
}
