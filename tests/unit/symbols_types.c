/* SPDX-License-Identifier: MIT */
/*
 * Are signatures those of the source, by each compiler and form of debug information; and does a
 * truncated, damaged or hostile one do no harm?
 */
#include <elf.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>

#include "symbols/lines/lineplaces.h"
#include "symbols/types/signatures.h"
#include "tests/unit/symbols_world.h"
#include "values/compile.h"
#include "values/text.h"

enum { ROUNDS = 600, SLOWEST_MS = 5000, RSS_MAX_MB = 700, STEP = 997 };

static uint64_t seed = 88172645463325252u;

static uint64_t random_word(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	return seed ^= seed << 17;
}

static uint64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

/* ---- what is said -------------------------------------------------------- */

static const char *declared(const char *file, const char *function)
{
	static char line[4096];
	auto_close int fd = open(world_path(file), O_RDONLY | O_CLOEXEC);
	struct symbols *s = world_symbols(file);
	struct signatures *from;
	struct signature signature;

	line[0] = '\0';
	MUST_EQ(signatures_open(s, fd, &from), 0);
	if (signatures_get(from, world_func(s, function), &signature) == 0) {
		values_declaration(&signature, function, line, sizeof(line));
		signature_clear(&signature);
	}
	signatures_close(from);
	symbols_close(s);
	return line;
}

static void build(void)
{
	world_write("x.c",
		"#include <stdbool.h>\n#include <stdint.h>\n#include <stddef.h>\n"
		"enum color { RED, GREEN = 5, BLUE = -7 };\n"
		"struct point { int x, y; };\n"
		"typedef struct node { struct node *next; struct point at; union { int i; float f; }; "
		"unsigned int a : 3, b : 7; char name[12]; } node_t;\n"
		"typedef int (*handler)(node_t *, size_t);\n"
		"struct hidden;\n"
		"#define N __attribute__((noinline)) __attribute__((used))\n"
		"N int plain(int a, unsigned long b, const char *c, bool d, enum color e)\n"
		"{ return a + (int)b + *c + d + (int)e; }\n"
		"N double floats(float a, double b, long double c) { return a + b + (double)c; }\n"
		"N struct point by_value(struct point p, node_t n) { p.x += n.at.x; return p; }\n"
		"N node_t *list(node_t *n, handler h, struct hidden *p, char **v, const int (*m)[3])\n"
		"{ h(n, !p + !*v + (size_t)**m); return n->next; }\n"
		"N void nothing(void) { __asm__ volatile(\"\"); }\n"
		"N int more(const char *f, ...) { return *f; }\n"
		"static int h(node_t *n, size_t k) { return n->a + (int)k; }\n"
		"int main(int c, char **v) { node_t n = { 0 }; int m[3] = { 1 }; n.next = &n;\n"
		"nothing(); return plain(c, 1, v[0], true, RED) + (int)floats(1, 2, 3) +\n"
		"by_value(n.at, n).x + (int)(list(&n, h, 0, v, (const int (*)[3])&m) == 0)\n"
		"+ more(v[0]); }\n");
	world_write("x.cc",
		"#include <memory>\n#include <optional>\n#include <string>\n#include <string_view>\n"
		"#include <vector>\n"
		"namespace ns { struct small { int a, b; }; struct own { int a; own(const own &); "
		"own(int); ~own(); };\n"
		"own::own(int x) : a(x) {} own::own(const own &o) : a(o.a) {} own::~own() { a = 0; }\n"
		"struct base { virtual ~base() {} int v = 1; }; struct derived : base { long w = 2;\n"
		"__attribute__((noinline)) int get(int k) { return (int)w + v + k; } }; }\n"
		"extern \"C\" __attribute__((noinline)) int text(const std::string &s, "
		"std::string_view v) { return (int)(s.size() + v.size()); }\n"
		"extern \"C\" __attribute__((noinline)) int classes(ns::small a, ns::own b, "
		"ns::derived &c) { return a.a + b.a + c.get(1); }\n"
		"extern \"C\" __attribute__((noinline)) long lists(const std::vector<int> &v, "
		"std::unique_ptr<int> p, std::optional<long> o) { return v[0] + *p + o.value_or(3); }\n"
		"int main(int c, char **v) { ns::derived d; return text(v[0], \"x\") + classes({c, 1}, "
		"ns::own(3), d) + (int)lists({1, 2}, std::make_unique<int>(7), 5); }\n");
}

