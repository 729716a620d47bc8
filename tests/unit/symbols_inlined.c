/* SPDX-License-Identifier: MIT */
/*
 * Is it known which functions were inlined only, and where, by each compiler and form of
 * debug information; and does a damaged or hostile one do no harm?
 */
#include <elf.h>
#include <errno.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>

#include "symbols/lines/inlined.h"
#include "tests/unit/symbols_world.h"

enum { ROUNDS = 1500, SLOWEST_MS = 5000, RSS_MAX_MB = 700 };

static uint64_t seed = 88172645463325252u;

static uint64_t random_word(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	return seed ^= seed << 17;
}

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* ---- what is said -------------------------------------------------------- */

static void find(const char *file, const char *text, struct inlined_list *ret)
{
	auto_close int fd = open(world_path(file), O_RDONLY | O_CLOEXEC);
	struct pattern p;
	struct symbols *s;

	*ret = (struct inlined_list){ .deadline = UINT64_MAX };
	MUST_EQ(pattern_parse(text, &p), 0);
	MUST_EQ(symbols_open(fd, world_path(file), &s), 0);
	MUST_EQ(inlined_find(s, fd, &p, ret), 0);
	symbols_close(s);
	pattern_clear(&p);
}

/* "twice: bar x.c:4, baz x.c:3, 2 more; ..." */
static const char *said(const char *file, const char *text)
{
	static char line[4096];
	struct inlined_list l;
	size_t n = 0;

	find(file, text, &l);
	line[0] = '\0';
	for (size_t i = 0; i < l.n; i++) {
		const struct inlined *f = &l.v[i];

		n += (size_t)sprintf(line + n, "%s%s:", i ? "; " : "", f->name);
		for (size_t k = 0; k < MIN(f->nplaces, (size_t)INLINED_PLACES); k++)
			n += (size_t)sprintf(line + n, "%s %s %s:%d", k ? "," : "",
					     f->places[k].into, f->places[k].file ?: "?",
					     (int)f->places[k].line);
		if (f->nplaces > INLINED_PLACES)
			n += (size_t)sprintf(line + n, ", %zu more", f->nplaces - INLINED_PLACES);
	}
	inlined_clear(&l);
	return line;
}

#define ALWAYS "inline __attribute__((always_inline)) "
#define NEVER "__attribute__((noinline)) "

static void build(void)
{
	world_write("x.h", "static " ALWAYS "int twice(int x) { volatile int y = x; return y * 2; }\n");
	world_write("x.c",
		"#include \"x.h\"\n"
		"static " ALWAYS "int both(int x) { return twice(x) + 1; }\n"
		NEVER "int bar(int x) { return twice(x) + 3; }\n"
		NEVER "int baz(int x) { return both(x) + 3; }\n"
		"static inline int partly(int x) { return x * 11; }\n"
		"int (*volatile pointer)(int) = partly;\n"
		"static " ALWAYS "int never_called(int x) { return x; }\n"
		"int main(void) { return bar(1) + baz(2) + partly(5) + pointer(6) == 0; }\n");
	world_write("many.c",
		"static " ALWAYS "int once(int x) { volatile int y = x; return y; }\n"
		"#define F(n) " NEVER "int f##n(int x) { return once(x) + n; }\n"
		"F(1) F(2) F(3) F(4) F(5)\n"
		"int main(void) { return f1(1) + f2(1) + f3(1) + f4(1) + f5(1) == 3; }\n");
	world_write("x.cc",
		"namespace ns {\n"
		"static " ALWAYS "int twice(int x) { volatile int y = x; return y * 2; }\n"
		"struct acc { int v; " ALWAYS "void add(int x) { v += twice(x); }\n"
		"template<class T> " ALWAYS "void addt(T x) { v += twice((int)x); } };\n"
		"namespace { " ALWAYS "int hidden(int x) { return twice(x) * 3; } }\n"
		NEVER "int user(acc &a, int x)\n"
		"{ a.add(x); a.addt<long>(x); return hidden(a.v); }\n"
		"}\n"
		"int main(int c, char **) { ns::acc a{c}; return ns::user(a, 3); }\n");
}

static void c_is_told(const char *flags)
{
	char command[256];

	printf("%s\n", flags);
	snprintf(command, sizeof(command), "%s -O2 -o x x.c && %s -O2 -o many many.c", flags, flags);
	MUST_EQ(world_run("%s", command), 0);
	/* In one order or the other; the header's line where it is nested. */
	const char *twice = said("x", "twice");

	if (strcmp(twice, "twice: baz x.c:2, bar x.c:3") != 0)
		MUST_STR(twice, "twice: bar x.c:3, baz x.c:2");
	MUST_STR(said("x", "both"), "both: baz x.c:4");
	MUST_STR(said("x", "b?t[g-i]"), "both: baz x.c:4");
	/* It has code. */
	MUST_STR(said("x", "partly"), "");
	MUST_STR(said("x", "bar"), "");
	MUST_STR(said("x", "never_called"), "");
	MUST_STR(said("x", "nothing"), "");
	MUST(strstr(said("many", "on*"), "once: f") && strstr(said("many", "on*"), ", 2 more"));
}

