/* SPDX-License-Identifier: MIT */
/* export: a recording in the formats of other tools. */
#include "trace/export.h"

#include <string.h>

static const struct export_format formats[] = {
	{ "chrome", export_chrome, false, true },
	{ "dot", export_dot, false, false },
	{ "folded", export_folded, false, false },
	{ "perfetto", export_perfetto, true, true },
	{ "pprof", export_pprof, true, false },
	{ "speedscope", export_speedscope, false, false },
	{ "svg", export_svg, false, false },
	{ "uftrace", NULL, false, true },
};

int export_find(const char *name, const struct export_format **ret)
{
	for (size_t i = 0; i < ARRAY_SIZE(formats); i++)
		if (strcmp(name, formats[i].name) == 0) {
			*ret = &formats[i];
			return 0;
		}
	return fail(0, "--to %s: the formats are chrome, dot, folded, perfetto, pprof, speedscope, "
		       "svg and uftrace", name);
}
