/* SPDX-License-Identifier: MIT */
/*
 * symbols_world: what does a test of the symbols need? A directory of its own,
 * compilers that make ELF files in it, and a way to look at the result.
 */
#ifndef TESTS_UNIT_SYMBOLS_WORLD_H
#define TESTS_UNIT_SYMBOLS_WORLD_H

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "symbols/symbols.h"
#include "tests/unit/check.h"

static char world_dir[256];
static const char *world_cc;

/* Run a shell command in the directory; its exit status. */
static inline __attribute__((format(printf, 1, 2))) int
world_run(const char *fmt, ...)
{
	char command[2048];
	va_list ap;
	int n = snprintf(command, sizeof(command), "cd '%s' && ", world_dir);

	va_start(ap, fmt);
	vsnprintf(command + n, sizeof(command) - n, fmt, ap);
	va_end(ap);
	/* A sanitizer of ours is none of the compiler's business. */
	unsetenv("LD_PRELOAD");
	int status = system(command);

	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static inline bool world_has(const char *program)
{
	return !world_run("command -v %s >/dev/null 2>&1", program);
}

static inline void world_remove(void)
{
	world_run("cd / && rm -rf '%s'", world_dir);
}

/* Exits 77 where there is no compiler. */
static inline void world_open(void)
{
	const char *tmp = getenv("TMPDIR");

	snprintf(world_dir, sizeof(world_dir), "%s/inject-symbols.XXXXXX",
		 tmp ? tmp : "/tmp");
	MUST(mkdtemp(world_dir));
	atexit(world_remove);
	world_cc = getenv("CC") ? getenv("CC") : "gcc";
	if (!world_has(world_cc)) {
		printf("skipped: no compiler (%s)\n", world_cc);
		exit(77);
	}
}

static inline const char *world_path(const char *name)
{
	static char paths[4][512];
	static unsigned int turn;
	char *path = paths[turn++ % 4];

	snprintf(path, sizeof(paths[0]), "%s/%s", world_dir, name);
	return path;
}

static inline void world_write(const char *name, const char *text)
{
	FILE *f = fopen(world_path(name), "w");

	MUST(f && fputs(text, f) >= 0 && !fclose(f));
}

static inline int world_try(const char *path, struct symbols **ret)
{
	auto_close int fd = open(path, O_RDONLY | O_CLOEXEC);

	MUST(fd >= 0);
	return symbols_open(fd, path, ret);
}

static inline struct symbols *world_symbols(const char *name)
{
	struct symbols *s = NULL;

	MUST_EQ(world_try(*name == '/' ? name : world_path(name), &s), 0);
	return s;
}

/* The function that has this raw name, be it as an alias; or NULL. */
static inline const struct func *world_find(const struct symbols *s,
					    const char *raw)
{
	for (size_t i = 0; i < s->nfuncs; i++) {
		const struct func *f = &s->funcs[i];

		if (!strcmp(f->raw, raw))
			return f;
		for (uint32_t k = 0; k < f->naliases; k++)
			if (!strcmp(s->aliases[f->alias + k].raw, raw))
				return f;
	}
	return NULL;
}

static inline const struct func *world_func(const struct symbols *s,
					    const char *raw)
{
	const struct func *f = world_find(s, raw);

	if (!f)
		fprintf(stderr, "no function %s in %s\n", raw, s->path);
	MUST(f);
	return f;
}

static inline size_t world_pointers_in(const struct symbols *s, struct range r)
{
	size_t n = 0;

	for (size_t i = 0; i < s->npointers; i++)
		n += range_has(r, s->pointers[i]);
	return n;
}

/* What every result promises, whatever the file. */
static inline void world_check_invariants(const struct symbols *s)
{
	size_t n;

	for (size_t i = 0; i < s->nfuncs; i++) {
		const struct func *f = &s->funcs[i];

		MUST(f->name && f->full && f->raw);
		MUST(f->range.start <= f->range.end);
		MUST(!i || f->range.start > f[-1].range.start);
		MUST(symbols_text(s, f->range.start, &n));
		MUST(n >= range_size(f->range));
		MUST(f->parent >= -1 && f->parent < (int64_t)s->nfuncs);
		MUST(f->parent < 0 || f->flags & FUNC_FRAGMENT);
		MUST(!f->naliases || f->alias + f->naliases <= s->naliases);
	}
	for (size_t i = 0; i < s->npointers; i++) {
		MUST(!i || s->pointers[i] > s->pointers[i - 1]);
		MUST(symbols_text(s, s->pointers[i], &n));
	}
}

/* Ask for everything that can be asked. */
static inline void world_ask(const struct symbols *s)
{
	struct pattern p;
	uint8_t buf[64];
	bool exact;
	int64_t offset;
	raddr_t addr;

	world_check_invariants(s);
	MUST_EQ(pattern_parse("*ma[hi]n*", &p), 0);
	for (size_t i = 0; i < s->nfuncs; i++) {
		const struct func *f = &s->funcs[i];

		pattern_match(&p, s, f, &exact);
		symbols_cfa_offset(s, f->range.start, &offset);
		symbols_cfa_offset(s, f->range.end - 1, &offset);
		symbols_func_at(s, f->range.start + 1);
		symbols_read(s, f->range.end - 1, buf, sizeof(buf));
	}
	symbols_dynamic(s, "work", &addr);
	pattern_clear(&p);
}

#endif
