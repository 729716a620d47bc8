/* SPDX-License-Identifier: MIT */
/* results: a function of Go has any number of results, each of which is told as a parameter that
 * is variable. Several are members of one structure, which is nowhere in memory, and are called as
 * those of a tuple of Rust's. */
#include <dwarf.h>
#include <stdio.h>

#include "symbols/types/build.h"

bool is_go_result(struct building *b, Dwarf_Die *param)
{
	return b->unit->language == LANGUAGE_GO && die_flag(param, DW_AT_variable_parameter);
}

bool results_has(const struct results *r, const char *name)
{
	size_t n;

	return name && sscanf(name, "~r%zu", &n) == 1 && n < r->n;
}

bool results_add(struct building *b, Dwarf_Die *param, struct results *r)
{
	struct member *m = &r->v[r->n];

	if (r->n == RESULTS_MAX)
		return false;
	m->type = build_type_of(b, param);
	const struct type *t = signature_type_at(b->s, m->type);
	uint64_t at = ALIGN_UP(r->size, (uint64_t)signature_align(b->s, m->type));

	if (t->size > UINT16_MAX || at > UINT16_MAX)
		return false;
	m->at = (uint32_t)at;
	r->size = at + t->size;
	r->n++;
	return true;
}

uint32_t results_type(struct building *b, const struct results *r)
{
	char name[24];
	struct type t = { .kind = TYPE_STRUCT, .size = r->size, .n = (uint32_t)r->n,
			  .first = (uint32_t)b->s->nmembers,
			  .name = r->n > 1 ? signature_text(b->s, "(") : 0 };

	if (r->n < 2)
		return r->n ? r->v[0].type : 0;
	for (size_t i = 0; i < r->n; i++) {
		struct member m = r->v[i];

		snprintf(name, sizeof(name), "__%zu", i);
		m.name = signature_text(b->s, name);
		if (!signature_member(b->s, &m))
			return 0;
	}
	return signature_type(b->s, &t);
}
