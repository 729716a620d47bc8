/* SPDX-License-Identifier: MIT */
#include "injector/modules/select_line.h"

#include <errno.h>
#include <string.h>

#include "injector/log/say.h"

bool line_is_in(const struct pattern *at, struct module *m)
{
	return !m->is_payload && module_is_meant(m, at, module_is_apart(m));
}

/* What stands before the line's number. */
static char *file_of(const struct pattern *at)
{
	return strndup(at->name, (size_t)(strrchr(at->name, ':') - at->name));
}

static int find(const struct pattern *at, struct lineplaces *sought, const struct module *m)
{
	auto_free char *file = file_of(at);

	sought->n = 0;
	int err = file ? lineplaces_find(m->symbols, m->fd, file, at->offset, sought) : -ENOMEM;

	return err ? fail(ENOMEM, "look for line %s", at->name) : 0;
}

int places_add_line(struct marked_places *places, struct pattern *at, struct lineplaces *sought,
		    struct module *m)
{
	int err = m->symbols && line_is_in(at, m) ? find(at, sought, m) : -ENOENT;

	if (err)
		return err == -ENOENT ? 0 : err;
	for (size_t i = 0; i < sought->n && !err; i++) {
		const struct func *f = place_owner(m->symbols, sought->v[i]);

		if (!f)
			continue;
		at->matched = true;
		err = places_add(places, (struct marked_place){ .func = f, .pc = sought->v[i],
								.line = at->name });
	}
	return err ? fail(ENOMEM, "list places of line %s", at->name) : 0;
}

int line_check(const struct pattern *at, const struct lineplaces *sought)
{
	auto_free char *text = NULL;
	size_t size;

	if (sought->nfiles < 2)
		return 0;
	FILE *f = open_memstream(&text, &size);

	for (size_t i = 0; f && i < MIN(sought->nfiles, (size_t)LINEPLACES_FILES); i++) {
		char clean[1024];

		fprintf(f, "%s%s", i ? ", " : "",
			say_clean(sought->files[i], clean, sizeof(clean)));
	}
	if (f && sought->nfiles > LINEPLACES_FILES)
		fprintf(f, ", ...");
	if (!f || fclose(f))
		return fail(ENOMEM, "look for line %s", at->name);
	fail(0, "--at %s: more than one file is called so: %s; give more of its name", at->name, text);
	return -EINVAL;
}

void line_hint(FILE *f, const struct modules *modules, const struct pattern *at)
{
	struct lineplaces all = { 0 };

	for (size_t i = 0; i < modules->n; i++) {
		struct module *m = &modules->v[i];

		if (m->symbols && line_is_in(at, m) && find(at, &all, m))
			fail_clear();
	}
	if (all.nfiles)
		fprintf(f, "what is at %s is in no function that is known\n", at->name);
	else if (all.next)
		fprintf(f, "no code is of line %s; the next that has some is %ju\n", at->name,
			(uintmax_t)all.next);
	else if (all.has_file)
		fprintf(f, "no code is of line %s, nor of one behind it\n", at->name);
	else if (all.too_large)
		fprintf(f, "no line %s: debug information of %ju MB is not read\n", at->name,
			(uintmax_t)(all.too_large >> 20));
	else
		fprintf(f, "no debug information has a source file that is called as in %s\n",
			at->name);
	lineplaces_clear(&all);
}
