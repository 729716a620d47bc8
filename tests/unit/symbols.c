/* SPDX-License-Identifier: MIT */
/* Are the functions of a file found: their names, ranges, kinds, fragments,
 * landing pads, and what points at them? */
#include <elf.h>
#include <errno.h>

#include "tests/unit/symbols_world.h"

/* ---- kinds of symbols ---------------------------------------------------- */

static const char kinds_source[] =
	"static int hidden(int a) { return a * 3; }\n"
	"int data[4] = { 1 }; _Thread_local int thread_data;\n"
	"int exported(int a) { return hidden(a) + data[a] + thread_data; }\n"
	"int weak_name(int) __attribute__((weak, alias(\"exported\")));\n"
	"int __under(int) __attribute__((alias(\"exported\")));\n"
	"static int one(void) { return 1; }\n"
	"static int (*choose(void))(void) { return one; }\n"
	"int chosen(void) __attribute__((ifunc(\"choose\")));\n"
	"__asm__(\".text\\n.globl by_hand\\nby_hand:\\n ret\\n\"\n"
	"	\".size by_hand, .-by_hand\\n\"\n"
	"	\".globl with_unwind\\nwith_unwind:\\n.cfi_startproc\\n nop\\n ret\\n\"\n"
	"	\".cfi_endproc\\n\"\n"
	"	\".globl a_label\\na_label: nop\\n\"\n"
	"	\".type sizeless,@function\\n.globl sizeless\\nsizeless: nop\\n ret\\n\"\n"
	"	\".globl after\\n.type after,@function\\nafter: ret\\n.size after,1\\n\");\n"
	"int missing(void) __attribute__((weak));\n"
	"int main(int n, char **v)\n"
	"{ (void)v; return hidden(n) + chosen() + (missing ? missing() : 0); }\n";

static void finds_kinds(void)
{
	struct symbols *s;
	const struct func *f;

	world_write("kinds.c", kinds_source);
	MUST_EQ(world_run("%s -O1 -fno-inline -o kinds kinds.c", world_cc), 0);
	s = world_symbols("kinds");
	world_check_invariants(s);
	MUST_STR(s->base, "kinds");
	MUST(s->is_dynamic && s->is_pie && s->build_id_len == 20);
	MUST_STR(s->interp, "/lib64/ld-linux-x86-64.so.2");

	f = world_func(s, "exported");
	MUST_STR(f->name, "exported");
	MUST_EQ(f->naliases, 2);
	MUST(world_find(s, "weak_name") == f && world_find(s, "__under") == f);
	MUST_EQ(f->source, FUNC_SYMTAB);
	MUST_EQ(f->flags, 0);
	MUST(world_func(s, "hidden")->range.end > 0);
	MUST(world_func(s, "chosen")->flags & FUNC_IFUNC);
	MUST_EQ(range_size(world_func(s, "by_hand")->range), 1);
	MUST(world_func(s, "by_hand")->flags & FUNC_NO_UNWIND);
	f = world_func(s, "with_unwind");
	MUST(f->flags & FUNC_NO_SIZE && !(f->flags & FUNC_NO_UNWIND));
	MUST_EQ(range_size(f->range), 2);
	f = world_func(s, "sizeless");
	MUST(f->flags & FUNC_NO_SIZE);
	MUST_EQ(range_size(f->range), 2);
	MUST_EQ(f->range.end, world_func(s, "after")->range.start);
	MUST(symbols_func_at(s, f->range.start + 1) == f);
	MUST(!world_find(s, "data") && !world_find(s, "thread_data"));
	MUST(!world_find(s, "missing") && !world_find(s, "a_label"));
	MUST(!symbols_func_at(s, 0));
	symbols_close(s);
}

/* What a section's end is marked by is no function, though code of another follows. */
static void ends_with_sections(void)
{
	struct symbols *s;

	world_write("ends.c",
		"__asm__(\".section .text.first,\\\"ax\\\"\\n.type last,@function\\nlast: ret\\n\"\n"
		"	\".type the_end,@function\\nthe_end:\\n\"\n"
		"	\".section .text.second,\\\"ax\\\"\\n.type next,@function\\n nop\\nnext: ret\\n\");\n");
	world_write("ends.ld", "SECTIONS { . = 0x1000; .text.first : { *(.text.first) } "
		    ".text.second : SUBALIGN(1) { *(.text.second) } }\n");
	MUST_EQ(world_run("%s -shared -nostdlib -fcf-protection=none -o ends.so ends.c "
			   "-Wl,-T,ends.ld 2>ld.err", world_cc), 0);
	s = world_symbols("ends.so");
	world_check_invariants(s);
	MUST_EQ(range_size(world_func(s, "last")->range), 1);
	MUST_EQ(world_func(s, "next")->range.start, world_func(s, "last")->range.end + 1);
	MUST(!world_find(s, "the_end"));
	symbols_close(s);
}

