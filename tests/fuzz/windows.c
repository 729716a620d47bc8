/* SPDX-License-Identifier: MIT */
/*
 * windows: does a stub do what the window did that its jump has replaced?
 *
 *	windows [-s SEED] [-n RUNS] [FILE...]
 *
 * Every site that plan finds in the files (without any: in this program, in the
 * C library, and in functions made up at random) is run where it stands, as the
 * file has it, and with its jump in place, from the same random registers, flags,
 * vector registers and memory; all of it must be the same afterwards, and so
 * must be where control goes, or which fault it meets. RUNS are shared out
 * between the sites. The same seed makes the same runs.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tests/fuzz/case.h"
#include "tests/fuzz/made.h"

enum {
	RUNS = 500000,		/* some seconds: a part of every check */
	SHOWN = 10,		/* differences that are printed in full */
};

static struct options {
	uint64_t seed, runs;
} options = { 1, RUNS };

/* The sites of one plan, one after another, each some times. */
struct tour {
	struct fuzz_case c;
	const struct plan *plan;
	struct placed_probe *probes;	/* its placement */
	size_t probe, site;
	uint64_t each, left;	/* runs per site; of this one */
	uint64_t seed;
	struct tally tally;
};

static bool next_site(struct tour *t)
{
	for (; t->probe < t->plan->nprobes; t->probe++, t->site = 0) {
		const struct placed_probe *p = &t->probes[t->probe];

		while (!p->refusal && t->site < p->nsites) {
			struct placed_site *s = &p->sites[t->site++];

			t->tally.sites++;
			world_seed(t->seed ^ s->site.pc);
			if (case_begin(&t->c, p, s)) {
				bool pun = s->site.tactic == TACTIC_PUN;

				t->tally.puns += pun;
				t->tally.islands += s->island && !pun;
				t->left = t->each;
				return true;
			}
			t->tally.passed_over++;
		}
	}
	return false;
}

static void count(struct tour *t, enum verdict v)
{
	t->tally.verdicts[v]++;
	if (v != VERDICT_DIFFERENT || t->tally.verdicts[v] > SHOWN)
		return;
	printf("FAIL -s %lu: %s, site %#lx (%s)\n", (unsigned long)options.seed,
	       t->plan->symbols->path, (unsigned long)t->c.placed->site.pc,
	       t->c.probe->planned->func->name);
	case_explain(&t->c);
}

/* The runs of a case, then the next case. */
static bool step(void *ctx, const struct ending *e, struct state *s)
{
	struct tour *t = ctx;

	if (e) {
		case_keep(&t->c, e, s);
		if (t->c.run == RUN_WINDOW) {
			case_start(&t->c, RUN_STUB, s);
			return true;
		}
		enum verdict v = case_judge(&t->c);

		if (v == VERDICT_DIFFERENT && t->c.run != RUN_LAST) {
			case_start(&t->c, t->c.run + 1, s);
			return true;
		}
		count(t, v);
	}
	if (!t->left) {
		case_end(&t->c);
		if (!next_site(t))
			return false;
	}
	t->left--;
	case_start(&t->c, RUN_WINDOW, s);
	return true;
}

static void add(struct tally *sum, const struct tally *t)
{
	sum->sites += t->sites;
	sum->passed_over += t->passed_over;
	sum->puns += t->puns;
	sum->islands += t->islands;
	for (int i = 0; i < VERDICTS; i++)
		sum->verdicts[i] += t->verdicts[i];
}

static int run_plan(const struct plan *plan, uint64_t runs, struct tally *sum)
{
	auto_free struct placed_probe *probes = plan_placement(plan);
	struct tour t = { .plan = plan, .probes = probes, .seed = options.seed };
	struct world world;
	size_t sites = 0;
	int err = probes ? world_open(plan->symbols, &world) : fail(ENOMEM, "placement");

	if (err)
		return err;
	for (size_t i = 0; i < plan->nprobes; i++) {
		sites += probes[i].refusal ? 0 : probes[i].nsites;
		probes[i].id = (uint32_t)i + 1;	/* no word is 0 */
	}
	t.each = sites ? MAX(runs / sites, 1) : 0;
	t.c.world = &world;
	t.c.arch = plan->arch;
	if (next_site(&t))
		err = runner_run(step, &t);
	world_close(&world);
	add(sum, &t.tally);
	return err;
}

/* Where an instruction begins in a function, at random; 0: none does. */
static raddr_t random_place(const struct arch *arch, const struct symbols *s, const struct func *f)
{
	uint64_t size = range_size(f->range), to = size ? world_random() % size : 0;
	size_t left;
	const uint8_t *p = symbols_text(s, f->range.start, &left);
	struct insn in;

	for (raddr_t at = 0; p && at < size && at < left; at += in.size)
		if (arch->measure(p + at, left - at, f->range.start + at, &in))
			return 0;
		else if (at + in.size > to)
			return f->range.start + at;
	return 0;
}

