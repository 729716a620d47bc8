/* SPDX-License-Identifier: MIT */
#include "trace/format/copies.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void copies_put(FILE *f, size_t id, const struct reader_func *func)
{
	if (!func->begins && !func->hidden && !func->nends && !func->as)
		return;
	fprintf(f, "\tcopy_%zu = \"%s%s", id, func->begins ? "begins " : "",
		func->hidden ? "hidden " : "");
	if (func->as)
		fprintf(f, "as %u ", func->as);
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

/* As many as there are numbers. */
static int take_ends(struct metadata *m, struct reader_func *f, const char *p)
{
	struct copy_ended *ends = calloc(strlen(p) / 2 + 1, sizeof(*ends));
	char **slot = ends ? vec_push(m->strings, m->nstrings, m->strings_cap) : NULL;
	char *end;

	if (!slot) {
		free(ends);
		return -ENOMEM;
	}
	*slot = (char *)ends;
	f->ends = ends;
	for (f->nends = 0; *p == ' '; p = end) {
		bool thrown = p[1] == '!';
		unsigned long id = strtoul(p + 1 + thrown, &end, 10);

		if (end == p + 1 + thrown)
			break;
		ends[f->nends++] = (struct copy_ended){
			(uint32_t)MIN(id, (unsigned long)UINT32_MAX), thrown };
	}
	return 0;
}

int copies_take(struct metadata *m, struct reader_func *f, const char *value)
{
	const char *p = value;

	f->begins = take_word(&p, "begins ");
	f->hidden = take_word(&p, "hidden ");
	if (take_word(&p, "as ")) {
		char *end;

		f->as = (uint32_t)MIN(strtoul(p, &end, 10), (unsigned long)UINT32_MAX);
		p = *end == ' ' ? end + 1 : end;
	}
	return take_word(&p, "ends") ? take_ends(m, f, p) : 0;
}