static void cuts_versions(void)
{
	struct symbols *s;
	raddr_t addr, old;

	world_write("v.c",
		"int old_f(void) { return 1; } int new_f(void) { return 2; }\n"
		"__asm__(\".symver old_f, f@V1\"); __asm__(\".symver new_f, f@@V2\");\n");
	world_write("v.map", "V1 { global: f; }; V2 { } V1;\n");
	MUST_EQ(world_run("%s -shared -fPIC -o libv.so v.c -Wl,--version-script,v.map",
			   world_cc), 0);
	s = world_symbols("libv.so");
	MUST(world_func(s, "f"));
	MUST_EQ(symbols_dynamic(s, "f", &addr), 0);
	MUST_EQ(addr, world_func(s, "new_f")->range.start);
	old = world_func(s, "old_f")->range.start;
	MUST(old != addr);
	MUST_EQ(symbols_dynamic(s, "nothing", &addr), -ENOENT);
	for (size_t i = 0; i < s->nfuncs; i++)
		MUST(!strchr(s->funcs[i].raw, '@'));
	symbols_close(s);
}

/* ---- fragments ----------------------------------------------------------- */

static const char cold_source[] =
	"#include <stdlib.h>\n"
	"extern void complain(int) __attribute__((cold));\n"
	"static __attribute__((noinline)) int twin(int a)\n"
	"{ if (a > 4) { complain(a); complain(a + 1); abort(); } return a * %d; }\n"
	"int user%d(int a) { return twin(a) + 1; }\n";

/* The halves of both twins in `file`, which have this suffix. */
static void check_halves(const char *file, const char *suffix)
{
	struct symbols *s = world_symbols(file);
	size_t adopted = 0;

	world_check_invariants(s);
	for (size_t i = 0; i < s->nfuncs; i++) {
		const struct func *f = &s->funcs[i], *parent;

		if (!strstr(f->raw, suffix))
			continue;
		MUST(f->flags & FUNC_FRAGMENT && f->parent >= 0);
		parent = &s->funcs[f->parent];
		MUST(!strncmp(f->raw, parent->raw, strlen(parent->raw)));
		MUST(!(parent->flags & FUNC_FRAGMENT));
		/* The twin of the same file: both halves of the first file's
		 * come before those of the second's. */
		adopted++;
		for (size_t k = 0; k < i; k++)
			MUST(s->funcs[k].parent < f->parent);
	}
	MUST_EQ(adopted, 2);
	symbols_close(s);
}

static void adopts_cold(void)
{
	char text[1024];
	struct symbols *s;
	size_t adopted = 0;

	if (!world_has("gcc")) {	/* no other compiler splits them so */
		printf("not tested: cold halves (no gcc)\n");
		return;
	}
	for (int i = 1; i <= 2; i++) {
		snprintf(text, sizeof(text), cold_source, i + 2, i);
		world_write(i == 1 ? "cold1.c" : "cold2.c", text);
	}
	world_write("cold3.c", "void complain(int a) { (void)a; }\n"
		    "int user1(int), user2(int);\n"
		    "int main(int n, char **v)\n"
		    "{ (void)v; return user1(n) + user2(n); }\n");
	MUST_EQ(world_run("gcc -O2 -o cold cold1.c cold2.c cold3.c"), 0);
	check_halves("cold", ".cold");
	MUST_EQ(world_run("objcopy --redefine-sym twin.cold=twin.warm cold warm"), 0);
	check_halves("warm", ".warm");

	/* Without names, the same two are known by their unwind entries, to be pieces or
	 * like pieces. */
	MUST_EQ(world_run("strip -o cold.stripped cold"), 0);
	s = world_symbols("cold.stripped");
	for (size_t i = 0; i < s->nfuncs; i++)
		adopted += (s->funcs[i].flags & (FUNC_FRAGMENT | FUNC_PACKED)) != 0;
	MUST_EQ(adopted, 2);
	symbols_close(s);
}

