/* SPDX-License-Identifier: MIT */
/*
 * Which code is Go's, as each version of its table tells it; and if the table tells
 * nothing, or lies: all of the file. What the functions of a stripped file are, by
 * that table, and that no lie of it is believed.
 */
#include <elf.h>
#include "tests/unit/symbols_world.h"

/* c_before, go_first, go_last and c_behind, and a table made of `words`. */
static struct symbols *made(const char *name, const char *section, const char *words)
{
	char text[4096];
	int n = snprintf(text, sizeof(text),
		".text\n.globl c_before, go_first, go_last, c_behind\n"
		".balign 16\nc_before: .fill 16, 1, 0x90\n"
		"go_first: .fill 16, 1, 0x90\ngo_last: .fill 16, 1, 0x90\ngo_end:\n"
		"c_behind: .fill 16, 1, 0x90\n"
		".type c_before,@function\n.size c_before, 16\n"
		".type go_first,@function\n.size go_first, 16\n"
		".type go_last,@function\n.size go_last, 16\n"
		".type c_behind,@function\n.size c_behind, 16\n"
		".section %s,\"%s\",@progbits\n.balign 32\ntable:\n%s\n", section,
		strncmp(section, ".data", 5) ? "a" : "aw", words);

	MUST(n > 0 && n < (int)sizeof(text));
	world_write("go.s", text);
	MUST_EQ(world_run("%s -nostdlib -no-pie -Wl,-e,c_before -o %s go.s", world_cc, name), 0);
	return world_symbols(name);
}

static bool is_go(const struct symbols *s, const char *func)
{
	return range_overlaps(s->go, world_func(s, func)->range);
}

/* 2 of 4, or all of them. */
static void expect(const char *name, const char *section, const char *words, bool all)
{
	struct symbols *s = made(name, section, words);

	MUST_EQ(is_go(s, "go_first") && is_go(s, "go_last"), true);
	MUST_EQ(is_go(s, "c_before"), all);
	MUST_EQ(is_go(s, "c_behind"), all);
	symbols_close(s);
}

#define HEAD(magic) ".long " magic "\n.byte 0, 0, 1, 8\n"
/* Words 1 to 8: the functions' number, the text at 3, their offset at 7 or 8. */
#define NEW(magic, n, text) HEAD(magic) ".quad " n ", 0, " text ", 0, 0, 0, 0, funcs - table\n"
#define MARK ".section .note.go.buildid,\"a\",@note\n.long 4, 0, 4, 0x6f47\n"
#define PAIRS "funcs: .long 0, 0, go_last - go_first, 0, go_end - go_first\n"
#define WORDS ".quad go_first, 0, go_last, 0, go_end\n"

static void test_versions(void)
{
	expect("go1.2", ".gopclntab", HEAD("0xfffffffb") ".quad 2\n" WORDS, false);
	expect("go1.16", ".gopclntab",
	       HEAD("0xfffffffa") ".quad 2, 0, 0, 0, 0, 0, funcs - table\nfuncs:" WORDS, false);
	expect("go1.18", ".gopclntab", NEW("0xfffffff0", "2", "go_first") PAIRS, false);
	expect("go1.20", ".gopclntab", NEW("0xfffffff1", "2", "go_first") PAIRS, false);
	/* Merged with other data, as a linker does that knows no such section. */
	expect("merged", ".data.rel.ro.gopclntab", NEW("0xfffffff1", "2", "go_first") PAIRS
	       MARK, false);
}

static void test_unclear(void)
{
	expect("unknown", ".gopclntab", NEW("0xffffffe0", "2", "go_first") PAIRS, true);
	expect("no_text", ".gopclntab", NEW("0xfffffff1", "2", "0") PAIRS, true);
	expect("elsewhere", ".gopclntab", NEW("0xfffffff1", "2", "table") PAIRS, true);
	expect("too_many", ".gopclntab", NEW("0xfffffff1", "-1", "go_first") PAIRS, true);
	expect("beyond", ".gopclntab", NEW("0xfffffff1", "1 << 20", "go_first") PAIRS, true);
	expect("short", ".gopclntab", ".byte 0xf1", true);
	expect("no_table", ".rodata", ".long 0\n" MARK, true);
}

/* No section has a name: the table is found by its looks. */
static void test_nameless(void)
{
	struct symbols *s = made("named", ".gopclntab", NEW("0xfffffff1", "2", "go_first") PAIRS);
	struct range go = s->go;
	Elf64_Ehdr header;
	int fd = open(world_path("named"), O_RDWR | O_CLOEXEC);

	symbols_close(s);
	MUST(pread(fd, &header, sizeof(header), 0) == sizeof(header));
	header.e_shoff = 0;
	header.e_shnum = header.e_shstrndx = 0;
	MUST(pwrite(fd, &header, sizeof(header), 0) == sizeof(header));
	close(fd);
	s = world_symbols("named");
	MUST_EQ(s->go.start, go.start);
	MUST_EQ(s->go.end, go.end);
	symbols_close(s);
}

