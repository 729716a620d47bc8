/* SPDX-License-Identifier: MIT */
/*
 * Does any place at which a program really arrived lie inside of what the plan changes?
 *
 * oracle/check FILE PLACES...: the plan of all functions of FILE, made as the injector
 * makes it; and of every line "FILE<tab>WHERE<tab>FROM<tab>KIND" of PLACES (`-`: of the
 * standard input) that tells of FILE, or "WHERE [FROM [KIND]]", link-time and hexadecimal:
 * is WHERE
 *
 * - strictly inside the bytes of a jump, or anywhere in a hole: "bad", unless FROM is a
 *   direct jump that is displaced too, by the same function's sites: its copy leads to a
 *   copy ("led");
 * - in a window, behind the bytes of its jump: control goes on there as ever, but past
 *   a record that is made in the stub, perhaps: "past", of which none may be for an exit
 *   inside;
 * - where only the kernel has led, KIND k: "resumed". A thread that is interrupted in a
 *   window is in the stub by then.
 *
 * The first line that is bad or past of each window is printed. Status 1: something is bad.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plan/plan.h"

struct place {
	raddr_t to, from;
	char kind;
};

/* What lies behind a site's first byte. */
struct span {
	struct range range;
	const struct probe *probe;
	const struct site *site;
	enum { SPAN_JUMP, SPAN_HOLE, SPAN_WINDOW } what;
};

struct counts {
	size_t places, arrivals, sites, probes, bad, led, past, resumed;
};

static struct place *places;
static size_t nplaces, places_cap;
static struct span *spans;
static size_t nspans, spans_cap;
enum { LONGEST = 64 };		/* of a span, in bytes */

static int by_place(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	if (x->to != y->to)
		return x->to < y->to ? -1 : 1;
	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	return x->kind - y->kind;
}

static int by_start(const void *a, const void *b)
{
	const struct span *x = a, *y = b;

	return x->range.start < y->range.start ? -1 : x->range.start > y->range.start;
}

static int read_places(const char *path, const char *of)
{
	FILE *f = strcmp(path, "-") ? fopen(path, "re") : stdin;
	char line[8192], *rest;

	if (!f)
		return fail(errno, "open %s", path);
	while (fgets(line, sizeof(line), f)) {
		char *p = line, *tab = strchr(line, '\t');

		if (*line == '/' && (!tab || (size_t)(tab - line) != strlen(of) ||
				     memcmp(line, of, strlen(of))))
			continue;
		if (*line == '/')
			p = tab;
		struct place *n = vec_push(places, nplaces, places_cap);

		if (!n)
			return fail(ENOMEM, "read %s", path);
		n->to = strtoull(p, &rest, 16);
		n->from = strtoull(rest, &rest, 16);
		n->kind = rest[strspn(rest, " \t\n")];
	}
	if (f != stdin)
		fclose(f);
	if (nplaces)
		qsort(places, nplaces, sizeof(*places), by_place);
	return 0;
}

static int add_span(const struct probe *p, const struct site *s, int what, raddr_t start,
		    raddr_t end)
{
	struct span *n;

	if (start >= end)
		return 0;
	if (end - start > LONGEST)
		return fail(0, "%s: a window of %zu bytes", p->func->name,
			    (size_t)(end - start)), -ERANGE;
	n = vec_push(spans, nspans, spans_cap);
	if (!n)
		return fail(ENOMEM, "note windows");
	*n = (struct span){ { start, end }, p, s, what };
	return 0;
}

static int add_spans(const struct plan *plan, struct counts *c)
{
	int err = 0;

	for (size_t i = 0; i < plan->nprobes; i++) {
		const struct probe *p = &plan->probes[i];

		c->probes += p->refusal == REFUSED_NONE;
		for (size_t k = 0; k < p->nsites && p->refusal == REFUSED_NONE && !err; k++) {
			const struct site *s = &p->sites[k];
			raddr_t changed = s->jump.pc + s->jump.len;

			c->sites++;
			err = add_span(p, s, SPAN_JUMP, s->jump.pc + 1, changed);
			if (!err && s->hole.len)
				err = add_span(p, s, SPAN_HOLE, s->hole.pc,
					       s->hole.pc + s->hole.len);
			if (!err)
				err = add_span(p, s, SPAN_WINDOW,
					       MAX(changed, s->pc + 1), s->pc + s->window);
		}
	}
	if (nspans)
		qsort(spans, nspans, sizeof(*spans), by_start);
	return err;
}

/* Is this a direct jump that some site of the probe displaces? What else is displaced
 * leads where it always has. */
