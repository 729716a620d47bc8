/* SPDX-License-Identifier: MIT */
#include "trace/format/copies.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void copies_put(FILE *f, size_t id, const struct reader_func *func)
{
	if (!func->begins && !func->hidden && !func->nends && !func->as && !func->nwith)
		return;
	fprintf(f, "\tcopy_%zu = \"%s%s", id, func->begins ? "begins " : "",
		func->hidden ? "hidden " : "");
	if (func->as)
		fprintf(f, "as %u ", func->as);
	for (size_t i = 0; i < func->nwith; i++)
		fprintf(f, "%s%u ", i ? "" : "with ", func->with[i]);
	if (func->nends)
		fputs("ends", f);
	for (size_t i = 0; i < func->nends; i++)
		fprintf(f, " %s%u", func->ends[i].thrown ? "!" : "", func->ends[i].func);
	fputs("\";\n", f);
}

static bool take_word(const char **p, const char *word)
{
	size_t n = strlen(word);

	if (strncmp(*p, word, n))
		return false;
	*p += n;
	return true;
}

/* Room for as many numbers of `size` bytes as the text may have; the metadata owns it. NULL: no
 * memory. */
static void *make_room(struct metadata *m, const char *p, size_t size)
{
	void *room = calloc(strlen(p) / 2 + 1, size);
	char **slot = room ? vec_push(m->strings, m->nstrings, m->strings_cap) : NULL;

	if (!slot) {
		free(room);
		return NULL;
	}
	*slot = room;
	return room;
}

/* False: it is none. A number that is too large is one of no function. */
static bool take_number(const char **p, uint32_t *ret)
{
	char *end;
	unsigned long id = **p >= '0' && **p <= '9' ? strtoul(*p, &end, 10) : 0;

	if (**p < '0' || **p > '9')
		return false;
	*ret = (uint32_t)MIN(id, (unsigned long)UINT32_MAX);
	*p = end;
	return true;
}

static int take_with(struct metadata *m, struct reader_func *f, const char **p)
{
	uint32_t *ids = make_room(m, *p, sizeof(*ids));

	if (!ids)
		return -ENOMEM;
	f->with = ids;
	while (f->nwith < COPIES_WITH && take_number(p, &ids[f->nwith])) {
		f->nwith++;
		*p += **p == ' ';
	}
	return 0;
}

static int take_ends(struct metadata *m, struct reader_func *f, const char *p)
{
	struct copy_ended *ends = make_room(m, p, sizeof(*ends));

	if (!ends)
		return -ENOMEM;
	f->ends = ends;
	for (f->nends = 0; *p == ' '; f->nends++) {
		struct copy_ended *end = &ends[f->nends];

		end->thrown = *++p == '!';
		p += end->thrown;
		if (!take_number(&p, &end->func))
			break;
	}
	return 0;
}

int copies_take(struct metadata *m, struct reader_func *f, const char *value)
{
	const char *p = value;
	int err = 0;

	f->begins = take_word(&p, "begins ");
	f->hidden = take_word(&p, "hidden ");
	if (take_word(&p, "as ") && take_number(&p, &f->as))
		p += *p == ' ';
	if (take_word(&p, "with "))
		err = take_with(m, f, &p);
	return !err && take_word(&p, "ends") ? take_ends(m, f, p) : err;
}