static void c_is_told(const char *compiler)
{
	printf("%s\n", compiler);
	MUST_EQ(world_run("%s -o x x.c", compiler), 0);
	MUST_STR(declared("x", "plain"),
		 "int plain(int a, unsigned long b, const char *c, bool d, enum color e)");
	MUST_STR(declared("x", "floats"), "double floats(float a, double b, long double c)");
	MUST_STR(declared("x", "by_value"), "struct point by_value(struct point p, node_t n)");
	MUST_STR(declared("x", "list"), "node_t *list(node_t *n, handler h, struct hidden *p, "
		 "char **v, int[3] *m)");
	MUST_STR(declared("x", "nothing"), "void nothing()");
	MUST_STR(declared("x", "more"), "int more(const char *f, ...)");
	MUST_STR(declared("x", "_start"), "");
}

static void cxx_is_told(const char *compiler)
{
	printf("%s\n", compiler);
	MUST_EQ(world_run("%s -std=c++17 -o xx x.cc", compiler), 0);
	const char *text = declared("xx", "text");

	MUST(!strncmp(text, "int text(const ", 15) && strstr(text, " &s, ") && strstr(text, " v)"));
	MUST_STR(declared("xx", "classes"), "int classes(small a, own b, derived &c)");
	MUST(strstr(declared("xx", "lists"), "long lists(const vector<int, std::allocator<int>"));
	MUST(!strstr(declared("xx", "lists"), "<unknown>"));
}

static void dwz_is_told(void)
{
	if (!world_has("dwz") || !world_has("gcc"))
		return;
	MUST_EQ(world_run("gcc -g -O0 -o d1 x.c && gcc -g -O0 -DX -o d2 x.c && "
			  "dwz -m common.debug d1 d2"), 0);
	MUST_STR(declared("d1", "nothing"), "void nothing()");
	MUST_STR(declared("d1", "floats"), "double floats(float a, double b, long double c)");
}

/* (What a rustc refuses is not tested: there may be none with a standard library.) */
static void rust_is_told(void)
{
	world_write("x.rs",
		"pub enum Shape { Circle { r: f64 }, Unit, Pair(i32, i32) }\n"
		"#[derive(Clone, Copy)] pub enum Color { Red, Green = 5 }\n"
		"pub struct Big { pub a: [u64; 3], pub b: (u8, u16) }\n"
		"#[no_mangle] #[inline(never)] pub fn text(s: &str, t: String, u: &mut [u16]) -> usize\n"
		"{ s.len() + t.len() + u.len() }\n"
		"#[no_mangle] #[inline(never)] pub fn enums(a: Shape, b: &Color, c: Option<Box<i32>>)\n"
		"-> Result<u8, String> { match a { Shape::Circle { r } => Ok(r as u8), Shape::Unit =>\n"
		"Err(String::new()), Shape::Pair(x, _) => Ok(x as u8 + *b as u8 + c.is_some() as u8) } }\n"
		"#[no_mangle] #[inline(never)] pub fn others(a: char, b: Vec<Big>, c: (), d: [i32; 2])\n"
		"{ drop((a, b, c, d)); }\n"
		"fn main() { let mut v = [1u16, 2]; let n = text(\"x\", \"y\".to_string(), &mut v);\n"
		"let _ = enums(Shape::Pair(n as i32, 1), &Color::Green, None); let _ = Shape::Unit;\n"
		"let _ = Shape::Circle { r: 1.0 }; let _ = Color::Red; others('a', vec![], (), [1, 2]); }\n");
	if (!world_has("rustc") || world_run("rustc -g -o rs x.rs 2>rustc.log")) {
		printf("not tested: Rust\n");
		return;
	}
	MUST_STR(declared("rs", "text"), "fn text(s: &str, t: String, u: &mut [u16]) -> usize");
	MUST(strstr(declared("rs", "enums"), "fn enums(a: Shape, b: &"));
	MUST(strstr(declared("rs", "enums"), "Color, c: Option<"));
	MUST(strstr(declared("rs", "enums"), "Box<i32>>) -> Result<u8, "));
	MUST(!strstr(declared("rs", "enums"), "<unknown>"));
	MUST(strstr(declared("rs", "others"), "fn others(a: char, b: Vec<x::Big>, "));
	MUST(strstr(declared("rs", "others"), "d: [i32; 2])"));
}

