/* SPDX-License-Identifier: MIT */
/* export: a recording in the formats of other tools. */
#include "trace/export/export.h"

#include <stdio.h>
#include <string.h>

static const struct export_format *const formats[] = {
#define X(name) &format_##name,
	EXPORT_FORMATS(X)
#undef X
};

const struct export_format *export_format_at(size_t i)
{
	return i < ARRAY_SIZE(formats) ? formats[i] : NULL;
}

const char *export_names(void)
{
	static char names[32 * ARRAY_SIZE(formats)];
	size_t n = 0;

	for (size_t i = 0; i < ARRAY_SIZE(formats); i++)
		n += (size_t)snprintf(names + n, sizeof(names) - n, "%s%s",
				      !i ? "" : i + 1 < ARRAY_SIZE(formats) ? ", " : " or ",
				      formats[i]->name);
	return names;
}

int export_find(const char *name, const struct export_format **ret)
{
	for (size_t i = 0; i < ARRAY_SIZE(formats); i++)
		if (strcmp(name, formats[i]->name) == 0) {
			*ret = formats[i];
			return 0;
		}
	return fail(0, "--to %s: the format is %s", name, export_names());
}
