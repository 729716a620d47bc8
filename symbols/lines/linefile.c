/* SPDX-License-Identifier: MIT */
#include "symbols/lines/linefile.h"

#include <string.h>

#include "symbols/elf/cursor.h"

enum { FORMATS_MAX = 16 };	/* pieces of an entry; compilers have four */

struct table {
	const struct line_sections *sections;
	struct cursor c;
	size_t offset_size;
	unsigned int version;
	const char *sought;	/* a name's last component; NULL: none is */
	bool has_sought;
};

static const char *take_string(struct cursor *c)
{
	const char *text = (const char *)c->p;
	const uint8_t *end = memchr(c->p, '\0', cursor_left(c));

	if (!end) {
		c->bad = true;
		return NULL;
	}
	cursor_skip(c, (uint64_t)(end - c->p) + 1);
	return text;
}

static const char *string_at(const Elf_Data *d, uint64_t at)
{
	const char *text = d ? d->d_buf : NULL;

	return text && at < d->d_size && memchr(text + at, '\0', d->d_size - at) ? text + at : NULL;
}

static const char *last_part(const char *path)
{
	const char *slash = path ? strrchr(path, '/') : NULL;

	return slash ? slash + 1 : path;
}

static void look_for(struct table *t, const char *name)
{
	t->has_sought |= name && t->sought && !strcmp(last_part(name), t->sought);
}

/* ---- version 5 ----------------------------------------------------------- */

/* One piece of an entry; *text if it is one. */
static void take_form(struct table *t, uint64_t form, const char **text)
{
	struct cursor *c = &t->c;

	switch (form) {
	case DW_FORM_string:
		*text = take_string(c);
		break;
	case DW_FORM_line_strp:
		*text = string_at(t->sections->line_str, cursor_uint(c, t->offset_size));
		break;
	case DW_FORM_strp:
		*text = string_at(t->sections->str, cursor_uint(c, t->offset_size));
		break;
	case DW_FORM_udata:
		cursor_uleb(c);
		break;
	case DW_FORM_data1:
		cursor_skip(c, 1);
		break;
	case DW_FORM_data2:
		cursor_skip(c, 2);
		break;
	case DW_FORM_data4:
		cursor_skip(c, 4);
		break;
	case DW_FORM_data8:
		cursor_skip(c, 8);
		break;
	case DW_FORM_data16:
		cursor_skip(c, 16);
		break;
	case DW_FORM_block:
		cursor_skip(c, cursor_uleb(c));
		break;
	default:
		c->bad = true;
	}
}

/* A table of directories or files: the name of entry `number`; NULL if there is none. All
 * of it is passed. */
static const char *take_entries(struct table *t, uint64_t number)
{
	struct cursor *c = &t->c;
	uint64_t kinds[FORMATS_MAX] = { 0 }, forms[FORMATS_MAX] = { 0 };
	size_t n = cursor_uint(c, 1);
	const char *found = NULL;

	if (n > FORMATS_MAX)
		c->bad = true;
	for (size_t i = 0; i < n && !c->bad; i++) {
		kinds[i] = cursor_uleb(c);
		forms[i] = cursor_uleb(c);
	}
	uint64_t entries = cursor_uleb(c);

	/* Each form takes a byte at least, so that this ends. */
	for (uint64_t k = 0; n && k < entries && !c->bad; k++)
		for (size_t i = 0; i < n && !c->bad; i++) {
			const char *text = NULL;

			take_form(t, forms[i], &text);
			if (kinds[i] != DW_LNCT_path)
				continue;
			look_for(t, text);
			if (k == number)
				found = text;
		}
	return c->bad ? NULL : found;
}

/* ---- before -------------------------------------------------------------- */

/* From 1 up; an empty string ends the table. */
static const char *take_files(struct table *t, uint64_t number)
{
	struct cursor *c = &t->c;
	const char *text;

	do
		text = take_string(c);
	while (text && *text);
	while ((text = take_string(c)) && *text) {
		look_for(t, text);
		if (!--number)
			return text;
		for (int i = 0; i < 3; i++)
			cursor_uleb(c);
	}
	return NULL;
}

/* -------------------------------------------------------------------------- */

/* Of the header, up to its tables. */
static void pass_header(struct table *t)
{
	struct cursor *c = &t->c;
	uint64_t length = cursor_uint(c, 4);

	t->offset_size = length == 0xffffffff ? 8 : 4;
	if (t->offset_size == 8)
		length = cursor_uint(c, 8);
	*c = cursor_take(c, length);
	t->version = (unsigned int)cursor_uint(c, 2);
	if (t->version < 2 || t->version > 5)
		c->bad = true;
	if (t->version == 5)
		cursor_skip(c, 2);	/* sizes of addresses */
	cursor_skip(c, t->offset_size);
	/* Lengths, the first value of is_stmt, base and range of lines */
	cursor_skip(c, t->version >= 4 ? 5 : 4);
	uint64_t opcodes = cursor_uint(c, 1);

	cursor_skip(c, opcodes ? opcodes - 1 : 0);
}

static bool begin(const struct line_sections *s, uint64_t unit, struct table *t)
{
	const Elf_Data *d = s->line;

	if (!d || !d->d_buf || unit >= d->d_size)
		return false;
	*t = (struct table){ .sections = s, .c = {
		.p = (const uint8_t *)d->d_buf + unit,
		.end = (const uint8_t *)d->d_buf + d->d_size,
	} };
	pass_header(t);
	return !t->c.bad;
}

/* `number` UINT64_MAX: none. */
static const char *pass_files(struct table *t, uint64_t number)
{
	if (t->version < 5)
		return number ? take_files(t, number) : NULL;
	take_entries(t, UINT64_MAX);	/* directories */
	return take_entries(t, number);
}

const char *linefile_name(const struct line_sections *s, uint64_t unit, uint64_t number)
{
	struct table t;

	return begin(s, unit, &t) ? last_part(pass_files(&t, number)) : NULL;
}

bool linefile_has(const struct line_sections *s, uint64_t unit, const char *base)
{
	struct table t;

	if (!begin(s, unit, &t))
		return false;
	t.sought = base;
	pass_files(&t, UINT64_MAX);
	return t.has_sought;
}
