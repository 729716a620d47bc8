/* SPDX-License-Identifier: MIT */
/*
 * Are the functions selected that the user means, under the names that matched?
 * On this very program and its process: the functions below are its material.
 */
#include "injector/modules/select.h"

#include <stdio.h>
#include <string.h>

#include "injector/show/list.h"
#include "tests/unit/check.h"

#define MATERIAL __attribute__((noinline, used))

int sel_alpha(int x);
int sel_beta(int x);
int sel_beta_two(int x);
void _Unwind_Resume_sel(volatile int *p);
int vfork_sel(int x);

MATERIAL int sel_alpha(int x)
{
	return x * 3 + 1;
}

MATERIAL int sel_beta(int x)
{
	return x * 5 + 2;
}

MATERIAL int sel_beta_two(int x)
{
	return x * 7 + 3;
}

/* Named as if it belonged to the unwinder. */
MATERIAL void _Unwind_Resume_sel(volatile int *p)
{
	*p = *p * 9 + 4;
}

/* And this not quite as vfork, and not in the C library. */
MATERIAL int vfork_sel(int x)
{
	return x * 11 + 5;
}

struct query {
	struct pattern include[4], exclude[4];
	struct select_options o;
	struct selection sel;
};

static void add(struct pattern *v, size_t *n, const char *text)
{
	if (text)
		CHECK(pattern_parse(text, &v[(*n)++]) == 0);
}

static void run(struct modules *m, struct query *q, const char *a, const char *b,
		const char *not)
{
	memset(q, 0, sizeof(*q));
	q->o.include = q->include;
	q->o.exclude = q->exclude;
	add(q->include, &q->o.ninclude, a);
	add(q->include, &q->o.ninclude, b);
	add(q->exclude, &q->o.nexclude, not);
	CHECK(select_functions(m, &q->o, &q->sel) == 0);
}

static void done(struct query *q)
{
	for (size_t i = 0; i < 4; i++) {
		pattern_clear(&q->include[i]);
		pattern_clear(&q->exclude[i]);
	}
	select_clear(&q->sel);
}

/* The names, sorted by module and address, joined by blanks. */
static const char *names(const struct query *q)
{
	static char all[4096];
	size_t n = 0;

	all[0] = '\0';
	for (size_t i = 0; i < q->sel.n; i++)
		for (size_t j = 0; j < q->sel.v[i].n && n < sizeof(all) - 512; j++)
			n += (size_t)snprintf(all + n, sizeof(all) - n, "%s%s",
					      n ? " " : "", q->sel.v[i].names[j]);
	return all;
}

static bool has(const struct query *q, const char *name)
{
	for (size_t i = 0; i < q->sel.n; i++)
		for (size_t j = 0; j < q->sel.v[i].n; j++)
			if (strcmp(q->sel.v[i].names[j], name) == 0)
				return true;
	return false;
}

static const struct placed_probe *probe_of(const struct query *q, const char *name)
{
	for (size_t i = 0; i < q->sel.n; i++)
		for (size_t j = 0; j < q->sel.v[i].n; j++)
			if (strcmp(q->sel.v[i].names[j], name) == 0)
				return &q->sel.v[i].probes[j];
	return NULL;
}

static int refusal_of(const struct query *q, const char *name)
{
	const struct placed_probe *p = probe_of(q, name);

	return p ? p->refusal : -1;
}

static int entry_only_of(const struct query *q, const char *name)
{
	const struct placed_probe *p = probe_of(q, name);

	return p ? p->entry_only : -1;
}

static void test_patterns(struct modules *m)
{
	struct query q;

	run(m, &q, "sel_alpha", NULL, NULL);
	CHECK(strcmp(names(&q), "sel_alpha") == 0);
	CHECK(q.sel.n == 1 && q.sel.nfuncs == 1 && q.sel.v[0].nprobes == 1);
	CHECK(q.sel.v[0].probes[0].planned->func == q.sel.v[0].funcs[0]);
	done(&q);

	run(m, &q, "sel_b*", NULL, NULL);
	CHECK(q.sel.nfuncs == 2 && has(&q, "sel_beta") && has(&q, "sel_beta_two"));
	done(&q);

	run(m, &q, "sel_*", NULL, "*two");
	CHECK(q.sel.nfuncs == 2 && !has(&q, "sel_beta_two"));
	done(&q);

	run(m, &q, "sel_alpha", "sel_a*", NULL);
	CHECK(q.sel.nfuncs == 1);
	done(&q);

	run(m, &q, "nosuch_sel", "sel_alpha", NULL);
	CHECK(!q.include[0].matched && q.include[1].matched);
	done(&q);
}

