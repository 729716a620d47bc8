/* SPDX-License-Identifier: MIT */
/*
 * Of all functions of a file, how many are probed, how, and why not the others?
 *
 * With files as arguments: a table (--all first: with every tactic). Without: the
 * test, on this very program and the C library that it runs with. Every site of
 * every plan is placed, and checked against the rules independently of how it
 * was chosen.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "tests/patch/rules.h"

enum { REFUSALS_MAX = 32 };

struct census {
	size_t funcs, probed, full, entries[TACTICS], sites, by_tactic[TACTICS];
	size_t exits_wanted;	/* probes whose function has exits */
	size_t refused[REFUSALS_MAX], entry_only[REFUSALS_MAX];
	size_t broken;		/* rules, by sites */
	double open_ms, plan_ms;
};

static double now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e3 + t.tv_nsec / 1e6;
}

static void count_probe(struct census *c, const struct probe *p)
{
	c->refused[p->refusal]++;
	/* No function: debug symbols would have told, if they were here. */
	c->funcs -= p->refusal == REFUSED_FRAGMENT;
	if (p->refusal)
		return;
	c->probed++;
	c->full += p->nexits && !p->entry_only;
	c->exits_wanted += p->nexits != 0;
	c->entry_only[p->entry_only]++;
	c->sites += p->nsites;
	for (size_t i = 0; i < p->nsites; i++)
		c->by_tactic[p->sites[i].tactic]++;
	c->entries[p->sites[p->nsites - 1].tactic]++;
}

static int take_census(const char *path, const struct plan_options *o,
		       struct census *c)
{
	auto_close int fd = open(path, O_RDONLY | O_CLOEXEC);
	auto_free const struct func **selected = NULL;
	struct symbols *syms;
	const struct plan *plan;
	double t = now_ms();

	if (fd < 0)
		return fail(errno, "open %s", path);
	int err = symbols_open(fd, path, &syms);

	if (err)
		return err;
	c->open_ms = now_ms() - t;
	selected = calloc(syms->nfuncs + 1, sizeof(*selected));
	for (size_t i = 0; i < syms->nfuncs; i++)
		if (!(syms->funcs[i].flags & (FUNC_FRAGMENT | FUNC_IFUNC)))
			selected[c->funcs++] = &syms->funcs[i];
	t = now_ms();
	err = plan_make(arch_by_machine(syms->machine), syms, selected, c->funcs,
			o, &plan);
	c->plan_ms = now_ms() - t;
	for (size_t i = 0; !err && i < plan->nprobes; i++)
		count_probe(c, &plan->probes[i]);
	if (!err) {
		c->broken = rules_broken(plan);
		plan_free(plan);
	}
	symbols_close(syms);
	return err;
}


static double percent(size_t n, size_t of)
{
	return of ? 100.0 * n / of : 0;
}

static void print_census(const char *path, const struct census *c)
{
	printf("%s: %zu functions, symbols %.0f ms, plan %.0f ms\n", path, c->funcs,
	       c->open_ms, c->plan_ms);
	printf("  entries %.3f %% (jump %.3f, short %.3f, pun %.3f)\n",
	       percent(c->probed, c->funcs), percent(c->entries[TACTIC_JUMP], c->funcs),
	       percent(c->entries[TACTIC_SHORT], c->funcs),
	       percent(c->entries[TACTIC_PUN], c->funcs));
	printf("  all exits %.2f %% of %zu probed functions with exits; %zu sites, "
	       "%zu short, %zu pun\n", percent(c->full, c->exits_wanted), c->exits_wanted,
	       c->sites, c->by_tactic[TACTIC_SHORT], c->by_tactic[TACTIC_PUN]);
	for (int i = 1; i < REFUSALS_MAX; i++)
		if (c->refused[i] || c->entry_only[i])
			printf("  %-20s refused %zu, entry-only %zu\n",
			       refusal_word(i), c->refused[i], c->entry_only[i]);
	if (c->broken)
		printf("  BROKEN RULES: %zu\n", c->broken);
}

static const char *libc_path(void)
{
	Dl_info info;

	return dladdr((void *)(uintptr_t)getpid, &info) && info.dli_fname ?
		info.dli_fname : "/proc/self/exe";
}

/* Shares that no change may lose, in per cent. */
static int test(const char *path, bool all, double entries, double exits)
{
	struct plan_options o = { .hosts = all, .puns = all };
	struct census c = { 0 };

	if (take_census(path, &o, &c)) {
		fprintf(stderr, "%s: %s\n", path, fail_text());
		return 1;
	}
	print_census(path, &c);
	return c.broken || c.funcs < 100 || percent(c.probed, c.funcs) < entries ||
	       percent(c.full, c.exits_wanted) < exits;
}

static int print_files(int n, char **paths, const struct plan_options *o)
{
	int failed = 0;

	for (int i = 0; i < n; i++) {
		struct census c = { 0 };

		if (take_census(paths[i], o, &c)) {
			fprintf(stderr, "%s: %s\n", paths[i], fail_text());
			fail_clear();
			failed = 1;
			continue;
		}
		print_census(paths[i], &c);
		failed |= c.broken != 0;
	}
	return failed;
}

int main(int argc, char **argv)
{
	bool all = argc > 1 && !strcmp(argv[1], "--all");
	struct plan_options o = { .hosts = all, .puns = all };

	if (argc - all > 1)
		return print_files(argc - all - 1, argv + 1 + all, &o);
	return test("/proc/self/exe", false, 90, 50) | test(libc_path(), false, 98, 90) |
	       test("/proc/self/exe", true, 99, 90) | test(libc_path(), true, 99.9, 95);
}
