/* SPDX-License-Identifier: MIT */
/*
 * Is the plan of a few functions the same whether all text is read for it, or only
 * what may tell of them?
 *
 * Every function of the C library and of this program comes up once, ten at a time
 * that lie far from each other. With files as arguments: theirs.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "plan/plan.h"

enum { FEW = 10 };

static bool same_site(const struct site *a, const struct site *b)
{
	return a->pc == b->pc && a->window == b->window && a->dead == b->dead &&
		a->tactic == b->tactic && a->level == b->level && a->kept == b->kept &&
		a->hole.pc == b->hole.pc && a->nexits == b->nexits;
}

static bool same_probe(const struct probe *a, const struct probe *b)
{
	bool same = a->refusal == b->refusal && a->entry_only == b->entry_only &&
		a->nexits == b->nexits && a->nsites == b->nsites;

	for (size_t i = 0; same && i < a->nsites; i++)
		same = same_site(&a->sites[i], &b->sites[i]);
	return same;
}

/* Functions `at`, `at` + `stride` and so on, by both. */
static int compare(const struct arch *const arches[2], const struct symbols *syms,
		   size_t at, size_t stride)
{
	const struct plan_options o = { .hosts = true, .puns = true };
	const struct func *few[FEW];
	struct plan *plans[2] = { 0 };
	int different = 0;
	size_t n = 0;

	for (; at < syms->nfuncs && n < FEW; at += stride)
		if (!(syms->funcs[at].flags & FUNC_FRAGMENT))
			few[n++] = &syms->funcs[at];
	for (int i = 0; i < 2; i++)
		if (plan_make(arches[i], syms, few, n, &o, &plans[i])) {
			fprintf(stderr, "%s\n", fail_text());
			different = 1;
		}
	for (size_t i = 0; i < n && plans[0] && plans[1]; i++) {
		if (same_probe(&plans[0]->probes[i], &plans[1]->probes[i]))
			continue;
		fprintf(stderr, "%s: %s: planned otherwise\n", syms->base, few[i]->name);
		different = 1;
	}
	plan_free(plans[0]);
	plan_free(plans[1]);
	return different;
}

static int test(const char *path)
{
	struct arch all = arch_x86_64;
	const struct arch *const arches[2] = { &arch_x86_64, &all };
	auto_close int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct symbols *syms;
	int failed = 0;

	all.find_ref = NULL;
	if (fd < 0 || symbols_open(fd, path, &syms)) {
		fprintf(stderr, "%s: %s\n", path, fail_text());
		return 1;
	}
	size_t stride = syms->nfuncs / FEW + 1;

	for (size_t i = 0; i < stride; i++)
		failed |= compare(arches, syms, i, stride);
	printf("%s: %zu functions\n", path, syms->nfuncs);
	symbols_close(syms);
	return failed;
}

int main(int argc, char **argv)
{
	Dl_info libc;
	int failed = 0;

	for (int i = 1; i < argc; i++)
		failed |= test(argv[i]);
	if (argc > 1)
		return failed;
	if (!dladdr((void *)(uintptr_t)getpid, &libc))
		return 1;
	return test("/proc/self/exe") | test(libc.dli_fname);
}
