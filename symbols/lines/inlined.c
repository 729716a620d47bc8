/* SPDX-License-Identifier: MIT */
/*
 * inlined: which functions does the debug information name that have no code of their own?
 *
 * Two passes over it: first for functions that the pattern matches and that were inlined
 * (their abstract instances), and, if there is one, for where that was. It is read for a hint,
 * while a user waits at a terminal: so not for longer than the caller says, and not more of it
 * than a machine that serves others has memory to spare.
 */
#include "symbols/lines/inlined.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "symbols/elf/debugfile.h"
#include "symbols/elf/debuginfo.h"
#include "symbols/names/demangle.h"
#include "symbols/names/glob.h"
#include "symbols/lines/linefile.h"

enum {
	DECLARED_MAX = 4096,
	FOUND_MAX = 16,		/* functions of one pattern */
	COPIES_MAX = 4096,	/* of one function */
	RANGES_MAX = 64,	/* of one copy */
	INTO_MAX = 4096,	/* functions into which one was inlined: more are not counted */
	SCOPES = 16,		/* namespaces within namespaces */
	SCOPE_MAX = 1024,	/* bytes of their names */
	NESTED = 128,		/* blocks and inlined functions within a function */
	LOOK_AT_CLOCK = 256,	/* entries */
	FORGET_NAMES = 1024,
};

/* libdw reads all of it into memory; and two seconds are enough for as much. */
#define SIZE_MAX_BYTES (256ull << 20)

/* The entry that all instances of an inlined function refer to. */
struct origin {
	uint64_t at;		/* where libdw has it in memory; first for vec_sort_keys */
	size_t of;		/* in the list */
};

/* A static function of C++ is declared in its namespace, and its other entries refer to
 * that. */
struct declared {
	const void *at;
	char *name;		/* qualified */
};

/* Its entry; one of what dwz has moved has no code. */
struct search_unit {
	Dwarf_Die die;
	bool has_places;
};

struct search {
	const struct symbols *symbols;
	const struct pattern *pattern;
	struct inlined_list *list;
	struct debuginfo info;
	struct line_sections lines;
	struct origin *origins;
	size_t norigins, origins_cap;
	struct declared *declared;
	size_t ndeclared, declared_cap;
	struct search_unit *units;
	size_t nunits, units_cap;
	struct strings names;		/* of the last entries */
	char scope[SCOPE_MAX];		/* "a::b::", around the entry */
	unsigned int ticks, named;
	int err;
};

