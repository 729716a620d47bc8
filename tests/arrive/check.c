/* SPDX-License-Identifier: MIT */
/*
 * check: do plans of made-up programs leave alone where control arrives?
 *
 * Names of files are read, one a line. Each has a section .arrive that tells the truth
 * about it (program.py). It is planned as the injector does it: for each function F of the
 * truth alone, for each G, for all of the file, and for random subsets. A plan is wrong if
 *
 *	inside	control arrives strictly inside of bytes that a jump changes; and no branch that
 *		brings it there is led elsewhere
 *	hole	control arrives at any byte of what was taken for padding
 *	ends	an exit is recorded at a jump that stays in the function
 *	leaves	the function is left where no exit is recorded, though others are
 *	data	a jump changes data that stand in the code
 *	rounds	the function goes back to its start, as an iteration that would be taken for a
 *		call, where no jump of ours stands
 *	lost	of a function of which nothing is uncertain an exit is not recorded, or the module
 *		is bound
 *
 * For each file, a line for each program in it with what was wrong, and then `done`.
 */
#include <ctype.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "plan/plan.h"

enum truth_kind { FUNC_F, FUNC_G, FUNC_H, ARRIVE, STAYS, BRANCH, LEAVES, DATA, END,
		  CERTAIN, ROUNDS };

struct truth {
	uint64_t program, kind, at;
};

enum { SUBSETS = 2, LINE = 4096 };

struct file {
	const char *path;
	struct symbols *symbols;
	struct truth *truth;
	size_t n;
	uint64_t seed;
	bool caught;
	size_t probed, exits, wrong;
};

static uint64_t draw(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed;
}

/* The section that tells the truth; in *n how many. */
static struct truth *read_truth(int fd, size_t *n)
{
	Elf64_Ehdr e;
	struct truth *ret = NULL;

	*n = 0;
	if (pread(fd, &e, sizeof(e), 0) != sizeof(e) || e.e_shentsize != sizeof(Elf64_Shdr))
		return NULL;
	auto_free Elf64_Shdr *s = calloc(e.e_shnum + 1u, sizeof(*s));
	ssize_t size = (ssize_t)(e.e_shnum * sizeof(*s));

	if (!s || pread(fd, s, (size_t)size, (off_t)e.e_shoff) != size ||
	    e.e_shstrndx >= e.e_shnum)
		return NULL;
	for (size_t i = 0; i < e.e_shnum; i++) {
		char name[8] = "";
		off_t at = (off_t)(s[e.e_shstrndx].sh_offset + s[i].sh_name);

		if (pread(fd, name, sizeof(name), at) != sizeof(name) ||
		    memcmp(name, ".arrive", sizeof(name)))
			continue;
		ret = malloc(s[i].sh_size + 1);
		if (ret && pread(fd, ret, s[i].sh_size, (off_t)s[i].sh_offset) ==
		    (ssize_t)s[i].sh_size)
			*n = s[i].sh_size / sizeof(*ret);
	}
	return ret;
}

static void tell(struct file *f, const struct truth *t, const char *what, const char *selection,
		 const struct probe *p, const struct site *s)
{
	f->wrong++;
	printf("wrong\t%s\t%lu\t%s\t%s\t%s\t%#lx\tsite %#lx, jump %#lx+%u, hole %#lx+%u%s\n",
	       f->path, (unsigned long)t->program, what, selection, p->func->name,
	       (unsigned long)t->at, (unsigned long)s->pc, (unsigned long)s->jump.pc,
	       s->jump.len, (unsigned long)s->hole.pc, s->hole.len, s->entry ? ", entry" : "");
}

static bool has_exit(const struct site *s, raddr_t at)
{
	for (size_t i = 0; i < s->ninsns; i++)
		if ((s->exits >> i & 1) && s->pc + s->insns[i] == at)
			return true;
	return s->leaves && s->pc + s->window == at;
}

static void check_leaving(struct file *f, const struct truth *t, const char *selection,
			  const struct probe *p)
{
	bool found = p->entry_only || !range_has(p->func->range, t->at);

	for (size_t i = 0; i < p->nsites && !found; i++)
		found = has_exit(&p->sites[i], t->at);
	if (!found)
		tell(f, t, "leaves", selection, p, &p->sites[0]);
}

static bool displaces(const struct site *s, raddr_t at)
{
	for (size_t i = 0; i < s->ninsns; i++)
		if (s->pc + s->insns[i] == at)
			return true;
	return false;
}

static void check_rounds(struct file *f, const struct truth *t, const char *selection,
			 const struct probe *p)
{
	bool found = !range_has(p->func->range, t->at);

	for (size_t i = 0; i < p->nsites && !found; i++)
		found = displaces(&p->sites[i], t->at);
	if (!found)
		tell(f, t, "rounds", selection, p, &p->sites[0]);
}

static void check_certain(struct file *f, const struct truth *t, const char *selection,
			  const struct plan *plan, const struct probe *p)
{
	static const struct site none;

	if (p->func->range.start == t->at && (p->refusal || p->entry_only || plan->ndoubts))
		tell(f, t, "lost", selection, p, &none);
}

static bool changes(const struct patch *p, raddr_t start, raddr_t end)
{
	return p->pc < end && p->pc + p->len > start;
}