static bool leads(const struct plan *plan, const struct probe *p, raddr_t from)
{
	size_t left;
	const uint8_t *text = from ? symbols_text(plan->symbols, from, &left) : NULL;
	struct insn in;

	if (!text || plan->arch->measure(text, left, from, &in) ||
	    (in.kind != INSN_JUMP && in.kind != INSN_BRANCH))
		return false;
	for (size_t i = 0; i < p->nsites; i++)
		if (from >= p->sites[i].pc && from < p->sites[i].pc + p->sites[i].window)
			return true;
	return false;
}

static void complain(const char *file, const struct span *s, const struct place *p,
		     const char *word)
{
	static const struct site *last;
	static const char *const what[] = { "jump", "hole", "window" };

	if (s->site == last)
		return;
	last = s->site;
	printf("%s: %s: %s: %" PRIx64 " from %" PRIx64 " (%c), in the %s of site %" PRIx64
	       " (%s, window %u, jump %u, hole %" PRIx64 ", level %u%s%s%s, exits %u)\n", word,
	       file, s->probe->func->name, p->to, p->from, p->kind ? p->kind : '?',
	       what[s->what], s->site->pc, tactic_word(s->site->tactic), s->site->window,
	       s->site->jump.len, s->site->hole.len ? s->site->hole.pc : 0, s->site->level,
	       s->site->entry ? ", entry" : "", s->site->host ? ", host" : "",
	       s->site->leaves ? ", leaves" : "", s->site->nexits);
}

static void judge(const struct plan *plan, const char *file, const struct place *p,
		  struct counts *c)
{
	size_t at = vec_prefix(nspans, i, spans[i].range.start + LONGEST <= p->to);

	for (; at < nspans && spans[at].range.start <= p->to; at++) {
		const struct span *s = &spans[at];

		if (!range_has(s->range, p->to))
			continue;
		if (p->kind == 'k')
			c->resumed++;
		else if (p->kind != 'i' && leads(plan, s->probe, p->from))
			c->led++;
		else if (s->what == SPAN_WINDOW) {
			c->past++;
			complain(file, s, p, "past");
		} else {
			c->bad++;
			complain(file, s, p, "BAD");
		}
	}
}

static int check(const char *file, const struct symbols *syms, struct counts *c)
{
	auto_free const struct func **selected = calloc(syms->nfuncs + 1, sizeof(*selected));
	const struct arch *arch = arch_by_machine(syms->machine);
	/* As injector/modules/select.c has it, but for what only a process says. */
	const struct plan_options o = { .hosts = true, .puns = true, .taken = syms->rseqs,
					.ntaken = syms->nrseqs };
	raddr_t counted = 0;
	const struct plan *plan;
	size_t n = 0;

	if (!selected)
		return fail(ENOMEM, "plan %s", file);
	for (size_t i = 0; i < syms->nfuncs; i++)
		if (!(syms->funcs[i].flags & (FUNC_FRAGMENT | FUNC_IFUNC)))
			selected[n++] = &syms->funcs[i];
	int err = plan_make(arch, syms, selected, n, &o, &plan);

	if (err)
		return err;
	err = add_spans(plan, c);
	for (size_t i = 0; i < nplaces && !err; i++) {
		if (i && !by_place(&places[i], &places[i - 1]))
			continue;	/* of another program */
		c->arrivals++;
		if (places[i].kind != 'k' && (!c->places || places[i].to != counted)) {
			counted = places[i].to;
			c->places++;
		}
		judge(plan, file, &places[i], c);
	}
	plan_free(plan);
	return err;
}

int main(int argc, char **argv)
{
	struct symbols *syms = NULL;
	struct counts c = { 0 };

	if (argc < 3) {
		fprintf(stderr, "usage: check FILE PLACES...\n");
		return 2;
	}
	auto_close int fd = open(argv[1], O_RDONLY | O_CLOEXEC);
	int err = fd < 0 ? fail(errno, "open %s", argv[1]) : 0;

	for (int i = 2; i < argc && !err; i++)
		err = read_places(argv[i], argv[1]);
	if (!err)
		err = symbols_open(fd, argv[1], &syms);
	const struct arch *arch = err ? NULL : arch_by_machine(syms->machine);

	if (!err && !arch)
		err = fail(EINVAL, "%s: of no known machine", argv[1]);
	if (!err)
		err = plan_linkage(arch, syms);
	if (!err)
		err = check(argv[1], syms, &c);
	if (err)
		fprintf(stderr, "%s: %s\n", argv[1], fail_text());
	else
		printf("%s: %zu places, %zu arrivals; %zu functions, %zu windows; %zu led, "
		       "%zu past, %zu resumed, %zu bad\n", argv[1], c.places, c.arrivals,
		       c.probes, c.sites, c.led, c.past, c.resumed, c.bad);
	symbols_close(syms);
	free(places);
	free(spans);
	return err ? 2 : c.bad != 0;
}