static void test_reserved(struct modules *m)
{
	struct query q;

	run(m, &q, "_Unwind_Resume_sel", "vfork_sel", NULL);
	CHECK(refusal_of(&q, "_Unwind_Resume_sel") == REFUSED_NONE);
	CHECK(entry_only_of(&q, "_Unwind_Resume_sel") == REFUSED_LEFT_OTHERWISE);
	CHECK(refusal_of(&q, "vfork_sel") == REFUSED_NONE);
	CHECK(entry_only_of(&q, "vfork_sel") == REFUSED_NONE);
	done(&q);

	run(m, &q, "vfork@libc.so*", "__restore_rt@libc.so*", NULL);
	CHECK(refusal_of(&q, "vfork") == REFUSED_NONE);
	CHECK(entry_only_of(&q, "vfork") == REFUSED_LEFT_OTHERWISE);
	CHECK(!has(&q, "__restore_rt") || refusal_of(&q, "__restore_rt") == REFUSED_RESERVED);
	done(&q);
}

/* The C library chooses one of several of these: in this process, that one is
 * meant; in the file there is only the function that chooses. */
static void test_indirect(struct modules *m)
{
	size_t (*volatile chosen)(const char *) = strlen;
	struct modules file = { 0 };
	struct query q;

	run(m, &q, "strlen@libc.so*", NULL, NULL);
	CHECK(q.sel.nfuncs == 1 && refusal_of(&q, "strlen") == REFUSED_NONE);
	CHECK(q.sel.v[0].funcs[0]->range.start + q.sel.v[0].module->bias ==
	      (raddr_t)chosen);
	char *path = strdup(q.sel.v[0].module->path);
	done(&q);

	CHECK(modules_open_file(path, &file) == 0);
	run(&file, &q, "strlen", NULL, NULL);
	CHECK(refusal_of(&q, "strlen") == REFUSED_IFUNC);
	done(&q);
	run(&file, &q, "vfork", NULL, NULL);
	CHECK(entry_only_of(&q, "vfork") == REFUSED_LEFT_OTHERWISE);
	done(&q);
	modules_close(&file);
	free(path);
}

/* Calls into other files, and nothing else that is called so. */
static void test_linkage(struct modules *m)
{
	struct query q;

	run(m, &q, "getopt_long@plt", "sel_alpha@plt", "free@plt");
	CHECK(q.sel.nfuncs == 1 && refusal_of(&q, "getopt_long@plt") == REFUSED_NONE);
	CHECK(q.sel.v[0].probes[0].entry_only == REFUSED_LINKAGE);
	CHECK(q.sel.v[0].module->is_exe);
	done(&q);

	run(m, &q, "getopt_long", NULL, NULL);
	CHECK(q.sel.nfuncs == 0);
	done(&q);

	run(m, &q, "*@plt", NULL, "*");
	CHECK(q.sel.nfuncs > 10);
	done(&q);
}

static void test_modules(struct modules *m)
{
	struct query q;

	/* The C library only when it is named. (No other file has this function, no sanitizer
	 * either.) */
	run(m, &q, "tcsendbreak", NULL, NULL);
	CHECK(!has(&q, "tcsendbreak"));
	done(&q);
	run(m, &q, "tcsendbreak@libc.so*", NULL, NULL);
	CHECK(has(&q, "tcsendbreak") && refusal_of(&q, "tcsendbreak") == REFUSED_NONE);
	done(&q);
	run(m, &q, "sel_alpha@exe", NULL, NULL);
	CHECK(q.sel.nfuncs == 1);
	done(&q);
	run(m, &q, "sel_alpha@libc.so*", NULL, NULL);
	CHECK(q.sel.nfuncs == 0 && q.sel.n == 0);
	done(&q);
	/* An exclusion holds wherever an inclusion does. */
	run(m, &q, "tcsend*@libc.so*", NULL, "tcsendbreak");
	CHECK(!has(&q, "tcsendbreak"));
	done(&q);
	/* Two modules have a _init or _fini; their names tell them apart. */
	run(m, &q, "_fini@*", NULL, NULL);
	for (size_t i = 0; i < q.sel.n && q.sel.n > 1; i++)
		CHECK(strstr(q.sel.v[i].names[0], "_fini@"));
	done(&q);
}

static void expect_hint(struct modules *m, const char *glob, const char *says)
{
	struct query q;
	char *hint;

	run(m, &q, glob, NULL, NULL);
	hint = select_hint(m, &q.o);
	if (!hint || !strstr(hint, says)) {
		failures++;
		printf("hint for %s: %s\n, not %s\n", glob, hint, says);
	}
	free(hint);
	done(&q);
}

static void test_hints(struct modules *m)
{
	struct query q;

	expect_hint(m, "^sel_alp", "-f 'sel_alp*'");
	expect_hint(m, "^sel_nosuch$", "-f 'sel_nosuch'");
	expect_hint(m, "sel_.*", "regular expression");
	expect_hint(m, "sel_alphaa", "sel_alpha");
	expect_hint(m, "tcsendbrea[k]", "only when it is named");
	expect_hint(m, "x@nosuchlib*", "none is called nosuchlib*");
	run(m, &q, "sel_alpha", NULL, NULL);
	CHECK(!select_hint(m, &q.o));
	done(&q);
}