static void go_is_told(void)
{
	MUST_EQ(world_run("mkdir g"), 0);
	world_write("g/go.mod", "module g\n\ngo 1.17\n");
	world_write("g/main.go",
		"package main\n\ntype point struct{ X, Y int }\n\n//go:noinline\n"
		"func one(s string, p *point, v []uint8, m map[string]point) (int, error) {\n"
		"\treturn len(s) + p.X + len(v) + len(m), nil\n}\n\n//go:noinline\n"
		"func two(a [2]int, f func(int) bool) bool { return f(a[0]) }\n\n//go:noinline\n"
		"func three(c chan int, i interface{}) { _ = i; close(c) }\n\nfunc main() {\n"
		"\tn, _ := one(\"x\", &point{1, 2}, nil, nil)\n"
		"\tif two([2]int{n, 2}, func(i int) bool { return i > n }) {\n"
		"\t\tthree(make(chan int), n)\n\t}\n}\n");
	if (!world_has("go") ||
	    world_run("cd g && GOCACHE=$PWD/cache GOFLAGS=-mod=mod CGO_ENABLED=0 "
		      "go build -gcflags='-N -l' -o ../gg >go.log 2>&1")) {
		printf("not tested: Go\n");
		return;
	}
	MUST_STR(declared("gg", "main.one"), "func main.one(s string, p *main.point, v []uint8, "
		 "m map[string]main.point) (int, error)");
	MUST_STR(declared("gg", "main.two"), "func main.two(a [2]int, f func(int) bool) bool");
	MUST_STR(declared("gg", "main.three"), "func main.three(c chan int, i interface {})");
}

/* A small file with variants. */
static bool build_variants(void)
{
	world_write("v.rs",
		"#![no_std]\n#[panic_handler] fn stop(_: &core::panic::PanicInfo) -> ! { loop {} }\n"
		"pub enum Shape { Circle { r: f64 }, Unit, Pair(i32, Option<u8>), Wide(u128) }\n"
		"#[no_mangle] pub fn a(s: Shape, t: &str, u: Option<&[u32]>) -> Option<u8>\n"
		"{ match s { Shape::Pair(_, b) => b, _ => Some(t.len() as u8 + u.is_some() as u8) } }\n"
		"#[no_mangle] pub fn b(x: Result<i32, (u8, bool)>, y: &[Option<bool>]) -> Shape\n"
		"{ if x.is_ok() { Shape::Unit } else if y.is_empty() { Shape::Wide(1) } else\n"
		"{ Shape::Circle { r: 1.0 } } }\n");
	return world_has("rustc") && !world_run("rustc -g -C opt-level=1 -C panic=abort "
						"--crate-type=cdylib -o v.so v.rs 2>rustc.log");
}

/* ---- split --------------------------------------------------------------- */

