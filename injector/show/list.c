/* SPDX-License-Identifier: MIT */
/* list: how would each selected function be probed, or why not? */
#include "injector/show/list.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "injector/log/say.h"
#include "injector/modules/select_copies.h"
#include "injector/proc/signals.h"
#include "injector/show/list_values.h"
#include "injector/show/onward.h"
#include "injector/show/stubs.h"
#include "values/usdt_args.h"

enum {
	WRITE_AT = 1 << 16,	/* bytes that wait: write them */
};

/* Exits of a probe by the tactic of their sites. What the compiler has left is
 * for entries: an exit that is near enough to share the jump is just that. */
static void count_exits(const struct probe *p, size_t by_tactic[LIST_TACTICS])
{
	for (size_t i = 0; i < p->nsites; i++) {
		int tactic = p->sites[i].tactic;

		if (tactic < LIST_TACTICS)
			by_tactic[tactic == TACTIC_SITE ? TACTIC_JUMP : tactic] +=
				p->sites[i].nexits;
	}
}

static enum tactic entry_tactic(const struct probe *p)
{
	for (size_t i = 0; i < p->nsites; i++)
		if (p->sites[i].entry)
			return p->sites[i].tactic;
	return TACTIC_NONE;
}

static void print_exits(const struct probe *p, struct output *out)
{
	size_t n[LIST_TACTICS] = { 0 };
	const char *comma = "";

	count_exits(p, n);
	for (int i = 0; i < LIST_TACTICS; i++) {
		if (!n[i])
			continue;
		output_printf(out, "%s%zu %s", comma, n[i], tactic_word(i));
		comma = ", ";
	}
	output_printf(out, "%s", *comma ? "" : "never returns");
}

/* It is printed under `name`, perhaps with @MODULE. */
static bool is_printed(const char *symbol, const char *name)
{
	size_t n = strlen(symbol);

	return !strncmp(symbol, name, n) && (!name[n] || name[n] == '@');
}

/* The symbols of one address, but for the one that it is printed under. C++
 * names may hold commas and spaces, symbols do not. */
static void print_aliases(const struct selected *s, size_t i, struct output *out)
{
	const struct func *f = s->funcs[i];
	const struct func_alias *alias = s->module->symbols->aliases + f->alias;
	char clean[1024];
	char before = '\t';

	for (uint32_t k = 0; k <= f->naliases; k++) {
		const char *raw = k ? alias[k - 1].raw : f->raw;
		const char *name = k ? alias[k - 1].name : f->name;

		if (is_printed(raw, s->names[i]) || is_printed(name, s->names[i]))
			continue;
		output_printf(out, "%c%s", before, say_clean(raw, clean, sizeof(clean)));
		before = ' ';
	}
	output_printf(out, "\n");
}

/* What is told of a place for tracers besides: its semaphore, and its arguments. */
static void print_usdt(const struct selected *s, const struct usdt_site *site, struct output *out)
{
	uint16_t machine = s->module->symbols->machine;
	struct usdt_args args;
	char text[256], clean[512];

	if (site->semaphore)
		output_printf(out, "\tsemaphore 0x%llx\t", (unsigned long long)site->semaphore);
	else
		output_printf(out, "\tno semaphore\t");
	usdt_args_parse(site->args, machine, &args);
	for (size_t i = 0; i < args.n; i++)
		output_printf(out, "%s%s", i ? ", " : "",
			      say_clean(usdt_arg_text(&args.v[i], machine, text, sizeof(text)),
					clean, sizeof(clean)));
	output_printf(out, "%s", args.more ? ", ..." : "");
}

/* The probe whose mark tells of it. */
static const struct placed_probe *marked_by(const struct placed_probe *p)
{
	while (p->with)
		p--;
	return p;
}

/* With so many ends it is told how long it takes. */
static void print_copy(const struct marked_place *place, size_t ends, struct output *out)
{
	output_printf(out, "\tinlined into %s+0x%llx", place->func->name,
		      (unsigned long long)(place->pc - place->func->range.start));
	if (ends)
		output_printf(out, ", %zu end%s", ends, ends == 1 ? "" : "s");
}