static void test_list(struct modules *m)
{
	static const char path[] = "select-list.tmp";
	struct output *out;
	struct query q;
	char line[512] = "";
	FILE *f;
	int tabs = 0;

	run(m, &q, "sel_alpha", NULL, NULL);
	CHECK(output_open(path, &out) == 0);
	CHECK(list_print(&q.sel, (struct list_more){ 0 }, out) == 0);
	output_close(out);
	f = fopen(path, "r");
	CHECK(f && fgets(line, sizeof(line), f));
	for (const char *p = line; *p; p++)
		tabs += *p == '\t';
	CHECK(tabs == 5);
	CHECK(strncmp(line, "0x", 2) == 0 && strstr(line, "\tsel_alpha\t"));
	if (f)
		fclose(f);
	unlink(path);
	done(&q);
}

/* What runs with every signal blocked must not trap, whatever is asked for. */
static void test_traps(struct modules *m)
{
	for (int asked = 0; asked < 2; asked++) {
		struct query q = { .o.traps = asked };
		size_t allowed = 0;

		q.o.include = q.include;
		add(q.include, &q.o.ninclude, "sel_alpha");
		add(q.include, &q.o.ninclude, "tcsendbreak@libc.so*");
		CHECK(select_functions(m, &q.o, &q.sel) == 0 && q.sel.n == 2);
		for (size_t i = 0; i < q.sel.n; i++) {
			allowed += q.sel.v[i].probes[0].planned->trap_size != 0;
			CHECK(!q.sel.v[i].module->is_system ||
			      !q.sel.v[i].probes[0].planned->trap_size);
		}
		CHECK(allowed == (size_t)asked);
		done(&q);
	}
}

/* Of a program that nothing tells of, that is said when no call comes. */
static void test_unnamed(void)
{
	struct func funcs[] = { { .range = { 0x1000, 0x1100 } }, { .range = { 0x1100, 0x1600 } } };
	struct text text = { .range = { 0x1000, 0x4000 } };
	struct symbols s = { .texts = &text, .ntexts = 1, .funcs = funcs, .nfuncs = 2 };
	struct module v[] = { { .base = "lib", .symbols = &s },
			      { .base = "exe", .symbols = &s, .is_exe = true } };
	struct modules m = { .v = v, .n = 2 };

	CHECK(!select_unnamed(&m));
	s.nfuncs = 1;
	CHECK(select_unnamed(&m) && strcmp(select_unnamed(&m), "exe") == 0);
	m.n = 1;
	CHECK(!select_unnamed(&m));
}

/* Where the second instruction of a function begins. */
static unsigned int second(const struct modules *m, const char *name)
{
	const struct symbols *s = m->v[0].symbols;
	struct insn in = { .size = 0 };
	size_t left;

	for (size_t i = 0; i < s->nfuncs; i++) {
		const uint8_t *p = symbols_text(s, s->funcs[i].range.start, &left);

		if (strcmp(s->funcs[i].raw, name) == 0 && p)
			CHECK(!arch_host()->measure(p, left, s->funcs[i].range.start, &in));
	}
	return in.size;
}

static void test_places(struct modules *m)
{
	struct query q;
	char at[64], name[64], beside[128];
	unsigned int n = second(m, "sel_alpha");

	CHECK(m->v[0].is_exe && n);
	snprintf(at, sizeof(at), "sel_alpha+%u", n);
	snprintf(name, sizeof(name), "sel_alpha+0x%x", n);
	run(m, &q, at, "sel_beta", NULL);
	CHECK(q.sel.nfuncs == 2 && has(&q, name) && has(&q, "sel_beta"));
	CHECK(q.sel.v[0].nplaces == 1 && selected_place(&q.sel.v[0], 1) &&
	      !selected_place(&q.sel.v[0], 0));
	CHECK(refusal_of(&q, name) != REFUSED_NO_INSTRUCTION);
	CHECK(entry_only_of(&q, name) == REFUSED_PLACE && entry_only_of(&q, "sel_beta") == 0);
	done(&q);
	/* It is excluded by itself, or with its function. */
	run(m, &q, at, name, NULL);
	CHECK(q.sel.nfuncs == 1);
	done(&q);
	run(m, &q, at, "sel_beta", "sel_alpha");
	CHECK(q.sel.nfuncs == 1);
	done(&q);
	run(m, &q, "sel_alpha", at, name);
	CHECK(q.sel.nfuncs == 1 && has(&q, "sel_alpha"));
	done(&q);
	if (n == 1)		/* each byte is an instruction's first */
		return;
	snprintf(at, sizeof(at), "sel_alpha+%u", n - 1);
	run(m, &q, at, NULL, NULL);
	CHECK(q.sel.nfuncs == 0);
	auto_free char *hint = select_hint(m, &q.o);

	snprintf(beside, sizeof(beside), "begin at sel_alpha+0x0 and %s\n", name);
	CHECK(hint && strstr(hint, "no instruction begins at sel_alpha+") && strstr(hint, beside));
	done(&q);
}

int main(void)
{
	struct modules m = { 0 };

	if (modules_open_process(getpid(), &m)) {
		printf("%s\n", fail_text());
		return 1;
	}
	test_patterns(&m);
	test_reserved(&m);
	test_indirect(&m);
	test_linkage(&m);
	test_modules(&m);
	test_hints(&m);
	test_list(&m);
	test_traps(&m);
	test_places(&m);
	test_unnamed();
	modules_close(&m);
	return failures != 0;
}