/* Functions of words: where each begins if only the first word of an aligned place is taken, and
 * then pieces, which begin anywhere, some in the middle of a frame. */
enum { WORDS_WHOLE = 240, WORDS = 280, WORDS_NEAR = 16 };

static void write_words(const char *file)
{
	FILE *f = fopen(world_path(file), "w");

	MUST(f);
	fprintf(f, ".text\n");
	for (int i = 0; i < WORDS; i++) {
		fprintf(f, ".p2align %s\n.cfi_startproc\n", i < WORDS_WHOLE ? "4,0x90,11" : "2");
		if (i >= WORDS_WHOLE && i % 4 == 0)
			fprintf(f, ".cfi_def_cfa_offset 32\n");
		int size = i >= WORDS_WHOLE ? 4 * (1 + i * 7 % 11) : i % 8 == 3 ? 20 : 32;

		fprintf(f, ".fill %d,1,0x90\nret\n.cfi_endproc\n", size - (i % 8 == 4 ? 5 : 1));
	}
	fprintf(f, ".section .note.GNU-stack,\"\",@progbits\n");
	fclose(f);
}

static void finds_unaligned(void)
{
	size_t unaligned = 0, packed = 0, others = 0, i;
	struct symbols *s;

	write_words("words.s");
	if (world_run("%s -shared -nostdlib -s -o words words.s 2>/dev/null", world_cc)) {
		printf("not tested: functions of words (no assembler of x86-64)\n");
		return;
	}
	s = world_symbols("words");
	MUST_EQ(s->nfuncs, WORDS);
	for (i = WORDS_NEAR; i < WORDS_WHOLE - WORDS_NEAR; i++) {
		unaligned += s->funcs[i].range.start % 16 != 0;
		packed += (s->funcs[i].flags & (FUNC_FRAGMENT | FUNC_PACKED)) != 0;
	}
	for (i = WORDS_WHOLE; i < WORDS; i++)
		others += s->funcs[i].range.start % 16 &&
			!(s->funcs[i].flags & (FUNC_FRAGMENT | FUNC_PACKED));
	MUST(unaligned > 5);
	MUST_EQ(packed, 0);
	MUST_EQ(others, 0);
	symbols_close(s);
}

/* Every function of the named file must be known in the stripped one. */
static void check_stripped(const char *file, unsigned int least)
{
	struct symbols *named = world_symbols(file), *bare;
	unsigned int found = 0;

	MUST_EQ(world_run("strip -o bare %s", file), 0);
	bare = world_symbols("bare");
	world_check_invariants(bare);
	for (size_t i = 0; i < named->nfuncs; i++) {
		const struct func *f = &named->funcs[i], *g;
		char name[32];

		if (f->flags & (FUNC_NO_UNWIND | FUNC_FRAGMENT))
			continue;
		g = symbols_func_at(bare, f->range.start);
		MUST(g && g->range.start == f->range.start);
		MUST(!(g->flags & FUNC_FRAGMENT));
		MUST_EQ(g->range.end, f->range.end);
		snprintf(name, sizeof(name), "fn_%llx",
			 (unsigned long long)f->range.start);
		if (g->source == FUNC_EH_FRAME)
			MUST_STR(g->name, name);
		found++;
	}
	MUST(found >= least);
	symbols_close(named);
	symbols_close(bare);
}

static void finds_nameless(void)
{
	const char *source =
		"#include <stdio.h>\n"
		"__attribute__((noinline)) int f1(int a) { printf(\"%d\", a); return a + 1; }\n"
		"__attribute__((noinline)) int f2(int a) { puts(\"x\"); return f1(a) + 2; }\n"
		"__attribute__((noinline)) int f3(int a) { puts(\"y\"); return f2(a) + 3; }\n"
		"__attribute__((noinline)) int f4(int a) { puts(\"z\"); return f3(a) + 4; }\n"
		"int main(int n, char **v) { (void)v; return f4(n); }\n";

	world_write("many.c", source);
	MUST_EQ(world_run("%s -O2 -o many.o2 many.c", world_cc), 0);
	check_stripped("many.o2", 5);
	/* Small code starts at odd addresses. */
	MUST_EQ(world_run("%s -Os -o many.os many.c", world_cc), 0);
	check_stripped("many.os", 5);
	MUST_EQ(world_run("%s -O2 -static -no-pie -o many.static many.c", world_cc), 0);
	struct symbols *s = world_symbols("many.static");
	world_check_invariants(s);
	MUST(!s->is_dynamic && !s->is_pie && !s->interp && s->nfuncs > 500);
	symbols_close(s);
}

