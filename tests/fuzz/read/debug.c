/* SPDX-License-Identifier: MIT */
/*
 * debug: the input is a file with debug information, and notes of places for tracers. What is known
 * of its functions' values is asked, what is inlined in them, where its lines are, how its stacks
 * are walked, and the notes.
 */
#include <errno.h>
#include <sys/mman.h>

#include "symbols/funcs/usdt.h"
#include "symbols/lines/lineplaces.h"
#include "symbols/types/signatures.h"
#include "symbols/unwind/rows.h"
#include "tests/fuzz/read/read.h"
#include "tests/unit/symbols_world.h"
#include "values/compile.h"
#include "values/text.h"

enum { FUNCS = 40, PLACES = 4 };

/* What is known can be kept and shown, and what is to be read of it can be executed. */
static void use(struct signature *s)
{
	struct read_plan plan;
	char line[512];

	reads_compile(s, &(struct compile_options){ .deep = 2 }, &plan);
	MUST(reads_check(&plan) == 0);
	values_declaration(s, "f", line, sizeof(line));
	MUST(memchr(line, '\0', sizeof(line)));
	signature_clear(s);
}

static void ask(struct signatures *from, const struct func *f)
{
	struct signature s;
	char *names;

	if (!signatures_get(from, f, &s))
		use(&s);
	for (uint64_t i = 0; i < PLACES; i++) {
		raddr_t pc = f->range.start + i * range_size(f->range) / PLACES;

		if (!signatures_at(from, f, pc, 0, 0, &s))
			use(&s);
		MUST(signatures_inlined(from, f, pc, &names) == 0);
		for (const char *p = names; p && *p; p += strlen(p) + 1)
			;
		free(names);
	}
}

static void values(const struct symbols *s, int fd)
{
	struct signatures *from;

	MUST(signatures_open(s, fd, &from) == 0);
	for (size_t i = 0; i < s->nfuncs && i < FUNCS; i++)
		ask(from, &s->funcs[i]);
	signatures_close(from);
}

static void lines(const struct symbols *s, int fd)
{
	struct lineplaces l = { 0 };

	for (uint64_t line = 1; line < 12; line += 5) {
		MUST(lineplaces_find(s, fd, "a.c", line, &l) == 0);
		for (size_t i = 1; i < l.n; i++)
			MUST(l.v[i - 1] < l.v[i]);
		lineplaces_clear(&l);
	}
}

static void rows(int fd)
{
	struct unwind_rows r;

	if (unwind_rows_open(fd, "hostile", "/nonexistent", (struct range){ 0, UINT64_MAX }, &r))
		return;
	for (size_t i = 0; i < r.n; i++)
		MUST(r.v[i].rule < r.nrules && (!i || r.v[i - 1].at < r.v[i].at));
	unwind_rows_clear(&r);
}

static void notes(int fd)
{
	const struct usdt_sites *u = NULL;

	if (!usdt_read(fd, "hostile", &u))
		for (size_t i = 0; i < u->n; i++)
			MUST(strchr(u->v[i].name, ':') && u->v[i].args);
	usdt_free(u);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	auto_close int fd = memfd_create("hostile", MFD_CLOEXEC);
	struct symbols *s;

	symbols_set_debug_root("/nonexistent");
	MUST(fd >= 0 && write(fd, data, size) == (ssize_t)size);
	notes(fd);
	rows(fd);
	if (!symbols_open(fd, "hostile", &s)) {
		values(s, fd);
		lines(s, fd);
		symbols_close(s);
	}
	fail_clear();
	return 0;
}
