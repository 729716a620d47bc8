/* SPDX-License-Identifier: MIT */
/* export: a recording in the formats of other tools. */
#include "trace/export.h"

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

int export_find(const char *name, const struct export_format **ret)
{
	for (size_t i = 0; i < ARRAY_SIZE(formats); i++)
		if (strcmp(name, formats[i].name) == 0) {
			*ret = &formats[i];
			return 0;
		}
	return fail(0, "--to %s: the formats are chrome, ctf, dot, folded, perfetto, pprof, "
		       "speedscope, svg and uftrace", name);
}