static bool is_over(struct search *s)
{
	struct timespec t;

	if (!s->list->cut && ++s->ticks % LOOK_AT_CLOCK == 0) {
		clock_gettime(CLOCK_MONOTONIC, &t);
		s->list->cut = (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec >
			s->list->deadline;
	}
	return s->list->cut || s->err;
}

/* ---- names --------------------------------------------------------------- */

static const char *linkage_name(Dwarf_Die *die)
{
	Dwarf_Attribute a;

	return debuginfo_string(dwarf_attr_integrate(die, DW_AT_linkage_name, &a) ?:
				dwarf_attr_integrate(die, DW_AT_MIPS_linkage_name, &a));
}

static const char *declared_name(const struct search *s, Dwarf_Die *die)
{
	Dwarf_Attribute a;
	Dwarf_Die of;

	if (!s->ndeclared || !dwarf_attr(die, DW_AT_specification, &a) ||
	    !dwarf_formref_die(&a, &of))
		return NULL;
	for (size_t i = 0; i < s->ndeclared; i++)
		if (s->declared[i].at == of.addr)
			return s->declared[i].name;
	return NULL;
}

/* As the symbols of the file would have it, or where it is static, by its scope; 0, -ENOENT
 * or -ENOMEM. */
static int name_of(struct search *s, Dwarf_Die *die, struct names *ret)
{
	const char *raw = linkage_name(die) ?: declared_name(s, die);
	const char *plain = raw ? "" : debuginfo_name(die);
	auto_free char *scoped = NULL;

	if (!plain)
		return -ENOENT;
	if (++s->named % FORGET_NAMES == 0)
		strings_clear(&s->names);
	if (!raw)
		raw = scoped = base_printf("%s%s", s->scope, plain);
	raw = raw ? strings_add(&s->names, raw, strlen(raw)) : NULL;
	return raw ? demangle(&s->names, raw, ret) : -ENOMEM;
}

static bool inlined_matches(const struct pattern *p, const struct names *n)
{
	struct func f = { .name = n->name, .full = n->full, .raw = n->raw };
	bool exact;

	return pattern_match(p, NULL, &f, &exact);
}

/* What is typed literally has the plain name in it: to demangle takes much longer. */
static bool may_match(const struct pattern *p, const char *plain)
{
	size_t n = strcspn(plain, "<");

	return !glob_is_literal(p->name) || memmem(p->name, strlen(p->name), plain, n);
}

/* ---- functions that were inlined ----------------------------------------- */

static bool is_inline(Dwarf_Die *die)
{
	Dwarf_Attribute a;
	Dwarf_Word value;

	return dwarf_attr(die, DW_AT_inline, &a) && dwarf_formudata(&a, &value) == 0 &&
		(value == DW_INL_inlined || value == DW_INL_declared_inlined);
}

/* Its place in the list, where it is made if need be; list->n if there is no room. */
static size_t place_of(struct search *s, const char *name)
{
	struct inlined_list *l = s->list;

	for (size_t i = 0; i < l->n; i++)
		if (!strcmp(l->v[i].name, name))
			return i;
	if (l->n == MAX(l->most, (size_t)FOUND_MAX)) {
		l->cut |= l->most != 0;
		return l->n;
	}
	struct inlined *i = vec_push(l->v, l->n, l->cap);

	if (i)
		i->name = strdup(name);
	if (i && i->name)
		return l->n - 1;
	l->n -= i != NULL;
	s->err = -ENOMEM;
	return l->n;
}

/* Its name, if the pattern matches it; else NULL. */
static const char *match_entry(struct search *s, Dwarf_Die *die)
{
	const char *plain = debuginfo_name(die);
	struct names names;

	if (!plain || !may_match(s->pattern, plain))
		return NULL;
	int err = name_of(s, die, &names);

	if (err == -ENOMEM)
		s->err = err;
	if (err || (!inlined_matches(s->pattern, &names) &&
		    !inlined_matches(s->pattern, &(struct names){ plain, plain, plain })))
		return NULL;
	return names.name;
}

static void try_origin(struct search *s, Dwarf_Die *die)
{
	const char *name = match_entry(s, die);
	size_t of = name ? place_of(s, name) : s->list->n;

	if (of == s->list->n)
		return;
	struct origin *o = vec_push(s->origins, s->norigins, s->origins_cap);

	if (o)
		*o = (struct origin){ (uintptr_t)die->addr, of };
	else
		s->err = -ENOMEM;
}

static void try_declared(struct search *s, Dwarf_Die *die)
{
	bool here = s->scope[0] && s->ndeclared < DECLARED_MAX &&
		dwarf_hasattr(die, DW_AT_declaration) && !linkage_name(die);
	const char *name = here ? match_entry(s, die) : NULL;
	struct declared *d = name ? vec_push(s->declared, s->ndeclared, s->declared_cap) : NULL;

	if (d)
		*d = (struct declared){ die->addr, strdup(name) };
	if (name && (!d || !d->name)) {
		s->ndeclared -= d != NULL;
		s->err = -ENOMEM;
	}
}

static void find_origins(struct search *, Dwarf_Die *parent, unsigned int depth);

/* A namespace or a class. */
static void look_into(struct search *s, Dwarf_Die *die, unsigned int depth)
{
	const char *name = debuginfo_name(die) ?: "(anonymous namespace)";
	size_t n = strlen(s->scope), more = strlen(name);

	if (depth == SCOPES || more >= sizeof(s->scope) - n - 2)
		return;
	sprintf(s->scope + n, "%s::", name);
	find_origins(s, die, depth + 1);
	s->scope[n] = '\0';
}

static void find_origins(struct search *s, Dwarf_Die *parent, unsigned int depth)
{
	Dwarf_Die die;

	for (int end = dwarf_child(parent, &die); !end && !is_over(s);
	     end = dwarf_siblingof(&die, &die))
		switch (dwarf_tag(&die)) {
		case DW_TAG_namespace:
		case DW_TAG_structure_type:
		case DW_TAG_class_type:
			look_into(s, &die, depth);
			break;
		case DW_TAG_subprogram:
			if (is_inline(&die))
				try_origin(s, &die);
			else
				try_declared(s, &die);
			break;
		}
}

/* ---- where they were ----------------------------------------------------- */

static int by_place(const void *x, const void *y)
{
	const struct origin *a = x, *b = y;

	return (a->at > b->at) - (a->at < b->at);
}

static struct inlined *refers_to(struct search *s, Dwarf_Die *die)
{
	Dwarf_Attribute a;
	Dwarf_Die origin;

	if (!dwarf_attr(die, DW_AT_abstract_origin, &a) || !dwarf_formref_die(&a, &origin))
		return NULL;
	struct origin key = { .at = (uintptr_t)origin.addr };
	const struct origin *o = bsearch(&key, s->origins, s->norigins, sizeof(key), by_place);

	return o ? &s->list->v[o->of] : NULL;
}

static bool has_code(Dwarf_Die *die)
{
	return dwarf_hasattr(die, DW_AT_low_pc) || dwarf_hasattr(die, DW_AT_ranges) ||
		dwarf_hasattr(die, DW_AT_entry_pc);
}

/* A function with code, as the symbols call it. */
static const char *function_name(struct search *s, Dwarf_Die *die)
{
	const struct symbols *syms = s->symbols;
	const struct func *f = NULL;
	struct names names;
	Dwarf_Addr pc;

	if (dwarf_entrypc(die, &pc) == 0)
		f = symbols_func_at(syms, pc);
	if (f && f->range.start == pc)
		return f->flags & FUNC_FRAGMENT && f->parent >= 0 ?
			syms->funcs[f->parent].name : f->name;
	return name_of(s, die, &names) ? NULL : names.name;
}

static bool number_of(Dwarf_Die *die, unsigned int attribute, Dwarf_Word *ret)
{
	Dwarf_Attribute a;

	return dwarf_attr(die, attribute, &a) && dwarf_formudata(&a, ret) == 0;
}

/* In which file and line was it called? The list of files of a split unit is that of the unit which
 * stands for it, where dwarf_attr_integrate looks, too. */
static void set_line(struct search *s, Dwarf_Die *die, struct inlined_place *p)
{
	Dwarf_Word file, unit;
	Dwarf_Attribute a;
	Dwarf_Die cu;

	if (!number_of(die, DW_AT_call_line, &p->line) ||
	    !number_of(die, DW_AT_call_file, &file) || !dwarf_diecu(die, &cu, NULL, NULL) ||
	    dwarf_formudata(dwarf_attr_integrate(&cu, DW_AT_stmt_list, &a), &unit))
		return;
	const char *name = linefile_name(&s->lines, unit, file);

	p->file = name ? strdup(name) : NULL;
}

static void add_place(struct search *s, struct inlined *i, Dwarf_Die *function, Dwarf_Die *die)
{
	const char *into = function_name(s, function);

	for (size_t k = 0; into && k < i->ninto; k++)
		if (!strcmp(i->into[k], into))
			return;
	if (!into || i->ninto == INTO_MAX)
		return;
	char **name = vec_push(i->into, i->ninto, i->into_cap);

	if (name)
		*name = strdup(into);
	if (!name || !*name) {
		i->ninto -= name != NULL;
		s->err = -ENOMEM;
		return;
	}
	if (i->nplaces < INLINED_PLACES) {
		i->places[i->nplaces].into = *name;
		set_line(s, die, &i->places[i->nplaces]);
	}
	i->nplaces++;
}

/* In several pieces the first is where it begins, unless another one is told. */
static bool begin_of(Dwarf_Die *die, Dwarf_Addr *ret)
{
	Dwarf_Addr base, end;

	return dwarf_entrypc(die, ret) == 0 || dwarf_ranges(die, 0, &base, ret, &end) > 0;
}

static void add_ranges(struct search *s, struct inlined_copy *c, Dwarf_Die *die)
{
	Dwarf_Addr base, start, end;
	ptrdiff_t at = 0;

	while ((at = dwarf_ranges(die, at, &base, &start, &end)) > 0 && c->nranges < RANGES_MAX) {
		struct range *r = start < end ? vec_push(c->ranges, c->nranges, c->ranges_cap) :
			NULL;

		if (r)
			*r = (struct range){ start, end };
		else if (start < end)
			s->err = -ENOMEM;
	}
	/* Of what is not known whole nothing is. */
	c->nranges = at ? 0 : c->nranges;
}

static void add_copy(struct search *s, struct inlined *i, Dwarf_Die *die)
{
	struct inlined_copy copy = { .die = dwarf_dieoffset(die) };

	if (i->ncopies == COPIES_MAX || !begin_of(die, &copy.pc)) {
		s->list->cut |= i->ncopies == COPIES_MAX;
		return;
	}
	struct inlined_copy *c = vec_push(i->copies, i->ncopies, i->copies_cap);

	if (!c) {
		s->err = -ENOMEM;
		return;
	}
	*c = copy;
	add_ranges(s, c, die);
}

/* What stands in `parent`, which is part of a function, or NULL. */
static void find_places(struct search *s, Dwarf_Die *parent, Dwarf_Die *function,
			unsigned int depth)
{
	Dwarf_Die die;

	if (depth == NESTED)
		return;
	for (int end = dwarf_child(parent, &die); !end && !is_over(s);
	     end = dwarf_siblingof(&die, &die)) {
		int tag = dwarf_tag(&die);
		struct inlined *i = NULL;

		if (tag == DW_TAG_subprogram && has_code(&die)) {
			i = refers_to(s, &die);
			if (i)
				i->has_code = true;
			find_places(s, &die, &die, depth + 1);
		} else if (tag == DW_TAG_inlined_subroutine && function) {
			i = refers_to(s, &die);
			if (i)
				add_place(s, i, function, &die);
			if (i && s->list->most)
				add_copy(s, i, &die);
			find_places(s, &die, function, depth + 1);
		} else if (tag == DW_TAG_namespace || tag == DW_TAG_lexical_block ||
			   tag == DW_TAG_try_block || tag == DW_TAG_catch_block) {
			find_places(s, &die, function, depth + 1);
		}
	}
}

/* ---- units --------------------------------------------------------------- */

/* Of split ones the whole: what is not found is left. */
static void add_units(struct search *s, Dwarf *dwarf, bool has_places)
{
	Dwarf_Off at = 0, next;
	size_t head;

	for (; dwarf && !is_over(s) &&
	     dwarf_nextcu(dwarf, at, &next, &head, NULL, NULL, NULL) == 0 && next > at; at = next) {
		struct search_unit u = { .has_places = has_places };
		struct search_unit *to;

		if (!dwarf_offdie(dwarf, at + head, &u.die) || !debuginfo_whole(&s->info, &u.die))
			continue;
		to = vec_push(s->units, s->nunits, s->units_cap);
		if (to)
			*to = u;
		else
			s->err = -ENOMEM;
	}
}

static void search_both(struct search *s)
{
	add_units(s, s->info.main.dwarf, true);
	add_units(s, s->info.common.dwarf, false);
	for (size_t i = 0; i < s->nunits && !is_over(s); i++)
		find_origins(s, &s->units[i].die, 0);
	if (!s->norigins)
		return;
	vec_sort(s->origins, s->norigins, by_place);
	for (size_t i = 0; i < s->nunits && !is_over(s); i++)
		if (s->units[i].has_places)
			find_places(s, &s->units[i].die, NULL, 0);
}

/* ---- files --------------------------------------------------------------- */

static const Elf_Data *section(const struct image *im, const char *name)
{
	const GElf_Shdr *sh = image_section(im, name);

	return sh ? elf_getdata(elf_getscn(im->elf, sh - im->sections), NULL) : NULL;
}

static void search_opened(struct search *s)
{
	const struct image *im = &s->info.main.image;

	s->lines = (struct line_sections){
		section(im, ".debug_line"), section(im, ".debug_line_str"),
		section(im, ".debug_str"),
	};
	search_both(s);
}

static void free_inlined(struct inlined *i)
{
	for (size_t k = 0; k < MIN(i->nplaces, (size_t)INLINED_PLACES); k++)
		free(i->places[k].file);
	for (size_t k = 0; k < i->ninto; k++)
		free(i->into[k]);
	free(i->into);
	for (size_t k = 0; k < i->ncopies; k++)
		free(i->copies[k].ranges);
	free(i->copies);
	free(i->name);
}

/* Those that are inlined nowhere, or that have code, which has another name then. */
static void drop_others(struct inlined_list *l, size_t from)
{
	size_t n = from;

	for (size_t i = from; i < l->n; i++) {
		if (l->v[i].nplaces && (l->most || !l->v[i].has_code))
			l->v[n++] = l->v[i];
		else
			free_inlined(&l->v[i]);
	}
	l->n = n;
}

int inlined_find(const struct symbols *symbols, int fd, const struct pattern *p,
		 struct inlined_list *ret)
{
	struct search s = { .symbols = symbols, .pattern = p, .list = ret };
	size_t before = ret->n;

	if (debuginfo_open(fd, symbols->path, symbols_debug_root(), SIZE_MAX_BYTES,
			   &s.info) == 0)
		search_opened(&s);
	ret->too_large = MAX(ret->too_large, s.info.too_large);
	if (!ret->missing && s.info.missing)
		ret->missing = strdup(s.info.missing);
	debuginfo_close(&s.info);
	strings_clear(&s.names);
	free(s.origins);
	free(s.units);
	for (size_t i = 0; i < s.ndeclared; i++)
		free(s.declared[i].name);
	free(s.declared);
	drop_others(ret, before);
	return s.err;
}

void inlined_clear(struct inlined_list *l)
{
	for (size_t i = 0; i < l->n; i++)
		free_inlined(&l->v[i]);
	free(l->v);
	free(l->missing);
	*l = (struct inlined_list){ 0 };
}