static void cxx_is_told(const char *flags)
{
	char command[256];

	printf("%s\n", flags);
	snprintf(command, sizeof(command), "%s -O2 -o xx x.cc", flags);
	MUST_EQ(world_run("%s", command), 0);
	MUST_STR(said("xx", "ns::twice"), "ns::twice: ns::user x.cc:3");
	MUST_STR(said("xx", "twice"), "ns::twice: ns::user x.cc:3");
	MUST_STR(said("xx", "ns::acc::add"), "ns::acc::add: ns::user x.cc:7");
	MUST_STR(said("xx", "ns::acc::add(int)"), "ns::acc::add: ns::user x.cc:7");
	MUST_STR(said("xx", "add"), "ns::acc::add: ns::user x.cc:7");
	MUST_STR(said("xx", "ns::acc::addt<long>"), "ns::acc::addt<long>: ns::user x.cc:7");
	MUST_STR(said("xx", "*hidden"), "ns::(anonymous namespace)::hidden: ns::user x.cc:7");
	MUST_STR(said("xx", "other::twice"), "");
}

/* ---- where it is --------------------------------------------------------- */

static void split_is_found(void)
{
	MUST_EQ(world_run("gcc -g -O2 -o x x.c && objcopy --only-keep-debug x split.debug && "
			   "strip --strip-all -o split x && "
			   "objcopy --add-gnu-debuglink=split.debug split"), 0);
	MUST_STR(said("split", "both"), "both: baz x.c:4");
	MUST_EQ(world_run("mv split.debug elsewhere"), 0);
	MUST_STR(said("split", "both"), "");
}

/* What dwz shares; and it may say so of anything: a pipe would be waited for. */
static void common_is_found(void)
{
	if (world_has("dwz")) {
		MUST_EQ(world_run("gcc -g -O2 -o one x.c && gcc -g -O2 -DTWO -o two x.c && "
				   "dwz -m shared.debug one two 2>dwz.log"), 0);
		MUST_STR(said("one", "both"), "both: baz x.c:4");
	}
	MUST_EQ(world_run("printf 'pipe\\0aaaaaaaaaaaaaaaaaaaa' >link && mkfifo pipe && "
			   "objcopy --add-section .gnu_debugaltlink=link x led"), 0);
	MUST_STR(said("led", "both"), "");
	MUST_EQ(world_run("rm pipe && cp x pipe"), 0);
	MUST_STR(said("led", "both"), "");
}

/* ---- limits -------------------------------------------------------------- */

struct bytes {
	uint8_t *p;
	size_t n;
};

static struct bytes slurp(const char *name)
{
	auto_close int fd = open(world_path(name), O_RDONLY);
	struct stat st;
	struct bytes b;

	MUST(fd >= 0 && !fstat(fd, &st));
	b.n = st.st_size;
	b.p = malloc(b.n);
	MUST(b.p && read(fd, b.p, b.n) == (ssize_t)b.n);
	return b;
}

/* The section headers of debug information, one after the other; NULL at the end. */
static Elf64_Shdr *debug_section(struct bytes b, size_t *i)
{
	const Elf64_Ehdr *eh = (const void *)b.p;
	Elf64_Shdr *sh = (Elf64_Shdr *)(b.p + eh->e_shoff);
	const char *names = (char *)b.p + sh[eh->e_shstrndx].sh_offset;

	for (; *i < eh->e_shnum; ++*i)
		if (!strncmp(names + sh[*i].sh_name, ".debug", 6))
			return &sh[(*i)++];
	return NULL;
}

static void feed(struct bytes b, const char *text, struct inlined_list *ret)
{
	auto_close int fd = memfd_create("hostile", MFD_CLOEXEC);
	uint64_t start = now_ns();
	struct symbols *s;
	struct pattern p;

	*ret = (struct inlined_list){ .deadline = start + 1000000000 };
	MUST(fd >= 0 && write(fd, b.p, b.n) == (ssize_t)b.n);
	MUST_EQ(pattern_parse(text, &p), 0);
	if (!symbols_open(fd, "hostile", &s)) {
		MUST_EQ(inlined_find(s, fd, &p, ret), 0);
		symbols_close(s);
	}
	fail_clear();
	pattern_clear(&p);
	MUST(now_ns() - start < SLOWEST_MS * 1000000ull);
}

