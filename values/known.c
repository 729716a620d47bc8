/* SPDX-License-Identifier: MIT */
#include "values/known.h"

#include <errno.h>
#include <string.h>

#include "values/hand.h"

/* A library's files begin so: the name may have a version behind it. */
static const struct library {
	const char *begins;
	const char *const *lines;
} libraries[] = {
	{ "libc.so", known_libc }, { "libc-2.", known_libc },
	{ "libc.so", known_pthread }, { "libc-2.", known_pthread },
	{ "libpthread", known_pthread },
	{ "libc.musl-", known_libc }, { "libc.musl-", known_pthread },
	{ "ld-musl-", known_libc }, { "ld-musl-", known_pthread },
	{ "libssl.so", known_ssl }, { "libcrypto.so", known_ssl },
	{ "libz.so", known_zlib },
	{ "libpq.so", known_databases }, { "libsqlite3.so", known_databases },
	{ "libmysqlclient.so", known_databases }, { "libmariadb.so", known_databases },
};

static const char *const *const tables[] = {
	known_libc, known_pthread, known_ssl, known_zlib, known_databases,
	known_usdt,
};

static const char *find_line(const char *const *lines, const char *symbol)
{
	size_t n = strlen(symbol);

	for (; *lines; lines++)
		if (!strncmp(*lines, symbol, n) && (*lines)[n] == '(')
			return *lines;
	return NULL;
}

int known_find(const char *library, const char *symbol, uint16_t machine, struct signature *ret)
{
	struct hand_error error;
	size_t name;

	for (size_t i = 0; i < ARRAY_SIZE(libraries); i++) {
		const struct library *l = &libraries[i];
		const char *line = strncmp(library, l->begins, strlen(l->begins)) ? NULL :
			find_line(l->lines, symbol);

		if (!line)
			continue;
		int err = hand_parse(line, machine, ret, &name, &error);

		if (!err)
			ret->source = SIGNATURE_KNOWN;
		return err == -EINVAL ? -ENOENT : err;
	}
	return -ENOENT;
}

static void refine(struct parameter *p, const struct parameter *known)
{
	if (known->contents.behind == BEHIND_TEXT || known->contents.behind == BEHIND_BYTES)
		p->contents = known->contents;
}

void known_refine(const char *library, const char *symbol, struct signature *s)
{
	struct signature known;

	if (known_find(library, symbol, s->machine, &known))
		return;
	for (size_t i = 0; i < s->nparams && known.nparams == s->nparams; i++)
		refine(&s->params[i], &known.params[i]);
	if (known.nparams == s->nparams)
		refine(&s->result, &known.result);
	signature_clear(&known);
}

const char *known_wrong(uint16_t machine)
{
	for (size_t i = 0; i < ARRAY_SIZE(tables); i++)
		for (const char *const *line = tables[i]; *line; line++) {
			struct hand_error error;
			struct signature s;
			size_t name;

			if (hand_parse(*line, machine, &s, &name, &error))
				return *line;
			signature_clear(&s);
		}
	return NULL;
}

size_t known_count(void)
{
	size_t n = 0;

	for (size_t i = 0; i < ARRAY_SIZE(tables); i++)
		for (const char *const *line = tables[i]; *line; line++)
			n++;
	return n;
}
