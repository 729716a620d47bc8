/* SPDX-License-Identifier: MIT */
#include "symbols/funcs/ocaml.h"

#include <errno.h>
#include <string.h>

/* Where a unit's code begins or ends. */
struct mark {
	raddr_t at;
	bool begins;
};

struct marks {
	struct mark *v;
	size_t n, cap;
};

/* "camlUnit__code_begin"; since OCaml 5.1 "camlUnit.code_begin", and with a $ where assemblers want
 * no dot. */
static bool ends_in(const char *s, size_t n, const char *end)
{
	static const char *const before[] = { "__", ".", "$" };
	size_t len = strlen(end);

	if (n <= len || memcmp(s + n - len, end, len) != 0)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(before); i++) {
		size_t more = strlen(before[i]);

		if (n > len + more && !memcmp(s + n - len - more, before[i], more))
			return true;
	}
	return false;
}

static int add_mark(struct marks *m, const char *name, raddr_t at)
{
	size_t n = strlen(name);
	bool begins = ends_in(name, n, "code_begin");
	struct mark *mark;

	if (!begins && !ends_in(name, n, "code_end"))
		return 0;
	mark = vec_push(m->v, m->n, m->cap);
	if (!mark)
		return fail(ENOMEM, "list the code of OCaml's");
	*mark = (struct mark){ at, begins };
	return 0;
}

static int add_table(struct marks *m, const struct symtab *t)
{
	GElf_Sym sym;
	int err = 0;

	for (size_t i = 0; !err && symtab_get(t, i, &sym); i++) {
		const char *name = symtab_name(t, &sym);

		if (sym.st_shndx != SHN_UNDEF && !strncmp(name, "caml", 4))
			err = add_mark(m, name, sym.st_value);
	}
	return err;
}

static int compare_marks(const void *a, const void *b)
{
	const struct mark *x = a, *y = b;

	return x->at < y->at ? -1 : x->at > y->at;
}

/* Some units have no code: they begin where they end, and another begins. */
static void ocaml_join(const struct marks *m, struct range *ret, size_t *n)
{
	size_t open = 0;

	for (size_t i = 0, next; i < m->n; i = next) {
		size_t before = open, ends = 0;

		for (next = i; next < m->n && m->v[next].at == m->v[i].at; next++)
			m->v[next].begins ? open++ : ends++;
		open -= MIN(open, ends);
		if (open && !before)
			ret[*n].start = m->v[i].at;
		if (!open && before)
			ret[(*n)++].end = m->v[i].at;
	}
}

int ocaml_find(const struct symtab *const *tables, struct range **ret, size_t *n)
{
	struct marks m = { 0 };
	int err = 0;

	for (; *tables && !err; tables++)
		err = add_table(&m, *tables);
	if (!err && m.n) {
		vec_sort(m.v, m.n, compare_marks);
		*ret = calloc(m.n, sizeof(**ret));
		if (*ret)
			ocaml_join(&m, *ret, n);
		else
			err = fail(ENOMEM, "list the code of OCaml's");
	}
	free(m.v);
	return err;
}