/* ---- C++ and Rust -------------------------------------------------------- */

static const char cxx_source[] =
	"#include <stdexcept>\n#include <string>\n"
	"namespace net {\n"
	"struct Guard { int *p; ~Guard(); };\n"
	"Guard::~Guard() { ++*p; }\n"
	"__attribute__((noinline)) int may_throw(int a)\n"
	"{ if (a == 7) throw std::runtime_error(\"seven\"); return a; }\n"
	"__attribute__((noinline)) int catches(int a)\n"
	"{ try { return may_throw(a); } catch (const std::exception &) { return -1; } }\n"
	"__attribute__((noinline)) int cleans(int a, int *p)\n"
	"{ Guard g{p}; return may_throw(a); }\n"
	"__attribute__((noinline)) int plain(int a) noexcept { return a + 2; }\n"
	"template <class T> __attribute__((noinline)) T twice(T a) { return a + a; }\n"
	"__attribute__((noinline)) int over(int a) { return a + 3; }\n"
	"__attribute__((noinline)) int over(const std::string &s) { return s.size(); }\n"
	"}\n"
	"int main(int n, char **v)\n"
	"{ int x = 0; return net::catches(n) + net::cleans(n, &x) + net::plain(n) +\n"
	"  net::twice(n) + net::over(n) + net::over(std::string(v[0])); }\n";

static void reads_cxx(void)
{
	const struct func *f;
	struct symbols *s;

	world_write("x.cc", cxx_source);
	if (!world_has("g++") || world_run("g++ -O2 -o x x.cc")) {
		printf("not tested: C++ (no g++)\n");
		return;
	}
	s = world_symbols("x");
	world_check_invariants(s);
	f = world_func(s, "_ZN3net7catchesEi");
	MUST_STR(f->name, "net::catches");
	MUST_STR(f->full, "net::catches(int)");
	f = world_func(s, "_ZN3net6cleansEiPi");
	MUST(f->flags & FUNC_LSDA);
	MUST_STR(f->full, "net::cleans(int, int*)");
	f = world_func(s, "_ZN3net5twiceIiEET_S1_");
	MUST_STR(f->name, "net::twice<int>");
	MUST_STR(f->full, "int net::twice<int>(int)");
	MUST(!(world_func(s, "_ZN3net5plainEi")->flags & FUNC_LSDA));
	MUST_STR(world_func(s, "_ZN3net5GuardD1Ev")->name, "net::Guard::~Guard");
	symbols_close(s);

	/* Landing pads in one piece with their function. */
	MUST_EQ(world_run("g++ -O1 -fno-reorder-blocks-and-partition -o x1 x.cc"), 0);
	s = world_symbols("x1");
	f = world_func(s, "_ZN3net7catchesEi");
	MUST(f->flags & FUNC_LSDA);
	MUST_EQ(world_pointers_in(s, f->range), 1);
	f = world_func(s, "_ZN3net6cleansEiPi");
	MUST_EQ(world_pointers_in(s, f->range), 1);
	symbols_close(s);
}

static void reads_rust(void)
{
	static const char *const schemes[] = { "legacy", "v0" };

	world_write("r.rs",
		"mod inner { #[inline(never)] pub fn deep(a: usize) -> usize { a * 3 } }\n"
		"struct S; impl S { #[inline(never)] fn meth(&self, a: usize) -> usize "
		"{ inner::deep(a) + 1 } }\n"
		"fn main() { println!(\"{}\", S.meth(std::env::args().count())); }\n");
	for (size_t i = 0; i < ARRAY_SIZE(schemes); i++) {
		struct symbols *s;
		bool deep = false, meth = false;

		if (!world_has("rustc") ||
		    world_run("RUSTC_BOOTSTRAP=1 rustc --edition 2021 "
			      "-C symbol-mangling-version=%s %s "
			      "-o rs r.rs 2>rustc.log", schemes[i],
			      i ? "" : "-Z unstable-options")) {
			printf("not tested: Rust, %s (rustc refuses)\n", schemes[i]);
			continue;
		}
		s = world_symbols("rs");
		world_check_invariants(s);
		for (size_t k = 0; k < s->nfuncs; k++) {
			deep |= !strcmp(s->funcs[k].name, "r::inner::deep");
			meth |= strstr(s->funcs[k].name, "S>::meth") != NULL ||
				!strcmp(s->funcs[k].name, "r::S::meth");
		}
		MUST(deep && meth);
		symbols_close(s);
	}
}