static void test_none(void)
{
	struct symbols *s = made("none", ".rodata", NEW("0xfffffff1", "2", "go_first") PAIRS);

	MUST_EQ(range_size(s->go), 0);
	symbols_close(s);
}

/* Descriptions of two functions, with as much of `begin` each, and their names. */
#define DESCRIBED(size, first, last) \
	"first: " size " " first "\n.long name_first - names\n" \
	"last: " size " " last "\n.long name_last - names\n"
#define NAMES "names: .asciz \"\"\nname_first: .asciz \"main.first\"\n" \
	"name_last: .asciz \"main.(*T).last[go.shape.int]\"\n"
/* The same words as NEW, PAIRS and WORDS, with what there is to tell of each. */
#define NEW_NAMED(n, text, names) HEAD("0xfffffff1") \
	".quad " n ", 0, " text ", " names ", 0, 0, 0, funcs - table\n"
#define PAIRS_NAMED "funcs: .long 0, first - funcs, go_last - go_first, last - funcs, " \
	"go_end - go_first\n" DESCRIBED(".long", "0", "go_last - go_first")
#define WORDS_NAMED(base) ".quad go_first, first - " base ", go_last, last - " base \
	", go_end\n" DESCRIBED(".quad", "go_first", "go_last")
#define GO_1_20(text) NEW_NAMED("2", text, "names - table") PAIRS_NAMED NAMES
/* As much of a struct moduledata as says where the text is. */
#define MODULE(text) ".section .go.module,\"aw\"\n.balign 8\n" \
	".quad table, 0, table, names\n.fill 20, 8, 0\n.quad " text "\n"

static struct symbols *stripped(const char *name, const char *words)
{
	symbols_close(made(name, ".gopclntab", words));
	MUST_EQ(world_run("strip -o stripped %s", name), 0);
	return world_symbols("stripped");
}

static void check_names(struct symbols *s)
{
	const struct func *first = symbols_func_at(s, s->go.start);
	const struct func *last = symbols_func_at(s, s->go.end - 1);

	MUST_EQ(range_size(s->go), 32);
	MUST_STR(first->name, "main.first");
	MUST_EQ(first->range.start, s->go.start);
	MUST_EQ(range_size(first->range), 16);
	MUST_EQ(first->source, FUNC_GO);
	MUST_STR(last->name, "main.(*T).last[go.shape.int]");
	MUST_EQ(range_size(last->range), 16);
	symbols_close(s);
}

static void test_names(void)
{
	struct symbols *s;

	check_names(stripped("go1.2", HEAD("0xfffffffb") ".quad 2\n" WORDS_NAMED("table")
			     ".set names, table\nname_first: .asciz \"main.first\"\n"
			     "name_last: .asciz \"main.(*T).last[go.shape.int]\"\n"));
	check_names(stripped("go1.16", HEAD("0xfffffffa")
			     ".quad 2, 0, names - table, 0, 0, 0, funcs - table\nfuncs: "
			     WORDS_NAMED("funcs") NAMES));
	check_names(stripped("go1.20", GO_1_20("go_first")));
	check_names(stripped("go1.26", GO_1_20("0") MODULE("go_first")));
	/* A symbol's name is what linkers and debuggers know it by. */
	s = made("named", ".gopclntab", GO_1_20("go_first"));
	MUST_STR(symbols_func_at(s, s->go.start)->name, "go_first");
	symbols_close(s);
}

/* The loader fills in the text's address, in the table or in the module. */
static void test_relocated(void)
{
	static const char *const words[] = { GO_1_20("go_first") MARK,
					     GO_1_20("0") MODULE("go_first") MARK };

	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		symbols_close(made("plain", ".data.rel.ro.gopclntab", words[i]));
		MUST_EQ(world_run("%s -nostdlib -pie -Wl,-e,c_before -s -o pie go.s", world_cc), 0);
		check_names(world_symbols("pie"));
	}
}

/* No function but what the table tells truly. */
static void expect_none(const char *what, const char *words)
{
	struct symbols *s = stripped(what, words);

	for (size_t i = 0; i < s->nfuncs; i++)
		if (s->funcs[i].source == FUNC_GO)
			MUST_STR(what, "believed");
	symbols_close(s);
}

