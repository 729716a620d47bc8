/* SPDX-License-Identifier: MIT */
#include "symbols/types/doubts.h"

#include <dwarf.h>
#include <string.h>

#include "symbols/names/demangle.h"
#include "symbols/types/build.h"

/* The first version of LLVM that marks functions whose result or parameters it has taken away, if
 * a function has no declaration of its own. */
enum { LLVM_TELLS = 16 };

/* ---- what the debug information says ------------------------------------- */

static bool is_clone(const char *raw)
{
	static const char *const marks[] = {
		".isra.", ".constprop.", ".part.", ".abi0",
		/* Of coroutines: they get nothing but their frame. */
		".resume", ".destroy", ".cleanup",
	};

	for (size_t i = 0; i < ARRAY_SIZE(marks); i++)
		if (strstr(raw, marks[i]))
			return true;
	return false;
}

static bool has_named(const struct signature *s, const char *name)
{
	for (size_t i = 0; i < s->nparams; i++)
		if (!strcmp(signature_name_at(s, s->params[i].name), name))
			return true;
	return false;
}

/* Generic functions of Go get a table of their types first, of which nothing is told where they are
 * optimised. */
static bool has_hidden_table(const struct doubted *d)
{
	return d->unit->language == LANGUAGE_GO && strstr(d->func->raw, "[go.shape.") &&
		!has_named(d->s, ".dict");
}

static bool is_narrow_float(const struct signature *s, const struct parameter *p)
{
	const struct type *t = signature_type_at(s, p->type);

	return t->kind == TYPE_FLOAT && t->size < 8;
}

/* C without a prototype passed a float as a double. */
static bool promotes(const struct doubted *d)
{
	bool ret = false;

	for (size_t i = 0; i < d->s->nparams; i++)
		ret |= is_narrow_float(d->s, &d->s->params[i]);
	return ret && d->unit->language == LANGUAGE_C && !d->unit->is_cxx &&
		!die_flag(d->die, DW_AT_prototyped);
}

/* The debug information has where the double comes in, as if it were the float. */
static void doubt_promoted(struct doubted *d)
{
	for (size_t i = 0; i < d->s->nparams; i++)
		if (is_narrow_float(d->s, &d->s->params[i]))
			d->s->params[i].place = (struct place){ .kind = PLACE_UNKNOWN };
}

/* Does it not follow its declaration? */
static bool is_unusual(const struct doubted *d)
{
	uint64_t convention = DW_CC_normal;

	die_number(d->die, DW_AT_calling_convention, &convention);
	return is_clone(d->func->raw) || has_hidden_table(d) ||
		d->unit->language == LANGUAGE_OTHER ||
		(convention != DW_CC_normal && convention != DW_CC_program);
}

/* It did where it has a list, and by itself it does in all but very large functions. */
static bool follows_variables(const struct doubted *d)
{
	enum { NOT_LARGE = 16 << 10 };

	return units_has_lists(d->die) ||
		(!d->unit->is_told_otherwise && range_size(d->func->range) < NOT_LARGE);
}

/*
 * Where gcc does not follow variables through a function it has of a parameter the register that
 * the prologue moves it to, told of all the code. Where it comes in the convention says, if it has
 * one.
 */
static void doubt_moved(struct doubted *d)
{
	bool gcc = !d->unit->clang && d->unit->language != LANGUAGE_GO, any = false;

	for (size_t i = 0; i < d->s->nparams; i++)
		any |= d->s->params[i].place.always;
	if (!gcc || !any || (d->s->own_convention && follows_variables(d)))
		return;
	for (size_t i = 0; i < d->s->nparams; i++)
		if (d->s->params[i].place.always)
			d->s->params[i].place = (struct place){ .kind = PLACE_BY_TYPE };
}

/* Go's compiler leaves out what is between the members of a value in pieces, so that those behind
 * it are told too early, or has it twice, which makes more bytes than the type has. At the entry
 * the convention says. */
static void doubt_padded(struct signature *s)
{
	for (size_t i = 0; i < s->nparams && s->language == LANGUAGE_GO; i++) {
		struct place *p = &s->params[i].place;
		const struct piece *last = p->n ? &p->pieces[p->n - 1] : NULL;

		p->packed = p->kind == PLACE_UNKNOWN || (p->kind == PLACE_PIECES && last &&
			last->at + last->size < signature_type_at(s, s->params[i].type)->size);
	}
}

/* ---- what it does not say ------------------------------------------------ */

/* rustc does not say so. */
static bool is_optimised(const struct doubted *d)
{
	return d->unit->language == LANGUAGE_RUST ? units_optimised(d->unit, d->die) :
		dwarf_hasattr(d->die, DW_AT_GNU_all_call_sites) ||
		dwarf_hasattr(d->die, DW_AT_call_all_calls);
}

