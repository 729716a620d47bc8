/* SPDX-License-Identifier: MIT */
#include "injector/show/list_values.h"

#include <errno.h>
#include <string.h>

#include "injector/log/say.h"
#include "symbols/types/signatures.h"
#include "values/compile.h"
#include "values/text.h"

enum { LINE_MAX_BYTES = 4096 };

static void print_clean(const char *text, struct output *out)
{
	char clean[LINE_MAX_BYTES];

	output_printf(out, "%s", say_clean(text, clean, sizeof(clean)));
}

static int find_signature(const struct selected *s, size_t i, struct signature *ret)
{
	const struct marked_place *place = selected_place(s, i);

	if (!place)
		return module_signature(s->module, s->funcs[i], ret);
	return place->site ? module_usdt_signature(s->module, place->site, NULL, ret) :
		module_signature_at(s->module, place, ret);
}

int list_values_print(const struct compile_options *o, const struct selected *s, size_t i,
		      struct output *out)
{
	char line[LINE_MAX_BYTES];
	struct signature signature;
	struct read_plan plan;
	int err = find_signature(s, i, &signature);

	if (err)
		return err == -ENOENT ? 0 : err;
	reads_compile(&signature, o, &plan);
	bool place = selected_place(s, i);

	values_declaration(&signature, place ? s->names[i] : s->funcs[i]->name, line, sizeof(line));
	output_printf(out, "  ");
	/* There is no result of a place. */
	print_clean(line + (place ? strlen("void ") : 0), out);
	if (values_read(&signature, &plan, line, sizeof(line))) {
		output_printf(out, "  # ");
		print_clean(line, out);
	}
	output_printf(out, "\n");
	signature_clear(&signature);
	return 0;
}

void list_values_say(const struct selection *sel)
{
	for (size_t i = 0; i < sel->n; i++) {
		const struct module *m = sel->v[i].module;
		uint64_t size = m->signatures ? signatures_too_large(m->signatures) : 0;
		const char *missing = m->signatures ? signatures_missing(m->signatures) : NULL;

		if (size)
			say("%s: its debug information has %ju MB, which is not read: no types",
			    m->base, (uintmax_t)(size >> 20));
		if (missing)
			say("%s: %s, to which debug information was split, is not found, nor %s.dwp "
			    "with it: no types", m->base, missing, m->base);
	}
}
