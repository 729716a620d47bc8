/* SPDX-License-Identifier: MIT */
#include "symbols/types/signatures.h"

#include <dwarf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "symbols/elf/debugfile.h"
#include "symbols/elf/debuginfo.h"
#include "symbols/names/demangle.h"
#include "symbols/types/build.h"
#include "symbols/types/doubts.h"
#include "symbols/types/location.h"
#include "symbols/types/scopes.h"
#include "values/places.h"

enum {
	CHILDREN_MAX = 1 << 14,		/* of a function, that are looked at */
	CLANG_WIDE = 18,		/* that passes __int128 as the psABI has it */
};

enum { INLINED_MOST = 4096 };	/* bytes of the names at one place */

/* libdw reads all of it into memory. */
#define MOST_BYTES (1ull << 30)

struct signatures {
	const struct symbols *symbols;
	int fd;
	struct debuginfo info;
	struct units *units;
	struct range go_types;
	bool opened, there;
};

/* ---- open and close ------------------------------------------------------ */

int signatures_open(const struct symbols *symbols, int fd, struct signatures **ret)
{
	struct signatures *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	s->symbols = symbols;
	s->fd = fd;
	*ret = s;
	return 0;
}

void signatures_close(struct signatures *s)
{
	if (!s)
		return;
	units_close(s->units);
	if (s->opened)
		debuginfo_close(&s->info);
	free(s);
}

static int open_units(struct signatures *s)
{
	if (s->opened)
		return s->there ? 0 : -ENOENT;
	s->opened = true;
	if (debuginfo_open(s->fd, s->symbols->path, symbols_debug_root(), MOST_BYTES, &s->info))
		return -ENOENT;
	int err = units_open(&s->info, &s->units);

	s->there = !err;
	if (symbols_object(s->symbols, "runtime.types", &s->go_types.start) ||
	    symbols_object(s->symbols, "runtime.etypes", &s->go_types.end))
		s->go_types = (struct range){ 0 };
	return err;
}

uint64_t signatures_too_large(const struct signatures *s)
{
	return s->opened ? s->info.too_large : 0;
}

const char *signatures_missing(const struct signatures *s)
{
	return s->opened ? s->info.missing : NULL;
}

/* ---- parameters ---------------------------------------------------------- */

/* One function that is read. */
struct reading {
	struct signature *s;
	struct building b;
	struct unit *unit;
	raddr_t entry;
	Dwarf_Die die;			/* with the code */
	Dwarf_Die abstract;		/* what that was made of, or the same */
	bool has_abstract;
	struct results results;		/* of Go */
	bool no_results;		/* they are not all known */
	const struct frame_now *now;	/* it is of a place within it; NULL: of its entry */
};

static bool refers(Dwarf_Die *die, unsigned int attribute, Dwarf_Die *ret)
{
	Dwarf_Attribute a;

	return dwarf_attr(die, attribute, &a) && dwarf_formref_die(&a, ret);
}

/* Call `each` for the parameters of a function, those of a pack, too, until it says no. */
struct walk {
	void (*each)(struct reading *, Dwarf_Die *param, void *ctx);
	void *ctx;
	size_t left;
};

static void walk_params(struct reading *r, Dwarf_Die *parent, struct walk *w, bool in_pack)
{
	Dwarf_Die child;

	for (int end = dwarf_child(parent, &child); !end && w->left;
	     end = dwarf_siblingof(&child, &child), w->left--)
		switch (dwarf_tag(&child)) {
		case DW_TAG_formal_parameter:
			w->each(r, &child, w->ctx);
			break;
		case DW_TAG_GNU_formal_parameter_pack:
			if (!in_pack)
				walk_params(r, &child, w, true);
			break;
		case DW_TAG_unspecified_parameters:
			r->s->variadic = true;
			break;
		default:
			break;
		}
}

static void each_param(struct reading *r, Dwarf_Die *parent,
		       void (*each)(struct reading *, Dwarf_Die *, void *), void *ctx)
{
	struct walk w = { each, ctx, CHILDREN_MAX };

	walk_params(r, parent, &w, false);
}