static void print_place(const struct selected *s, size_t i, size_t ends, struct output *out)
{
	const struct marked_place *place = selected_place(s, i);
	const struct placed_probe *p = &s->probes[i];
	char base[256];

	output_printf(out, "0x%llx\t-\t%s\t%s\t%s\t%s", (unsigned long long)place->pc,
		      say_clean(s->module->base, base, sizeof(base)), s->names[i],
		      p->refusal ? "refused" : tactic_word(entry_tactic(marked_by(p)->planned)),
		      p->refusal ? refusal_word(p->refusal) : "mark");
	if (place->site)
		print_usdt(s, place->site, out);
	else if (place->line)
		output_printf(out, "\tin %s+0x%llx", place->func->name,
			      (unsigned long long)(place->pc - place->func->range.start));
	if (place->inlined)
		print_copy(place, ends, out);
	if (p->with && !p->refusal)
		output_printf(out, ", marked with %s", s->names[marked_by(p) - s->probes]);
	output_printf(out, "\n");
}

static void print_probe(const struct selected *s, size_t i, struct output *out)
{
	const struct placed_probe *p = &s->probes[i];
	const struct func *f = s->funcs[i];
	char base[256];

	output_printf(out, "0x%llx\t%llu\t%s\t%s\t",
		      (unsigned long long)f->range.start,
		      (unsigned long long)range_size(f->range),
		      say_clean(s->module->base, base, sizeof(base)), s->names[i]);
	if (p->refusal == REFUSED_IFUNC) {
		output_printf(out, "ifunc\tresolver");
	} else if (p->refusal == REFUSED_FRAGMENT) {
		output_printf(out, "fragment\tnot a function");
	} else if (p->refusal != REFUSED_NONE) {
		output_printf(out, "refused\t%s", refusal_word(p->refusal));
	} else if (p->entry_only != REFUSED_NONE) {
		output_printf(out, "%s\tentry-only: %s", tactic_word(entry_tactic(p->planned)),
			      refusal_word(p->entry_only));
	} else {
		output_printf(out, "%s\t", tactic_word(entry_tactic(p->planned)));
		print_exits(p->planned, out);
	}
	print_aliases(s, i, out);
}

/* A reader that has seen enough (`| head`) is no error. */
static int list_flush(struct output *out)
{
	int err = output_finish(out, signals_stop_wanted);

	return err == -EPIPE ? 1 : err;
}

static int print_module(struct selected *s, struct list_more more, struct output *out)
{
	auto_free struct copy_link *links = NULL;
	auto_free size_t *ends = NULL;
	int err = copies_link(s, &links, &ends);

	if (err)
		return fail(ENOMEM, "list the ends of copies");
	for (size_t j = 0; j < s->n && !err; j++) {
		if (selected_is_hidden(s, j))
			continue;
		if (selected_place(s, j))
			print_place(s, j, ends[j], out);
		else
			print_probe(s, j, out);
		if (more.values)
			err = list_values_print(more.values, s, j, out);
		if (more.values)
			onward_print(s, j, out);
		if (more.stubs && !s->probes[j].refusal)
			stubs_print(s, j, out);
		if (output_pending(out) > WRITE_AT)
			err = err ? err : signals_stop_wanted() ? 1 : list_flush(out);
	}
	return err;
}

int list_print(const struct selection *sel, struct list_more more, struct output *out)
{
	int err = 0;

	for (size_t i = 0; i < sel->n && !err; i++)
		err = print_module(&sel->v[i], more, out);
	if (!err)
		err = list_flush(out);
	return err > 0 ? -EPIPE : err;
}

static void list_count_place(const struct placed_probe *p, struct list_totals *t)
{
	t->places++;
	if (p->refusal)
		t->unmarked[p->refusal]++;
	else
		t->marks[entry_tactic(marked_by(p)->planned)]++;
}

static void list_count_probe(const struct placed_probe *p, struct list_totals *t)
{
	/* Not what its name stands for. */
	if (p->refusal == REFUSED_IFUNC) {
		t->resolvers++;
		return;
	}
	if (p->refusal == REFUSED_FRAGMENT) {
		t->fragments++;
		return;
	}
	t->functions++;
	if (p->refusal != REFUSED_NONE) {
		t->refused++;
		t->refusals[p->refusal]++;
		return;
	}
	t->entries[entry_tactic(p->planned)]++;
	count_exits(p->planned, t->exits);
	if (p->entry_only != REFUSED_NONE) {
		t->entry_only++;
		t->entry_onlys[p->entry_only]++;
	}
}