/* What is external in the source LLVM may have made local when it linked, and a crate's functions
 * are external for other crates. */
static bool has_other_callers(const struct doubted *d)
{
	return d->unit->language != LANGUAGE_RUST && die_flag(d->die, DW_AT_external) &&
		!(d->func->flags & FUNC_LOCAL);
}

/* Of a function that is defined apart from its declaration, as methods are, LLVM leaves the mark
 * out (DwarfUnit::applySubprogramAttributes). */
static bool tells_changes(const struct doubted *d)
{
	return d->unit->clang >= LLVM_TELLS && !dwarf_hasattr(d->die, DW_AT_specification) &&
		!(d->origin && dwarf_hasattr(d->origin, DW_AT_specification));
}

static bool is_constant(const struct place *p)
{
	bool ret = p->kind == PLACE_PIECES;

	for (size_t i = 0; i < p->n && ret; i++)
		ret = p->pieces[i].from == FROM_LITERAL;
	return ret;
}

/* Nothing, or nothing but a constant, is told of it: the callers may not pass it any more. */
static bool may_be_taken(const struct signature *s, const struct parameter *p)
{
	return p->place.kind == PLACE_GONE || is_constant(&p->place) ||
		(p->place.later && s->language == LANGUAGE_C);
}

static void doubt_places(struct signature *s)
{
	for (size_t i = 0; i < s->nparams; i++)
		if (s->params[i].place.kind == PLACE_BY_TYPE)
			s->params[i].place.kind = PLACE_UNKNOWN;
}

/*
 * LLVM takes parameters, or the result, from a function which it knows all calls of; its name
 * stays. Where it marks that, the mark is missing if parameters were promoted, or left out with
 * those (ArgumentPromotion): then one is gone, and others may have moved. Where it does not, a
 * parameter that is in the frame may be a constant that was put there.
 */
static void doubt_llvm(struct doubted *d)
{
	struct signature *s = d->s;
	bool tells = tells_changes(d), taken = !tells;

	if (!d->unit->clang || !is_optimised(d) || has_other_callers(d))
		return;
	for (size_t i = 0; i < s->nparams; i++)
		taken |= may_be_taken(s, &s->params[i]);
	if (taken)
		doubt_places(s);
	if (!tells)
		s->result.place.kind = PLACE_UNKNOWN;
}

/* rustc has no parameter for what a closure ({{closure}}, {closure#0}) has captured, which comes
 * first, in debug builds. */
static void doubt_captures(struct doubted *d)
{
	bool is_told = false;

	for (size_t i = 0; i < d->s->nparams; i++) {
		const struct type *t = signature_type_at(d->s, d->s->params[i].type);
		const struct type *of = signature_type_at(d->s, t->of);

		is_told |= strstr(signature_name_at(d->s, t->name), "closure_env") ||
			strstr(signature_name_at(d->s, of->name), "closure_env");
	}
	if (d->unit->language == LANGUAGE_RUST && strstr(d->func->name, "{closure") && !is_told)
		doubt_places(d->s);
}

/* What can only be one value need not be passed, wherever the callers are. */
static void doubt_only_values(struct doubted *d)
{
	struct signature *s = d->s;

	for (size_t i = 0; i < s->nparams; i++) {
		const struct type *t = signature_type_at(s, s->params[i].type);
		struct place *p = &s->params[i].place;

		if (s->language == LANGUAGE_RUST && t->kind == TYPE_ENUM && t->n == 1 &&
		    p->kind == PLACE_BY_TYPE && is_optimised(d))
			p->kind = PLACE_UNKNOWN;
	}
}

/* clang leaves out a parameter that is passed by a pointer, if nothing uses it. */
static void doubt_left_out(struct doubted *d)
{
	int n = d->unit->clang && d->unit->is_cxx ? demangle_params(d->func->raw) : -1;

	if (n >= 0 && (size_t)n != d->declared + d->s->variadic)
		doubt_places(d->s);
}

void doubts_raise(struct doubted *d)
{
	bool promoted = promotes(d);

	d->s->own_convention = is_unusual(d) || promoted;
	if (promoted)
		doubt_promoted(d);
	doubt_moved(d);
	doubt_padded(d->s);
	doubt_llvm(d);
	doubt_captures(d);
	doubt_only_values(d);
	doubt_left_out(d);
}

void doubts_raise_within(struct signature *s)
{
	doubt_padded(s);
	for (size_t i = 0; i < s->nparams; i++)
		if (s->params[i].place.packed)
			s->params[i].place = (struct place){ .kind = PLACE_UNKNOWN };
}