/* Of what is packed, the size is what the file says. */
static void large_is_left(void)
{
	struct inlined_list l;
	size_t i = 1;

	MUST_EQ(world_run("gcc -g -O2 -gz -o packed x.c"), 0);
	struct bytes b = slurp("packed");
	Elf64_Shdr *sh = debug_section(b, &i);

	while (sh && !(sh->sh_flags & SHF_COMPRESSED))
		sh = debug_section(b, &i);
	MUST(sh);
	feed(b, "both", &l);
	MUST_EQ(l.n, 1);
	MUST_EQ(l.too_large, 0);
	inlined_clear(&l);
	((Elf64_Chdr *)(b.p + sh->sh_offset))->ch_size = 1ull << 40;
	feed(b, "both", &l);
	MUST_EQ(l.n, 0);
	MUST(l.too_large >= 1ull << 40);
	inlined_clear(&l);
	free(b.p);
}

static void deadline_ends(void)
{
	struct inlined_list l;

	MUST_EQ(world_run("{ echo 'static " ALWAYS "int g(int x) { volatile int y = x; return y; }'; "
			   "for i in $(seq 600); do echo \"int h$i(int x) { return g(x); }\"; done; "
			   "echo 'int main(void) { return 0; }'; } >wide.c && "
			   "gcc -g -O1 -o wide wide.c"), 0);
	auto_close int fd = open(world_path("wide"), O_RDONLY | O_CLOEXEC);
	struct symbols *s = world_symbols("wide");
	struct pattern p;

	MUST_EQ(pattern_parse("g", &p), 0);
	l = (struct inlined_list){ .deadline = UINT64_MAX };
	MUST_EQ(inlined_find(s, fd, &p, &l), 0);
	MUST(!l.cut && l.n == 1 && l.v[0].nplaces == 600);
	inlined_clear(&l);
	l = (struct inlined_list){ .deadline = 1 };
	MUST_EQ(inlined_find(s, fd, &p, &l), 0);
	MUST(l.cut);
	inlined_clear(&l);
	pattern_clear(&p);
	symbols_close(s);
}

static void flips(const char *file)
{
	struct bytes b = slurp(file), copy = { malloc(b.n), b.n };
	unsigned int found = 0;

	MUST(copy.p);
	for (int round = 0; round < ROUNDS; round++) {
		struct inlined_list l;
		Elf64_Shdr *all[32], was[32], *sh;
		size_t n = 0, i = 1;

		memcpy(copy.p, b.p, b.n);
		while (n < ARRAY_SIZE(all) && (sh = debug_section(copy, &i)))
			if (sh->sh_size)
				was[n] = *sh, all[n++] = sh;
		for (uint64_t k = 1 + random_word() % 8; k; k--) {
			uint64_t r = random_word();
			uint8_t *at;

			sh = all[r % n];
			at = copy.p + was[r % n].sh_offset + (r >> 8) % was[r % n].sh_size;
			*at = r & 0x80 ? (uint8_t)(r >> 40) : *at ^ (1u << (r >> 40) % 8);
			if (r % 61 == 0)
				((uint8_t *)sh)[(r >> 16) % sizeof(*sh)] = (uint8_t)(r >> 48);
		}
		feed(copy, round & 1 ? "*o*" : "both", &l);
		found += l.n > 0;
		inlined_clear(&l);
	}
	printf("%s: found in %u of %d\n", file, found, ROUNDS);
	MUST(found > ROUNDS / 20 && found < ROUNDS);
	free(copy.p);
	free(b.p);
}

int main(void)
{
	static const char *const c[] = {
		"gcc -g", "gcc -gdwarf-4", "gcc -gdwarf-5 -gz", "gcc -gdwarf-3 -gstrict-dwarf",
		"clang -g", "clang -gdwarf-4", "clang -gline-tables-only", "gcc -g -gsplit-dwarf",
		"clang -g -gsplit-dwarf",
	};
	static const char *const cxx[] = {
		"g++ -g", "g++ -gdwarf-4", "clang++ -g", "g++ -gdwarf-4 -gsplit-dwarf",
	};
	struct rusage usage;

	world_open();
	build();
	for (size_t i = 0; i < ARRAY_SIZE(c); i++)
		if (world_has(c[i][0] == 'g' ? "gcc" : "clang"))
			c_is_told(c[i]);
	for (size_t i = 0; i < ARRAY_SIZE(cxx); i++)
		if (world_has(cxx[i][0] == 'g' ? "g++" : "clang++"))
			cxx_is_told(cxx[i]);
	split_is_found();
	common_is_found();
	large_is_left();
	deadline_ends();
	flips("x");
	flips("xx");
	flips("packed");
	MUST_EQ(world_run("gcc -gdwarf-4 -O2 -o old x.c"), 0);
	flips("old");
	getrusage(RUSAGE_SELF, &usage);
	MUST(usage.ru_maxrss < RSS_MAX_MB * 1024);
	return 0;
}