/* Of each function its calls, or a place in it. */
static int run_symbols_for(const struct symbols *s, bool with_places, uint64_t runs,
			   struct tally *sum)
{
	const struct arch *arch = arch_by_machine(s->machine);
	auto_free const struct func **all = calloc(s->nfuncs + 1, sizeof(*all));
	auto_free raddr_t *places = calloc(s->nfuncs + 1, sizeof(*places));
	/* Where faults are handled, other windows are taken. */
	struct plan_options o = { .hosts = true, .puns = true, .places = places,
				  .caught = options.seed % 2 ? 0 : UINT64_MAX };
	const struct plan *plan;
	size_t n = 0;

	if (!all || !places || !arch)
		return fail(ENOMEM, "functions");
	world_seed(options.seed);
	for (size_t i = 0; i < s->nfuncs; i++) {
		if (s->funcs[i].flags & (FUNC_FRAGMENT | FUNC_IFUNC))
			continue;
		places[n] = with_places ? random_place(arch, s, &s->funcs[i]) : 0;
		if (!with_places || places[n])
			all[n++] = &s->funcs[i];
	}
	int err = plan_make(arch, s, all, n, &o, &plan);

	if (err)
		return err;
	err = run_plan(plan, runs, sum);
	plan_free(plan);
	return err;
}

static int run_symbols(const struct symbols *s, uint64_t runs, struct tally *sum)
{
	int err = run_symbols_for(s, false, runs - runs / 3, sum);

	return err ? err : run_symbols_for(s, true, runs / 3, sum);
}

static int run_fd(int fd, const char *path, uint64_t runs, struct tally *sum)
{
	struct symbols *s;
	int err = symbols_open(fd, path, &s);

	if (err)
		return err;
	err = run_symbols(s, runs, sum);
	symbols_close(s);
	return err;
}

static int run_file(const char *path, uint64_t runs, struct tally *sum)
{
	auto_close int fd = open(path, O_RDONLY | O_CLOEXEC);

	return fd < 0 ? fail(errno, "open %s", path) : run_fd(fd, path, runs, sum);
}

/* Functions made of random instructions, `runs` runs in all. */
static int run_made(uint64_t runs, struct tally *sum)
{
	for (uint64_t i = 0; runs; i++) {
		uint64_t now = MIN(runs, 200000);
		char name[32];

		snprintf(name, sizeof(name), "made-%lu", (unsigned long)i);
		world_seed(options.seed * 1000 + i);
		auto_close int fd = made_module();
		int err = fd < 0 ? fd : run_fd(fd, name, now, sum);

		if (err)
			return err;
		runs -= now;
	}
	return 0;
}

static const char *libc_path(void)
{
	Dl_info info;

	return dladdr((void *)(uintptr_t)getpid, &info) && info.dli_fname ?
		info.dli_fname : "/proc/self/exe";
}

static int run_all(int n, char **paths, struct tally *sum)
{
	int err = 0;

	if (!n) {
		err = run_file("/proc/self/exe", options.runs / 3, sum);
		if (!err)
			err = run_file(libc_path(), options.runs / 3, sum);
		return err ? err : run_made(options.runs / 3, sum);
	}
	for (int i = 0; i < n && !err; i++)
		err = run_file(paths[i], options.runs / n, sum);
	return err;
}

static int usage(void)
{
	fprintf(stderr, "usage: windows [-s SEED] [-n RUNS] [FILE...]\n");
	return 2;
}

int main(int argc, char **argv)
{
	struct tally sum = { 0 };
	int o;

	while ((o = getopt(argc, argv, "s:n:")) != -1) {
		if (o == 's')
			options.seed = strtoull(optarg, NULL, 0);
		else if (o == 'n')
			options.runs = strtoull(optarg, NULL, 0);
		else
			return usage();
	}
	int err = run_all(argc - optind, argv + optind, &sum);

	if (err == -ENOTSUP) {
		printf("skipped: %s\n", fail_text());
		return 77;
	}
	if (err)
		fprintf(stderr, "windows: %s\n", fail_text());
	tally_print(&sum);
	/* A fuzzer that never gets to the end of a window has shown nothing. */
	return err || !sum.puns || !sum.islands || sum.verdicts[VERDICT_DIFFERENT] ||
	       sum.verdicts[VERDICT_LEFT] < sum.verdicts[VERDICT_FAULT];
}