/* ---- pointers ------------------------------------------------------------ */

static const char switch_source[] =
	"#include <stdlib.h>\n"
	"#define C(n) case n: abort(); puts(\"\" #n);\n"
	"extern int puts(const char *);\n"
	"int pick(int a, int b) { switch (a) {\n"
	"case 0: return b * 3; case 1: return puts(\"1\"); case 2: return b << a;\n"
	"case 3: return puts(\"3\") + b; case 4: return b ^ 77; case 5: abort();\n"
	"case 6: return puts(\"6\") * b; case 7: return puts(\"7\") - b; }\n"
	"return 0; }\n"
	"static int g1(int a) { return a + 1; }\n"
	"static int g2(int a) { return a + 2; }\n"
	"int (*table[])(int) = { g1, g2 };\n"
	"int main(int n, char **v) { return pick(n, *v[0]) + table[n & 1](n); }\n";

static void check_table(const char *options, size_t in_pick)
{
	struct symbols *s;

	if (world_run("%s -O2 -fno-inline %s -o sw sw.c 2>sw.log", world_cc,
		      options)) {
		printf("not tested: pointers with %s (the linker refuses)\n",
		       options);
		return;
	}
	s = world_symbols("sw");
	world_check_invariants(s);
	MUST_EQ(world_pointers_in(s, world_func(s, "g1")->range), 1);
	MUST_EQ(world_pointers_in(s, world_func(s, "g2")->range), 1);
	MUST(world_pointers_in(s, world_func(s, "_start")->range) == 1);
	MUST(world_pointers_in(s, world_func(s, "pick")->range) >= in_pick);
	symbols_close(s);
}

static void finds_pointers(void)
{
	world_write("sw.c", switch_source);
	check_table("-fPIE -pie", 0);
	check_table("-no-pie -fno-pie", 6);
	check_table("-no-pie -fno-pie -static", 6);
	check_table("-fPIE -pie -Wl,-z,pack-relative-relocs", 0);
}

/* ---- files that lack something ------------------------------------------- */

static void patch_file(const char *from, const char *to, size_t at,
		       const void *bytes, size_t n)
{
	MUST_EQ(world_run("cp %s %s", from, to), 0);
	auto_close int fd = open(world_path(to), O_WRONLY);

	MUST(pwrite(fd, bytes, n, at) == (ssize_t)n);
}

static void works_without_sections(void)
{
	static const uint8_t zeros[8];
	struct symbols *s, *whole;
	raddr_t addr;

	MUST_EQ(world_run("%s -O2 -shared -fPIC -o libsw.so sw.c", world_cc), 0);
	MUST_EQ(world_run("strip libsw.so"), 0);
	patch_file("libsw.so", "bare.so", offsetof(Elf64_Ehdr, e_shoff), zeros, 8);
	patch_file("bare.so", "barer.so", offsetof(Elf64_Ehdr, e_shnum), zeros, 2);
	whole = world_symbols("libsw.so");
	s = world_symbols("barer.so");
	world_check_invariants(s);
	MUST_EQ(symbols_dynamic(s, "pick", &addr), 0);
	MUST_EQ(world_func(s, "pick")->range.start, addr);
	MUST_EQ(world_func(s, "pick")->range.end,
		 world_func(whole, "pick")->range.end);
	MUST_EQ(s->npointers, whole->npointers);
	MUST(s->nfuncs >= whole->nfuncs);
	symbols_close(s);
	symbols_close(whole);
}

