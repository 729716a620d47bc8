/* SPDX-License-Identifier: MIT */
#include "injector/show/naming_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "injector/show/describe.h"

/* To open a device is to do something with it: so it is looked at first, and then opened itself. */
static int open_regular(const char *path)
{
	auto_close int there = open(path, O_PATH | O_CLOEXEC);
	char self[48];
	struct stat st;

	if (there < 0 || fstat(there, &st) < 0 || !S_ISREG(st.st_mode))
		return -1;
	snprintf(self, sizeof(self), "/proc/self/fd/%d", there);
	return open(self, O_RDONLY | O_CLOEXEC);
}

static bool is_same(const struct module *m, const struct about_module *was)
{
	char id[BUILD_ID_TEXT];

	describe_build_id(m->symbols, id);
	return id[0] && strcmp(id, was->build_id) == 0;
}

static int add_file(struct naming_files *n, const struct about_module *was)
{
	struct module *m = vec_push(n->mods.v, n->mods.n, n->mods.cap);
	const char *slash = strrchr(was->path, '/');

	if (!m)
		return fail(ENOMEM, "read %s", was->path);
	*m = (struct module){ .fd = open_regular(was->path), .path = strdup(was->path) };
	if (!m->path)
		return fail(ENOMEM, "read %s", was->path);
	m->base = m->path + (slash ? slash + 1 - was->path : 0);
	if (m->fd < 0 || module_symbols(m) < 0 || !is_same(m, was))
		n->others++;
	m->bias = was->base;
	return 0;
}

static bool keep_known(void *ctx, const struct module *m)
{
	const struct about *a = ctx;

	for (size_t i = 0; i < a->nmodules && m->symbols; i++)
		if (a->modules[i].path && a->modules[i].base == m->bias &&
		    strcmp(a->modules[i].path, m->path) == 0 && is_same(m, &a->modules[i]))
			return true;
	return false;
}

int naming_files_open(struct naming_files *n, const struct about *a)
{
	int err = 0;

	*n = (struct naming_files){ 0 };
	for (size_t i = 0; i < a->nmodules && !err; i++) {
		const struct about_module *m = &a->modules[i];

		/* ([vdso] is no file, nor is the payload's memory.) */
		if (m->path && m->path[0] == '/' && strncmp(m->path, "/memfd:", 7))
			err = add_file(n, m);
	}
	fail_clear();
	if (err)
		return -ENOMEM;
	modules_keep(&n->mods, keep_known, (void *)a);
	return 0;
}

static bool has_code_at(const struct symbols *s, raddr_t at)
{
	for (size_t i = 0; i < s->ntexts; i++)
		if (range_has(s->texts[i].range, at))
			return true;
	return false;
}

/* What lies elsewhere may be code that was made at run time. */
bool naming_files_find(void *ctx, uint64_t address, struct caller *ret)
{
	struct naming_files *n = ctx;
	raddr_t at = address & ~CALLERS_EXACT, before = at - !(address & CALLERS_EXACT);

	*ret = (struct caller){ .address = address };
	for (size_t i = 0; i < n->mods.n; i++) {
		const struct module *m = &n->mods.v[i];

		if (!has_code_at(m->symbols, before - m->bias))
			continue;
		const struct func *f = symbols_func_at(m->symbols, before - m->bias);

		ret->module = m->base;
		ret->func = f ? f->name : NULL;
		ret->offset = at - m->bias - (f ? f->range.start : 0);
		return true;
	}
	return true;
}

void naming_files_close(struct naming_files *n)
{
	modules_close(&n->mods);
}
