/* SPDX-License-Identifier: MIT */
#include "symbols/lines/lineplaces.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <errno.h>
#include <string.h>

#include "symbols/elf/debugfile.h"
#include "symbols/elf/debuginfo.h"
#include "symbols/lines/linefile.h"

enum {
	PLACES_MAX = 1 << 14,
	COMPONENTS_MAX = 256,	/* of a name */
};

/* libdw reads all of it into memory, and each line of the units that have the file. */
#define MOST_BYTES (1ull << 30)

struct search {
	const char *file;	/* as it was typed */
	uint64_t line;
	struct lineplaces *found;
	struct line_sections sections;
	/* The name of the row before, and what was found out about it. */
	const char *last;
	bool last_is_meant;
	int err;
};

/* ---- names --------------------------------------------------------------- */

/* A component of a name, from the end: *n bytes of it; NULL: there is none. What "." and ".." take
 * away is passed over. */
static const char *take_component(const char *name, size_t *left, size_t *n)
{
	size_t up = 0;

	for (int i = 0; i < COMPONENTS_MAX; i++) {
		while (*left && name[*left - 1] == '/')
			--*left;
		size_t end = *left;

		while (*left && name[*left - 1] != '/')
			--*left;
		const char *p = name + *left;

		*n = end - *left;
		if (!*n)
			return NULL;
		if (*n == 1 && *p == '.')
			continue;
		if (*n == 2 && p[0] == '.' && p[1] == '.')
			up++;
		else if (!up--)
			return p;
	}
	return NULL;
}

/* Does the name end in all components of the other, or are both the same? */
static bool ends_in(const char *name, const char *end, bool whole)
{
	size_t left = strlen(name), end_left = strlen(end), n, m;

	for (;;) {
		const char *b = take_component(end, &end_left, &m);
		const char *a = b || whole ? take_component(name, &left, &n) : NULL;

		if (!b)
			return !a && (whole || *end != '/' || !take_component(name, &left, &n));
		if (!a || n != m || memcmp(a, b, n) != 0)
			return false;
	}
}

static bool is_meant(struct search *s, const char *name)
{
	if (name != s->last) {
		s->last = name;
		s->last_is_meant = name && ends_in(name, s->file, false);
	}
	return s->last_is_meant;
}

static void add_file(struct search *s, const char *name)
{
	struct lineplaces *f = s->found;
	size_t kept = MIN(f->nfiles, (size_t)LINEPLACES_FILES);

	for (size_t i = 0; i < kept; i++)
		if (ends_in(f->files[i], name, true))
			return;
	if (kept < LINEPLACES_FILES) {
		f->files[kept] = strdup(name);
		if (!f->files[kept]) {
			s->err = -ENOMEM;
			return;
		}
	}
	f->nfiles++;
}

/* ---- lines --------------------------------------------------------------- */

static void add_place(struct search *s, raddr_t pc, const char *name)
{
	struct lineplaces *f = s->found;
	raddr_t *at = f->n < PLACES_MAX ? vec_push(f->v, f->n, f->cap) : NULL;

	if (at)
		*at = pc;
	else
		s->err = -ENOMEM;
	add_file(s, name);
}

/* A row of the table: which line begins there. `before`: the row before is of the same line. */
static void look_at(struct search *s, Dwarf_Line *row, int line, const char *name, bool before)
{
	bool statement;
	Dwarf_Addr pc;

	s->found->has_file = true;
	if ((uint64_t)line > s->line && (!s->found->next || (uint64_t)line < s->found->next))
		s->found->next = (uint64_t)line;
	if ((uint64_t)line == s->line && !before && !dwarf_linebeginstatement(row, &statement) &&
	    statement && !dwarf_lineaddr(row, &pc))
		add_place(s, pc, name);
}

static void search_unit(struct search *s, Dwarf_Die *unit)
{
	Dwarf_Lines *lines;
	size_t n;
	bool before = false;

	s->last = NULL;
	if (dwarf_getsrclines(unit, &lines, &n))
		return;
	for (size_t i = 0; i < n && !s->err; i++) {
		Dwarf_Line *row = dwarf_onesrcline(lines, i);
		const char *name = row ? dwarf_linesrc(row, NULL, NULL) : NULL;
		bool end = true;
		int line;

		if (!row || dwarf_lineno(row, &line) || dwarf_lineendsequence(row, &end) || end ||
		    line <= 0 || !is_meant(s, name)) {
			before = false;
			continue;
		}
		look_at(s, row, line, name, before);
		before = (uint64_t)line == s->line;
	}
}

static bool may_have(const struct search *s, Dwarf_Die *unit)
{
	const char *slash = strrchr(s->file, '/');
	Dwarf_Attribute a;
	Dwarf_Word at;

	return dwarf_attr(unit, DW_AT_stmt_list, &a) && !dwarf_formudata(&a, &at) &&
		linefile_has(&s->sections, at, slash ? slash + 1 : s->file);
}

static void search_units(struct search *s, Dwarf *dwarf)
{
	Dwarf_Off at = 0, next;
	size_t head;

	for (; !s->err && dwarf_nextcu(dwarf, at, &next, &head, NULL, NULL, NULL) == 0 && next > at;
	     at = next) {
		Dwarf_Die unit;

		if (dwarf_offdie(dwarf, at + head, &unit) && may_have(s, &unit))
			search_unit(s, &unit);
	}
}

/* -------------------------------------------------------------------------- */

static int by_address(const void *x, const void *y)
{
	const raddr_t *a = x, *b = y;

	return (*a > *b) - (*a < *b);
}

static void sort_places(struct lineplaces *f)
{
	size_t n = 0;

	vec_sort(f->v, f->n, by_address);
	for (size_t i = 0; i < f->n; i++)
		if (!n || f->v[i] != f->v[n - 1])
			f->v[n++] = f->v[i];
	f->n = n;
}

static const Elf_Data *section(const struct image *im, const char *name)
{
	const GElf_Shdr *sh = image_section(im, name);

	return sh ? elf_getdata(elf_getscn(im->elf, sh - im->sections), NULL) : NULL;
}

int lineplaces_find(const struct symbols *symbols, int fd, const char *file, uint64_t line,
		    struct lineplaces *ret)
{
	struct search s = { .file = file, .line = line, .found = ret };
	struct debuginfo info;

	if (!debuginfo_open(fd, symbols->path, symbols_debug_root(), MOST_BYTES, &info)) {
		const struct image *im = &info.main.image;

		s.sections = (struct line_sections){
			section(im, ".debug_line"), section(im, ".debug_line_str"),
			section(im, ".debug_str"),
		};
		search_units(&s, info.main.dwarf);
	}
	ret->too_large = MAX(ret->too_large, info.too_large);
	debuginfo_close(&info);
	sort_places(ret);
	return s.err;
}

void lineplaces_clear(struct lineplaces *l)
{
	for (size_t i = 0; i < MIN(l->nfiles, (size_t)LINEPLACES_FILES); i++)
		free(l->files[i]);
	free(l->v);
	*l = (struct lineplaces){ 0 };
}