static void split_is_told(void)
{
	MUST_STR(declared("s", "plain"),
		 "int plain(int a, unsigned long b, const char *c, bool d, enum color e)");
	MUST_STR(declared("s", "floats"), "double floats(float a, double b, long double c)");
	MUST_STR(declared("s", "by_value"), "struct point by_value(struct point p, node_t n)");
	MUST_STR(declared("s", "list"), "node_t *list(node_t *n, handler h, struct hidden *p, "
		 "char **v, int[3] *m)");
}

/* Units in files of their own, and in a package of two. */
static void split_by(const char *compiler, const char *package)
{
	printf("split: %s\n", compiler);
	MUST_EQ(world_run("rm -f *.dwo *.dwp s && %s -gsplit-dwarf -c x.c && "
			  "%s -gsplit-dwarf -c y.c && %s -o s x.o y.o", compiler, compiler, compiler),
		0);
	split_is_told();
	MUST_STR(declared("s", "another"), "int another(struct point *where)");
	if (!package || !world_has(package))
		return;
	MUST_EQ(world_run("%s -e s -o s.dwp && mkdir -p away && mv *.dwo away", package), 0);
	split_is_told();
	MUST_STR(declared("s", "another"), "int another(struct point *where)");
	MUST_EQ(world_run("rm s.dwp && mv away/*.dwo ."), 0);
}

/* What is no file, or another build's, is not taken for it. */
static void split_is_missing(void)
{
	MUST_EQ(world_run("rm -f s.dwp x.dwo && mkfifo x.dwo"), 0);
	MUST_STR(declared("s", "plain"), "");
	MUST_EQ(world_run("rm x.dwo && cp y.dwo x.dwo"), 0);
	MUST_STR(declared("s", "plain"), "");
	MUST_EQ(world_run("rm x.dwo"), 0);
	MUST_STR(declared("s", "plain"), "");
	MUST_STR(declared("s", "another"), "int another(struct point *where)");
}

/* More strings than are read at once, and longer ones. */
static void split_is_large(void)
{
	MUST_EQ(world_run("python3 -c 'print(\"\\n\".join(\"struct s%%d_%%s { int m%%d; };\" %% "
			  "(i, \"x\" * (i %% 700), i) for i in range(3000)));"
			  "print(\"int big(\" + \", \".join(\"struct s%%d_%%s *p%%d\" %% "
			  "(i, \"x\" * (i %% 700), i) for i in (5, 699, 2999)) + "
			  "\") { return !p5 + !p699 + !p2999; } int main(void) { return big(0, 0, 0); }\")' "
			  ">big.c && gcc -g -gsplit-dwarf -O0 -o big big.c"), 0);
	const char *line = declared("big", "big");


	MUST(!strncmp(line, "int big(struct s5_xxxxx *p5, struct s699_xxx", 44));
	MUST(strstr(line, " *p699, struct s2999_xxx") && strstr(line, " *p2999)"));
}

static void split(void)
{
	world_write("y.c", "struct point { int x, y; };\n__attribute__((noinline)) "
		    "int another(struct point *where) { return where->x; }\n");
	split_by("gcc -gdwarf-4 -O0", "dwp");
	split_by("gcc -gdwarf-5 -O2 -fno-ipa-icf", NULL);
	split_by("gcc -gdwarf-5 -O1 -gz", NULL);
	split_by("gcc -gdwarf-4 -O0 -fdebug-types-section", NULL);
	split_by("gcc -gdwarf-5 -O0 -fdebug-types-section", NULL);
	if (world_has("clang")) {
		split_by("clang -gdwarf-4 -O0", "dwp");
		split_by("clang -gdwarf-5 -O0", "llvm-dwp");
		split_by("clang -gdwarf-5 -O1", "llvm-dwp");
		split_by("clang -gdwarf-5 -O0 -gz", NULL);
	}
	split_by("gcc -gdwarf-5 -O0", NULL);
	split_is_missing();
	split_is_large();
}

/* ---- hostile ------------------------------------------------------------- */

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
	b.n = (size_t)st.st_size;
	b.p = malloc(b.n);
	MUST(b.p && read(fd, b.p, b.n) == (ssize_t)b.n);
	return b;
}