static void refuses_what_is_no_elf(void)
{
	struct symbols *s;
	uint8_t class32 = ELFCLASS32, big = ELFDATA2MSB;
	uint16_t arm = EM_AARCH64;
	int64_t offset;

	world_write("text", "#!/bin/sh\n");
	MUST_EQ(world_try(world_path("text"), &s), -ENOEXEC);
	fail_clear();
	world_write("empty", "");
	MUST_EQ(world_try(world_path("empty"), &s), -ENOEXEC);
	fail_clear();
	MUST_EQ(world_try(world_dir, &s), -ENOEXEC);
	fail_clear();
	patch_file("sw", "sw32", EI_CLASS, &class32, 1);
	MUST_EQ(world_try(world_path("sw32"), &s), -ENOEXEC);
	MUST(strstr(fail_text(), "32-bit"));
	fail_clear();
	patch_file("sw", "swbig", EI_DATA, &big, 1);
	MUST_EQ(world_try(world_path("swbig"), &s), -ENOEXEC);
	fail_clear();
	/* Another machine is fine; only its stack pointer has another number. */
	patch_file("sw", "swarm", offsetof(Elf64_Ehdr, e_machine), &arm, 2);
	s = world_symbols("swarm");
	MUST_EQ(s->machine, EM_AARCH64);
	MUST_EQ(symbols_cfa_offset(s, world_func(s, "pick")->range.start,
				    &offset), -ENOTSUP);
	symbols_close(s);
}

static void reads_bytes(void)
{
	struct symbols *s = world_symbols("sw");
	const struct func *f = world_func(s, "pick");
	uint8_t bytes[16], magic[4];
	size_t n;
	const uint8_t *text = symbols_text(s, f->range.start, &n);

	MUST(text && n >= sizeof(bytes));
	MUST_EQ(symbols_read(s, f->range.start, bytes, sizeof(bytes)), 0);
	MUST(!memcmp(text, bytes, sizeof(bytes)));
	MUST_EQ(symbols_read(s, s->is_pie ? 0 : 0x400000, magic, 4), 0);
	MUST(!memcmp(magic, ELFMAG, 4));
	MUST_EQ(symbols_read(s, UINT64_MAX - 2, magic, 4), -EFAULT);
	MUST_EQ(symbols_read(s, f->range.start, bytes, 0), 0);
	symbols_close(s);
}

/* ---- what others lead to --------------------------------------------------- */

static const char led_source[] =
	"int first(int a) { return a + 1; }\n"
	"int second(int a) { return a + 2; }\n"
	"int data[4] = { 1 };\n";

static const char leads_source[] =
	"extern int first(int), second(int), missing(int), data[];\n"
	"const void *const words[] = { (char *)first + 3, (char *)first + 3, first,\n"
	"	(char *)second - 1, (char *)missing + 2, data + 1 };\n";

static struct outwards *outwards_of(const char *name)
{
	auto_close int fd = open(world_path(name), O_RDONLY | O_CLOEXEC);
	struct outwards *ret = NULL;

	MUST(fd >= 0);
	MUST_EQ(symbols_outwards(fd, name, &ret), 0);
	return ret;
}

static bool is_among(const raddr_t *v, size_t n, raddr_t a)
{
	for (size_t i = 0; i < n; i++)
		if (v[i] == a)
			return true;
	return false;
}

static void finds_what_others_lead_to(void)
{
	raddr_t *v = NULL;
	size_t n = 0, cap = 0;

	world_write("led.c", led_source);
	world_write("leads.c", leads_source);
	MUST_EQ(world_run("%s -O1 -shared -fPIC -o led led.c", world_cc), 0);
	MUST_EQ(world_run("%s -O1 -shared -fPIC -o leads leads.c", world_cc), 0);
	struct symbols *s = world_symbols("led");
	struct outwards *o = outwards_of("leads"), *none = outwards_of("led");

	MUST_EQ(symbols_led_to(s, none, &v, &n, &cap), 0);
	MUST_EQ(n, 0);
	MUST_EQ(symbols_led_to(s, o, &v, &n, &cap), 0);
	MUST_EQ(n, 2);
	MUST(is_among(v, n, world_func(s, "first")->range.start + 3));
	MUST(is_among(v, n, world_func(s, "second")->range.start - 1));
	free(v);
	outwards_free(o);
	outwards_free(none);
	outwards_free(NULL);
	symbols_close(s);
}

int main(void)
{
	world_open();
	finds_what_others_lead_to();
	finds_kinds();
	ends_with_sections();
	cuts_versions();
	adopts_cold();
	finds_unaligned();
	finds_nameless();
	reads_cxx();
	reads_rust();
	finds_pointers();
	works_without_sections();
	refuses_what_is_no_elf();
	reads_bytes();
	return 0;
}