static void check_site(struct file *f, const char *selection, const struct probe *p,
		       const struct site *s)
{
	for (size_t i = 0; i < f->n; i++) {
		const struct truth *t = &f->truth[i];

		if (t->kind == STAYS && has_exit(s, t->at))
			tell(f, t, "ends", selection, p, s);
		if (t->kind == DATA && (changes(&s->jump, t->at, t[1].at) ||
					changes(&s->hole, t->at, t[1].at)))
			tell(f, t, "data", selection, p, s);
		if (t->kind != ARRIVE && (t->kind != BRANCH || s->level))
			continue;
		if (t->at > s->jump.pc && t->at < s->jump.pc + s->jump.len)
			tell(f, t, "inside", selection, p, s);
		if (s->hole.len && t->at >= s->hole.pc && t->at < s->hole.pc + s->hole.len)
			tell(f, t, "hole", selection, p, s);
	}
}

static int check_plan(struct file *f, const char *selection, const struct func *const *selected,
		      size_t n, const struct plan_options *o)
{
	const struct plan *plan;

	if (!n)
		return 0;
	if (plan_make(&arch_x86_64, f->symbols, selected, n, o, &plan)) {
		printf("failed\t%s\t%s\n", f->path, fail_text());
		fail_clear();
		return -1;
	}
	for (size_t i = 0; i < plan->nprobes; i++) {
		const struct probe *p = &plan->probes[i];

		for (size_t k = 0; k < f->n; k++)
			if (f->truth[k].kind == CERTAIN)
				check_certain(f, &f->truth[k], selection, plan, p);
		if (p->refusal)
			continue;
		f->probed++;
		f->exits += !p->entry_only;
		for (size_t k = 0; k < p->nsites; k++)
			check_site(f, selection, p, &p->sites[k]);
		for (size_t k = 0; k < f->n; k++)
			if (f->truth[k].kind == LEAVES)
				check_leaving(f, &f->truth[k], selection, p);
			else if (f->truth[k].kind == ROUNDS)
				check_rounds(f, &f->truth[k], selection, p);
	}
	plan_free(plan);
	return 0;
}

static const struct func *func_at(const struct symbols *s, uint64_t at)
{
	const struct func *f = symbols_func_at(s, at);

	return f && f->range.start == at && !(f->flags & (FUNC_FRAGMENT | FUNC_IFUNC)) ? f : NULL;
}

static int check_some(struct file *f, const struct func **selected,
		      const struct plan_options *o)
{
	const struct symbols *s = f->symbols;
	int failed = 0;
	size_t n = 0;

	for (size_t i = 0; i < f->n; i++) {
		const struct func *one = f->truth[i].kind <= FUNC_H ?
			func_at(s, f->truth[i].at) : NULL;
		static const char *const name[] = { "F", "G", "H" };

		if (one)
			failed |= check_plan(f, name[f->truth[i].kind], &one, 1, o);
	}
	for (int k = 0; k <= SUBSETS; k++) {
		n = 0;
		for (size_t i = 0; i < s->nfuncs; i++)
			if (!(s->funcs[i].flags & (FUNC_FRAGMENT | FUNC_IFUNC)) &&
			    (!k || draw(&f->seed) % 2))
				selected[n++] = &s->funcs[i];
		failed |= check_plan(f, k ? "some" : "all", selected, n, o);
	}
	return failed;
}

static int check_file(const char *path, struct file *f)
{
	auto_close int fd = open(path, O_RDONLY | O_CLOEXEC);
	/* Programs that have numbers are many: some do without. */
	bool all = !isdigit((unsigned char)*path);
	struct plan_options o = {
		.hosts = draw(&f->seed) % 8 != 0 || all,
		.puns = draw(&f->seed) % 8 != 0 || all,
	};

	if (fd < 0 || symbols_open(fd, path, &f->symbols)) {
		printf("failed\t%s\t%s\n", path, fd < 0 ? strerror(errno) : fail_text());
		fail_clear();
		return -1;
	}
	if (f->caught)
		o.caught = 1ull << (SIGSEGV - 1);
	f->path = path;
	f->truth = read_truth(fd, &f->n);
	int err = plan_linkage(&arch_x86_64, f->symbols);
	auto_free const struct func **selected = calloc(f->symbols->nfuncs + 1, sizeof(*selected));

	if (!selected || err || !f->n) {
		printf("failed\t%s\tno truth in it\n", path);
		err = -1;
	}
	else
		err = check_some(f, selected, &o);
	printf("done\t%s\t%zu\t%zu\t%zu\n", path, f->probed, f->exits, f->wrong);
	free(f->truth);
	symbols_close(f->symbols);
	return err;
}

int main(void)
{
	char line[LINE];
	int failed = 0;

	while (fgets(line, sizeof(line), stdin)) {
		struct file f = { .seed = 0x9e3779b97f4a7c15 };

		line[strcspn(line, "\n")] = 0;
		for (const char *c = line; *c; c++)
			f.seed = f.seed * 31 + (uint8_t)*c;
		f.caught = strstr(line, ".caught") != NULL;
		failed |= check_file(line, &f) || f.wrong;
		fflush(stdout);
	}
	return failed;
}
