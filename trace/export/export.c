/* SPDX-License-Identifier: MIT */
/* export: a recording in the formats of other tools. */
#include "trace/export/export.h"

#include <stdio.h>
#include <string.h>

static const struct export_format formats[] = {
	{ "chrome", .run = export_chrome, .moments = true },
	{ "ctf", .make = export_ctf, .directory = "ctf.data", .moments = true, .events = true },
	{ "dot", .run = export_dot },
	{ "folded", .run = export_folded },
	{ "perfetto", .run = export_perfetto, .binary = true, .moments = true },
	{ "pprof", .run = export_pprof, .binary = true },
	{ "speedscope", .run = export_speedscope },
	{ "svg", .run = export_svg },
	{ "uftrace", .make = export_uftrace, .directory = "uftrace.data", .moments = true },
};

const struct export_format *export_format_at(size_t i)
{
	return i < ARRAY_SIZE(formats) ? &formats[i] : NULL;
}

const char *export_names(void)
{
	static char names[32 * ARRAY_SIZE(formats)];
	size_t n = 0;

	for (size_t i = 0; i < ARRAY_SIZE(formats); i++)
		n += (size_t)snprintf(names + n, sizeof(names) - n, "%s%s",
				      !i ? "" : i + 1 < ARRAY_SIZE(formats) ? ", " : " or ",
				      formats[i].name);
	return names;
}

int export_find(const char *name, const struct export_format **ret)
{
	for (size_t i = 0; i < ARRAY_SIZE(formats); i++)
		if (strcmp(name, formats[i].name) == 0) {
			*ret = &formats[i];
			return 0;
		}
	return fail(0, "--to %s: the format is %s", name, export_names());
}