static bool is_artificial(Dwarf_Die *die)
{
	return die_flag(die, DW_AT_artificial);
}

/* `concrete` NULL: the code has nothing of it. */
static void add_param(struct reading *r, Dwarf_Die *param, Dwarf_Die *concrete)
{
	struct signature *s = r->s;

	if (is_go_result(&r->b, param)) {
		if (results_has(&r->results, debuginfo_name(param)))
			return;
		r->no_results |= !results_add(&r->b, param, &r->results);
		return;
	}
	if (s->nparams == PARAMS_MAX) {
		s->more = true;
		return;
	}
	struct parameter *p = &s->params[s->nparams++];
	const char *name = debuginfo_name(param);

	p->name = signature_text(s, name);
	p->type = build_type_of(&r->b, param);
	p->place.kind = PLACE_GONE;
	if (is_artificial(param))
		p->contents.behind = BEHIND_NOTHING;
	const struct type *t = signature_type_at(s, p->type);
	bool whole = t->kind == TYPE_STRUCT || t->kind == TYPE_ARRAY;

	if (!t->size && whole && s->language != LANGUAGE_C)
		p->place.kind = PLACE_NOWHERE;
	else if (concrete && r->now)
		location_now(concrete, r->now, s->machine, t->size, &p->place);
	else if (concrete)
		location_at(concrete, r->entry, s->machine, t->size, &p->place);
}

static void add_own(struct reading *r, Dwarf_Die *param, void *ctx)
{
	add_param(r, param, param);
}

/* The one of the code that was made of this. */
struct wanted {
	const void *origin;
	Dwarf_Die found;
	bool is_found;
};

static void match_origin(struct reading *r, Dwarf_Die *param, void *ctx)
{
	struct wanted *w = ctx;
	Dwarf_Die origin;

	if (w->is_found || !refers(param, DW_AT_abstract_origin, &origin) ||
	    origin.addr != w->origin)
		return;
	w->found = *param;
	w->is_found = true;
}

/* What tells a constructor whether it makes a whole object exists in some clones only. */
static void add_abstract(struct reading *r, Dwarf_Die *param, void *ctx)
{
	struct wanted w = { .origin = param->addr };
	const char *name = debuginfo_name(param);

	each_param(r, &r->die, match_origin, &w);
	if (w.is_found || !is_artificial(param) || (name && !strcmp(name, "this")))
		add_param(r, param, w.is_found ? &w.found : NULL);
}

static void count_param(struct reading *r, Dwarf_Die *param, void *ctx)
{
	++*(size_t *)ctx;
}

static size_t count_params(struct reading *r, Dwarf_Die *die)
{
	size_t n = 0;

	each_param(r, die, count_param, &n);
	return n;
}

static void count_declared(struct reading *r, Dwarf_Die *param, void *ctx)
{
	*(size_t *)ctx += !is_artificial(param);
}

/* Those that the source has; the debug information may have left some out. */
static size_t declared_params(struct reading *r)
{
	bool abstract = r->has_abstract && count_params(r, &r->abstract);
	size_t n = 0;

	each_param(r, abstract ? &r->abstract : &r->die, count_declared, &n);
	return n;
}

/* -------------------------------------------------------------------------- */

static void read_result(struct reading *r)
{
	struct signature *s = r->s;

	s->result.type = s->language == LANGUAGE_GO ? results_type(&r->b, &r->results) :
		build_type_of(&r->b, &r->die);
	s->result.place.kind = r->no_results ? PLACE_UNKNOWN : PLACE_BY_TYPE;
}

static int read_function(struct reading *r, const struct func *f)
{
	build_begin(&r->b, r->s, r->unit);
	r->s->language = r->unit->language;
	r->s->compiler = (uint16_t)r->unit->rustc;
	r->has_abstract = refers(&r->die, DW_AT_abstract_origin, &r->abstract);
	if (r->has_abstract && count_params(r, &r->abstract))
		each_param(r, &r->abstract, add_abstract, NULL);
	else
		each_param(r, &r->die, add_own, NULL);
	read_result(r);
	r->s->halves = r->unit->clang && r->unit->clang < CLANG_WIDE;
	doubts_raise(&(struct doubted){ .s = r->s, .unit = r->unit, .func = f, .die = &r->die,
					.origin = r->has_abstract ? &r->abstract : NULL,
					.declared = declared_params(r) });
	build_end(&r->b);
	places_settle(r->s);
	return 0;
}