/* " (3 jump, 1 short)", or nothing. */
static void print_tactics(FILE *f, const size_t n[LIST_TACTICS])
{
	const char *before = " (";

	for (int i = 0; i < LIST_TACTICS; i++)
		if (n[i]) {
			fprintf(f, "%s%zu %s", before, n[i], tactic_word(i));
			before = ", ";
		}
	if (before[0] == ',')
		fputc(')', f);
}

static void print_reasons(FILE *f, const size_t n[LIST_REASONS])
{
	const char *before = " (";

	for (int i = 0; i < LIST_REASONS; i++)
		if (n[i]) {
			fprintf(f, "%s%zu %s", before, n[i], refusal_word(i));
			before = ", ";
		}
	if (before[0] == ',')
		fputc(')', f);
}

static size_t sum(const size_t n[LIST_TACTICS])
{
	size_t all = 0;

	for (int i = 0; i < LIST_TACTICS; i++)
		all += n[i];
	return all;
}

void list_count(const struct selection *sel, struct list_totals *t)
{
	for (size_t i = 0; i < sel->n; i++)
		for (size_t j = 0; j < sel->v[i].n; j++)
			if (!selected_is_hidden(&sel->v[i], j))
				(selected_place(&sel->v[i], j) ? list_count_place :
				 list_count_probe)(&sel->v[i].probes[j], t);
}

static void print_functions(FILE *f, const struct list_totals *t)
{
	size_t entries = sum(t->entries), exits = sum(t->exits);

	fprintf(f, "%zu function%s: %zu entr%s", t->functions, t->functions == 1 ? "" : "s",
		entries, entries == 1 ? "y" : "ies");
	print_tactics(f, t->entries);
	fprintf(f, ", %zu exit%s", exits, exits == 1 ? "" : "s");
	print_tactics(f, t->exits);
	fprintf(f, "; %zu entry-only", t->entry_only);
	print_reasons(f, t->entry_onlys);
	fprintf(f, "; %zu refused", t->refused);
	print_reasons(f, t->refusals);
	if (t->resolvers)
		fprintf(f, "; %zu resolvers of indirect functions", t->resolvers);
	if (t->fragments)
		fprintf(f, "; %zu pieces of other functions", t->fragments);
}

static void print_places(FILE *f, const struct list_totals *t)
{
	size_t marks = sum(t->marks);

	fprintf(f, "%zu place%s: %zu mark%s", t->places, t->places == 1 ? "" : "s", marks,
		marks == 1 ? "" : "s");
	print_tactics(f, t->marks);
	fprintf(f, "; %zu refused", t->places - marks);
	print_reasons(f, t->unmarked);
}

void list_say(const char *of, const struct list_totals *t)
{
	auto_free char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	if (!f)
		return;
	if (t->functions || !t->places)
		print_functions(f, t);
	if (t->functions && t->places)
		fprintf(f, "; ");
	if (t->places)
		print_places(f, t);
	if (fclose(f) == 0)
		say("%s%s%s", of ? of : "", of ? ": " : "", text);
}

/* Why it is not known where an instruction leads. */
static const char *unproved_text(enum unproved why)
{
	return why == UNPROVED_TABLE ? "by a table whose end is not known" :
		why == UNPROVED_BACK ? "it writes to what its caller may return by" :
		why == UNPROVED_UNREAD ? "the function cannot be decoded to its end" :
		"by an address that is computed";
}

static void say_doubts(const struct plan *p, bool each)
{
	size_t n = 0;

	for (size_t i = 0; i < p->ndoubts; i++)
		n += !i || p->doubts[i].pc != p->doubts[i - 1].pc;
	say("%s: %zu instruction%s may lead to any other, so that each jump changes one "
	    "instruction at most%s", p->symbols->base, n, n == 1 ? "" : "s",
	    each ? ":" : " (-v: which)");
	for (size_t i = 0; i < p->ndoubts && each; i++) {
		raddr_t pc = p->doubts[i].pc;
		const struct func *f = symbols_func_at(p->symbols, pc);

		if (i && pc == p->doubts[i - 1].pc)
			continue;
		if (f)
			say("  %s+%#jx: %s", f->name, (uintmax_t)(pc - f->range.start),
			    unproved_text(p->doubts[i].why));
		else
			say("  %#jx, of no function: %s", (uintmax_t)pc,
			    unproved_text(p->doubts[i].why));
	}
}

void list_say_doubts(const struct selection *sel, bool each)
{
	for (size_t i = 0; i < sel->n; i++)
		if (sel->v[i].plan && sel->v[i].plan->ndoubts)
			say_doubts(sel->v[i].plan, each);
}