static void test_lies(void)
{
	expect_none("nameless", NEW_NAMED("2", "go_first", "names - table")
		    PAIRS_NAMED "names: .fill 64, 1, 0\n.set name_first, names\n"
		    ".set name_last, names\n");
	expect_none("far_names", NEW_NAMED("2", "go_first", "1 << 60") PAIRS_NAMED NAMES);
	expect_none("far_description", NEW_NAMED("2", "go_first", "names - table")
		    "funcs: .long 0, -1, go_last - go_first, -1, go_end - go_first\n" NAMES);
	/* Backwards, and beyond the last. */
	expect_none("disorder", NEW_NAMED("3", "go_first", "names - table")
		    "funcs: .long 0, first - funcs, -1, first - funcs, go_end - go_first, "
		    "first - funcs, go_end - go_first\n" DESCRIBED(".long", "0", "0") NAMES);
	expect_none("no_module", GO_1_20("0"));
	expect_none("other_module", GO_1_20("0") ".section .go.module,\"aw\"\n"
		    ".quad table, table\n.fill 20, 8, 0\n.quad go_first\n");
}

/* A description to its end, and what it says of its tables; names and tables are
 * where `names` and three words on say. */
#define TABLES_1_20(flag, more) HEAD("0xfffffff1") \
	".quad 2, 0, go_first, names - table, 0, 0, tables - table, funcs - table\n" \
	"funcs: .long 0, first - funcs, go_last - go_first, last - funcs, " \
	"go_end - go_first\n" \
	"first: .long 0, name_first - names, 0, 0, 0, 0, 0, 1, 0, 0\n" \
	".byte 0, " flag ", 0, " more "\n" \
	"last: .long go_last - go_first, name_last - names, 0, 0, 0, 0, 0, 0, 0, 0\n" \
	".byte 0, 0, 0, 2\n.long 0, 0\n" NAMES "tables: .byte 0\n"
/* -1 up to byte 4, -2 up to 10, and -1 again. */
#define BY_ADDRESS "unsafe: .byte 0, 4, 1, 6, 2, 6, 0\n"

/* How much of the first function is unsafe, from where on? */
static void expect_unsafe(const char *words, uint64_t from, uint64_t size)
{
	struct symbols *s = made("unsafe", ".gopclntab", words);

	MUST_EQ(s->nunsafe, size ? 1 : 0);
	if (s->nunsafe) {
		MUST_EQ(s->unsafe[0].start - s->go.start, from);
		MUST_EQ(range_size(s->unsafe[0]), size);
	}
	symbols_close(s);
}

static void test_unsafe(void)
{
	expect_unsafe(TABLES_1_20("0", "2\n.long unsafe - tables, 0, 0") BY_ADDRESS, 4, 6);
	/* Assembly; no table of pointers, or none at its place; no table by address. */
	expect_unsafe(TABLES_1_20("4", "2\n.long unsafe - tables, 0, 0") BY_ADDRESS, 0, 16);
	expect_unsafe(TABLES_1_20("0", "1\n.long unsafe - tables, 0") BY_ADDRESS, 0, 16);
	expect_unsafe(TABLES_1_20("0", "2\n.long unsafe - tables, 0, -1") BY_ADDRESS, 0, 16);
	expect_unsafe(TABLES_1_20("0", "2\n.long 0, 0, 0") BY_ADDRESS, 0, 0);
	/* It goes on beyond the function, without end, or beyond the file. */
	expect_unsafe(TABLES_1_20("0", "2\n.long unsafe - tables, 0, 0")
		      "unsafe: .byte 0, 4, 1, 0xff, 0xff, 0xff, 0xff, 0x0f\n", 4, 12);
	expect_unsafe(TABLES_1_20("0", "2\n.long unsafe - tables, 0, 0")
		      "unsafe: .byte 1, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff\n", 0, 0);
	expect_unsafe(TABLES_1_20("0", "2\n.long -1, 0, 0") BY_ADDRESS, 0, 0);
	/* Of another place than the table says that it is. */
	expect_unsafe(HEAD("0xfffffff1")
		".quad 2, 0, go_first, names - table, 0, 0, tables - table, funcs - table\n"
		"funcs: .long 0, first - funcs, go_last - go_first, first - funcs, "
		"go_end - go_first\nfirst: .long 1, 0, 0, 0, 0, 0, 0, 0, 0, 0\n.byte 0, 4, 0, 0\n"
		NAMES "tables: .byte 0\n", 0, 0);
}

/* Each of many functions has the name of nearly the whole file: not all are kept. */
static void test_enormous(void)
{
	struct symbols *s = stripped("enormous", NEW_NAMED("32", "go_first", "names - table")
		"funcs: .set i, 0\n.rept 32\n.long i, first - funcs\n.set i, i + 1\n.endr\n"
		".long 32\nfirst: .long 0, name_first - names\n"
		"names: .byte 0\nname_first: .fill 100000, 1, 'x'\n.byte 0\n");
	size_t n = 0;

	for (size_t i = 0; i < s->nfuncs; i++)
		n += s->funcs[i].source == FUNC_GO;
	MUST(n > 0 && n < 8);
	symbols_close(s);
}

int main(void)
{
	world_open();
	test_versions();
	test_unclear();
	test_nameless();
	test_none();
	test_names();
	test_relocated();
	test_lies();
	test_unsafe();
	test_enormous();
	return 0;
}