/* What variables have somewhere in each function. */
static void ask_places(struct signatures *from, const struct symbols *s)
{
	for (size_t i = 0; i < s->nfuncs; i++) {
		const struct func *f = &s->funcs[i];
		raddr_t pc = f->range.start + random_word() % (range_size(f->range) + 1);
		struct signature signature;
		struct read_plan plan;

		if (signatures_at(from, f, pc, 0, 0x5555555554000, &signature))
			continue;
		reads_compile(&signature, &(struct compile_options){ .deep = 2 }, &plan);
		MUST_EQ(reads_check(&plan), 0);
		signature_clear(&signature);
	}
}

static void ask_lines(struct symbols *s, int fd)
{
	struct lineplaces places = { 0 };

	MUST_EQ(lineplaces_find(s, fd, "x.c", random_word() % 100, &places), 0);
	for (size_t i = 1; i < places.n; i++)
		MUST(places.v[i] > places.v[i - 1]);
	lineplaces_clear(&places);
}

/* All functions: how many are known. */
static size_t ask_all(struct symbols *s, int fd)
{
	struct signatures *from;
	size_t found = 0;

	MUST_EQ(signatures_open(s, fd, &from), 0);
	ask_places(from, s);
	ask_lines(s, fd);
	for (size_t i = 0; i < s->nfuncs; i++) {
		struct signature signature;
		struct read_plan plan;
		char line[256];

		if (signatures_get(from, &s->funcs[i], &signature))
			continue;
		reads_compile(&signature, &(struct compile_options){ .deep = 2 }, &plan);
		MUST_EQ(reads_check(&plan), 0);
		values_declaration(&signature, "f", line, sizeof(line));
		signature_clear(&signature);
		found++;
	}
	signatures_close(from);
	return found;
}

static size_t feed(struct bytes b)
{
	auto_close int fd = memfd_create("hostile", MFD_CLOEXEC);
	uint64_t start = now_ms();
	struct symbols *s;
	size_t found = 0;

	MUST(fd >= 0 && write(fd, b.p, b.n) == (ssize_t)b.n);
	if (!symbols_open(fd, "hostile", &s)) {
		found = ask_all(s, fd);
		symbols_close(s);
	}
	fail_clear();
	MUST(now_ms() - start < SLOWEST_MS);
	return found;
}

static Elf64_Shdr *debug_section(struct bytes b, size_t *i)
{
	const Elf64_Ehdr *eh = (const void *)b.p;
	Elf64_Shdr *sh = (Elf64_Shdr *)(b.p + eh->e_shoff);
	const char *names = (char *)b.p + sh[eh->e_shstrndx].sh_offset;

	for (; *i < eh->e_shnum; ++*i)
		if (!strncmp(names + sh[*i].sh_name, ".debug", 6) && sh[*i].sh_size)
			return &sh[(*i)++];
	return NULL;
}

static void flips_fed(const char *file, size_t (*fed)(struct bytes))
{
	struct bytes b = slurp(file), copy = { malloc(b.n), b.n };
	Elf64_Shdr *all[32], *sh;
	size_t n = 0, i = 1, found = 0;

	MUST(copy.p);
	while (n < ARRAY_SIZE(all) && (sh = debug_section(b, &i)))
		all[n++] = sh;
	MUST(n);
	for (int round = 0; round < ROUNDS; round++) {
		memcpy(copy.p, b.p, b.n);
		for (uint64_t k = 1 + random_word() % 12; k; k--) {
			uint64_t r = random_word();
			const Elf64_Shdr *in = all[r % n];
			uint8_t *at = copy.p + in->sh_offset + (r >> 8) % in->sh_size;

			*at = r & 0x80 ? (uint8_t)(r >> 40) : *at ^ (1u << (r >> 40) % 8);
		}
		found += fed(copy) > 0;
	}
	printf("%s: found in %zu of %d\n", file, found, ROUNDS);
	MUST(found > ROUNDS / 20);
	free(copy.p);
	free(b.p);
}