static const char *linkage_name(Dwarf_Die *die)
{
	Dwarf_Attribute a;

	return debuginfo_string(dwarf_attr_integrate(die, DW_AT_linkage_name, &a));
}

/* Of several functions at an address the one that has the symbol's name, or the first. */
static const struct unit_func *choose(const struct unit_func *v, size_t n, const struct func *f)
{
	for (size_t i = 0; i < n; i++) {
		Dwarf_Die die = v[i].die;
		const char *name = linkage_name(&die) ?: debuginfo_name(&die);

		if (name && !strcmp(name, f->raw))
			return &v[i];
	}
	return v;
}

int signatures_get(struct signatures *s, const struct func *f, struct signature *ret)
{
	const struct unit_func *found;
	struct unit *unit;
	int err = open_units(s);

	if (err)
		return err;
	size_t n = units_func(s->units, f->range.start, &unit, &found);

	if (!n)
		return -ENOENT;
	err = signature_begin(ret, s->symbols->machine);
	if (err)
		return err;
	struct reading r = { .s = ret, .unit = unit, .entry = f->range.start,
			     .die = choose(found, n, f)->die };

	ret->name = signature_text(ret, f->name);
	ret->go_types = s->go_types;
	return read_function(&r, f);
}

/* ---- a place within a function ------------------------------------------- */

/* The one of that name; SIZE_MAX: there is none. */
static size_t find_named(const struct signature *s, const char *name)
{
	for (size_t i = 0; i < s->nparams; i++)
		if (!strcmp(signature_name_at(s, s->params[i].name), name))
			return i;
	return SIZE_MAX;
}

/* What begins to be behind the line is not there yet. An inner variable hides an outer one, and is
 * in the place of a parameter that it hides. */
static void add_variable(struct reading *r, Dwarf_Die *die, uint64_t line, uint32_t *parameters)
{
	const char *name = debuginfo_name(die);
	struct signature *s = r->s;
	int declared;

	if (!name || is_artificial(die) || die_flag(die, DW_AT_declaration) ||
	    (line && !dwarf_decl_line(die, &declared) && (uint64_t)declared >= line))
		return;
	size_t at = find_named(s, name), n = s->nparams;

	if (at != SIZE_MAX && !(*parameters >> at & 1))
		return;
	add_param(r, die, die);
	if (at == SIZE_MAX || s->nparams == n)
		return;
	s->params[at] = s->params[--s->nparams];
	*parameters &= ~(1u << at);
}

static void add_variables(struct reading *r, Dwarf_Die *scope, uint64_t line,
			  uint32_t *parameters)
{
	size_t left = CHILDREN_MAX;
	Dwarf_Die die;

	for (int end = dwarf_child(scope, &die); !end && left;
	     end = dwarf_siblingof(&die, &die), left--)
		if (dwarf_tag(&die) == DW_TAG_variable)
			add_variable(r, &die, line, parameters);
}

/* Of the innermost function, be it inlined: parameters, and variables from the innermost scope
 * outwards. */
static void read_scopes(struct reading *r, struct scopes *scopes)
{
	uint64_t line = scopes_line(&r->unit->die, r->now->pc);

	r->die = scopes->v[scopes->frame];
	r->has_abstract = refers(&r->die, DW_AT_abstract_origin, &r->abstract);
	if (r->has_abstract && count_params(r, &r->abstract))
		each_param(r, &r->abstract, add_abstract, NULL);
	else
		each_param(r, &r->die, add_own, NULL);
	uint32_t parameters = (uint32_t)(((uint64_t)1 << r->s->nparams) - 1);

	_Static_assert(PARAMS_MAX <= 32, "each has a bit");
	/* None has begun where the function does. */
	for (size_t i = scopes->n; i-- > scopes->frame && !scopes->begins;)
		add_variables(r, &scopes->v[i], line, &parameters);
}

