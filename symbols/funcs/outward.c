/* SPDX-License-Identifier: MIT */
/*
 * outward: which places of other files do the relocations of this one name, by a symbol and
 * a distance?
 *
 * The address of a symbol itself is one that its own file tells of. Which file defines a
 * symbol the loader decides: so relocations by symbols that the file has itself count, too.
 */
#include <errno.h>
#include <string.h>

#include "symbols/funcs/outward.h"
#include "symbols/elf/symtab.h"

enum { NAME_LIMIT = 4096 };	/* of code that is named so there is none longer */

struct outward {
	const char *name;	/* owned by the image */
	int64_t distance;
};

struct outwards {
	struct image im;	/* of which only the names are used */
	struct outward *v;	/* sorted by name */
	size_t n, cap;
};

static int by_name(const void *a, const void *b)
{
	const struct outward *x = a, *y = b;
	int order = strcmp(x->name, y->name);

	return order ? order : x->distance < y->distance ? -1 : x->distance > y->distance;
}

/* Which types add the distance differs between machines; one that does not is at worst a place
 * to which nothing leads. Objects (a virtual table and 16) are no code. */
static int outward_note(struct outwards *o, const struct symtab *dynsym, const GElf_Rela *r)
{
	GElf_Sym sym;

	if (!GELF_R_SYM(r->r_info) || !r->r_addend ||
	    !symtab_get(dynsym, GELF_R_SYM(r->r_info), &sym) ||
	    GELF_ST_TYPE(sym.st_info) == STT_TLS || GELF_ST_TYPE(sym.st_info) == STT_OBJECT)
		return 0;
	const char *name = symtab_name(dynsym, &sym);

	if (!*name || strnlen(name, NAME_LIMIT) == NAME_LIMIT)
		return 0;
	struct outward *new = vec_push(o->v, o->n, o->cap);

	if (!new)
		return -ENOMEM;
	*new = (struct outward){ name, r->r_addend };
	return 0;
}

static int note_table(struct outwards *o, const struct symtab *dynsym, raddr_t addr,
		      uint64_t size)
{
	struct relas table = image_relas(&o->im, addr, size);
	int err = 0;

	for (size_t i = 0; i < table.n && !err; i++) {
		GElf_Rela r = relas_get(&table, i);

		err = outward_note(o, dynsym, &r);
	}
	return err;
}

static void sort(struct outwards *o)
{
	size_t kept = 0;

	vec_sort(o->v, o->n, by_name);
	for (size_t i = 0; i < o->n; i++)
		if (!kept || by_name(&o->v[kept - 1], &o->v[i]))
			o->v[kept++] = o->v[i];
	o->n = kept;
}

static int read_tables(struct outwards *o)
{
	struct symtab dynsym = { 0 };
	struct dynamic d;

	dynamic_read(&o->im, &d);
	symtab_read_dynamic(&o->im, &d, &dynsym);
	int err = note_table(o, &dynsym, d.tags[DT_RELA], d.tags[DT_RELASZ]);

	if (!err && d.tags[DT_PLTREL] == DT_RELA)
		err = note_table(o, &dynsym, d.tags[DT_JMPREL], d.tags[DT_PLTRELSZ]);
	sort(o);
	return err;
}

int symbols_outwards(int fd, const char *path, struct outwards **ret)
{
	struct outwards *o = calloc(1, sizeof(*o));

	*ret = NULL;
	if (!o)
		return fail(ENOMEM, "read %s", path);
	int err = image_open(fd, path, &o->im);

	if (!err)
		err = image_ready(&o->im, fd, path);
	if (!err && read_tables(o))
		err = fail(ENOMEM, "read %s", path);
	if (!err && image_error(&o->im))
		err = fail(image_error(&o->im), "read %s", path);
	if (err) {
		outwards_free(o);
		return err;
	}
	image_detach(&o->im);
	*ret = o;
	return 0;
}

void outwards_free(struct outwards *o)
{
	if (!o)
		return;
	image_close(&o->im);
	free(o->v);
	free(o);
}

bool outwards_next(const struct outwards *o, const char *name, size_t *at, int64_t *distance)
{
	if (*at == SIZE_MAX)
		*at = vec_prefix(o->n, i, strcmp(o->v[i].name, name) < 0);
	if (*at == o->n || strcmp(o->v[*at].name, name))
		return false;
	*distance = o->v[(*at)++].distance;
	return true;
}