static void flips(const char *file)
{
	flips_fed(file, feed);
}

/* The program stays, and what it has split from it is damaged. */
static const char *beside;

static size_t feed_beside(struct bytes b)
{
	auto_close int fd = open(world_path("s"), O_RDONLY | O_CLOEXEC);
	auto_close int to = open(world_path(beside), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	struct symbols *s = world_symbols("s");
	uint64_t start = now_ms();

	MUST(fd >= 0 && to >= 0 && write(to, b.p, b.n) == (ssize_t)b.n);
	size_t found = ask_all(s, fd);

	symbols_close(s);
	fail_clear();
	MUST(now_ms() - start < SLOWEST_MS);
	return found;
}

static void split_flips(const char *compiler, const char *package)
{
	MUST_EQ(world_run("rm -rf away *.dwo *.dwp s && %s -gsplit-dwarf -c x.c && "
			  "%s -gsplit-dwarf -c y.c && %s -o s x.o y.o && cp x.dwo alone", compiler,
			  compiler, compiler), 0);
	beside = "x.dwo";
	flips_fed("alone", feed_beside);
	if (!package || !world_has(package))
		return;
	MUST_EQ(world_run("cp alone x.dwo && %s -e s -o packed && rm *.dwo", package), 0);
	beside = "s.dwp";
	flips_fed("packed", feed_beside);
}

static void truncates(const char *file)
{
	struct bytes b = slurp(file);

	for (size_t n = 0; n < b.n; n += STEP)
		feed((struct bytes){ b.p, n });
	/* The sections' table stays, and what it names ends early. */
	for (int round = 0; round < ROUNDS / 4; round++) {
		struct bytes copy = { malloc(b.n), b.n };
		size_t i = 1;

		MUST(copy.p);
		memcpy(copy.p, b.p, b.n);
		for (Elf64_Shdr *sh; (sh = debug_section(copy, &i)); )
			if (random_word() % 4 == 0)
				sh->sh_size = random_word() % sh->sh_size;
		feed(copy);
		free(copy.p);
	}
	free(b.p);
}

int main(void)
{
	static const char *const c[] = {
		"gcc -g -O0", "gcc -gdwarf-4 -O2", "gcc -gdwarf-5 -O2 -gz", "gcc -gdwarf-3 -O1",
		"gcc -gdwarf-4 -fdebug-types-section -O1", "gcc -g -Og -flto", "clang -g -O0",
		"clang -gdwarf-4 -O0",
	};
	static const char *const cxx[] = { "g++ -g -O0", "g++ -gdwarf-4 -O1", "clang++ -g -O0" };
	struct rusage usage;

	world_open();
	build();
	for (size_t i = 0; i < ARRAY_SIZE(c); i++)
		if (world_has(c[i][0] == 'g' ? "gcc" : "clang"))
			c_is_told(c[i]);
	for (size_t i = 0; i < ARRAY_SIZE(cxx); i++)
		if (world_has(cxx[i][0] == 'g' ? "g++" : "clang++"))
			cxx_is_told(cxx[i]);
	dwz_is_told();
	rust_is_told();
	go_is_told();
	split();
	MUST_EQ(world_run("gcc -gdwarf-4 -O2 -o old x.c && gcc -g -O1 -o new x.c"), 0);
	flips("old");
	flips("new");
	truncates("new");
	if (world_has("clang")) {
		MUST_EQ(world_run("clang -g -O2 -o other x.c"), 0);
		flips("other");
		split_flips("clang -gdwarf-5 -O2", "llvm-dwp");
	}
	split_flips("gcc -gdwarf-4 -O2", "dwp");
	if (build_variants())
		flips("v.so");
	getrusage(RUSAGE_SELF, &usage);
	MUST(usage.ru_maxrss < RSS_MAX_MB * 1024);
	return 0;
}