static void find_frame(const struct signatures *s, Dwarf_Die *function, raddr_t pc, raddr_t bias,
		       struct frame_now *ret)
{
	*ret = (struct frame_now){ .function = function, .pc = pc, .bias = bias,
				   .early = scopes_early(function, pc) };
	ret->has_cfa = !symbols_cfa_rule(s->symbols, pc, &ret->cfa_register, &ret->cfa_offset);
}

/* Of a place there is no result. */
static int at_entry(struct signatures *s, const struct func *f, struct signature *ret)
{
	int err = signatures_get(s, f, ret);

	if (!err)
		ret->result = (struct parameter){ .place.kind = PLACE_NOWHERE };
	return err;
}

int signatures_at(struct signatures *s, const struct func *f, raddr_t pc, uint64_t inlined,
		  raddr_t bias, struct signature *ret)
{
	const struct unit_func *found;
	struct frame_now now;
	struct scopes scopes;
	struct unit *unit;
	int err = open_units(s);

	if (err)
		return err;
	size_t n = units_func(s->units, f->range.start, &unit, &found);

	if (!n)
		return -ENOENT;
	Dwarf_Die function = choose(found, n, f)->die;

	scopes_find(&function, pc, &scopes);
	if (inlined && !scopes_begin(&scopes, dwarf_cu_getdwarf(function.cu), inlined))
		return -ENOENT;
	if (pc == f->range.start && !scopes.frame)
		return at_entry(s, f, ret);
	err = signature_begin(ret, s->symbols->machine);
	if (err)
		return err;
	struct reading r = { .s = ret, .unit = unit, .entry = pc, .now = &now };

	find_frame(s, &function, pc, bias, &now);
	now.begins = scopes.begins;
	ret->name = signature_text(ret, f->name);
	build_begin(&r.b, ret, unit);
	ret->language = unit->language;
	ret->compiler = (uint16_t)unit->rustc;
	ret->go_types = s->go_types;
	read_scopes(&r, &scopes);
	doubts_raise_within(ret);
	ret->result = (struct parameter){ .place.kind = PLACE_NOWHERE };
	build_end(&r.b);
	signature_bound(ret);
	return 0;
}

/* ---- what is inlined there ----------------------------------------------- */

/* As its symbol would have it, if it had one. False: memory is out. */
static bool put_name(FILE *f, Dwarf_Die *die)
{
	const char *raw = linkage_name(die), *plain = debuginfo_name(die);
	struct strings made = { 0 };
	struct names names = { .name = plain && *plain ? plain : "?" };
	bool ret = !raw || demangle(&made, raw, &names) == 0;

	if (ret && ftell(f) < INLINED_MOST)
		fprintf(f, "%s%c", names.name, '\0');
	strings_clear(&made);
	return ret;
}

static int put_inlined(const struct scopes *scopes, char **ret)
{
	size_t size;
	FILE *f = open_memstream(ret, &size);
	bool good = f;

	for (size_t i = scopes->n; f && i-- > 1;) {
		Dwarf_Die die = scopes->v[i];

		if (dwarf_tag(&die) == DW_TAG_inlined_subroutine)
			good &= put_name(f, &die);
	}
	/* (The stream ends it with the empty one.) */
	if (f && !fclose(f) && good)
		return 0;
	if (f)
		free(*ret);
	*ret = NULL;
	return -ENOMEM;
}

int signatures_inlined(struct signatures *s, const struct func *f, raddr_t pc, char **ret)
{
	const struct unit_func *found;
	struct scopes scopes;
	struct unit *unit;
	int err = open_units(s);
	size_t n = err ? 0 : units_func(s->units, f->range.start, &unit, &found);

	*ret = NULL;
	if (!n)
		return err == -ENOMEM ? err : 0;
	Dwarf_Die function = choose(found, n, f)->die;

	if (dwarf_haspc(&function, pc) != 1)
		return 0;
	scopes_find(&function, pc, &scopes);
	return scopes.frame ? put_inlined(&scopes, ret) : 0;
}
