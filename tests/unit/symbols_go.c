/* SPDX-License-Identifier: MIT */
/*
 * Which code is Go's, as each version of its table tells it; and if the table tells
 * nothing, or lies: all of the file.
 */
#include <elf.h>
#include "tests/unit/symbols_world.h"

/* c_before, go_first, go_last and c_behind, and a table made of `words`. */
static struct symbols *made(const char *name, const char *section, const char *words)
{
	char text[2048];
	int n = snprintf(text, sizeof(text),
		".text\n.globl c_before, go_first, go_last, c_behind\n"
		".balign 16\nc_before: .fill 16, 1, 0x90\n"
		"go_first: .fill 16, 1, 0x90\ngo_last: .fill 16, 1, 0x90\ngo_end:\n"
		"c_behind: .fill 16, 1, 0x90\n"
		".type c_before,@function\n.size c_before, 16\n"
		".type go_first,@function\n.size go_first, 16\n"
		".type go_last,@function\n.size go_last, 16\n"
		".type c_behind,@function\n.size c_behind, 16\n"
		".section %s,\"a\",@progbits\n.balign 32\ntable:\n%s\n", section, words);

	CHECK(n > 0 && n < (int)sizeof(text));
	world_write("go.s", text);
	CHECK_EQ(world_run("%s -nostdlib -no-pie -Wl,-e,c_before -o %s go.s", world_cc, name), 0);
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

	CHECK_EQ(is_go(s, "go_first") && is_go(s, "go_last"), true);
	CHECK_EQ(is_go(s, "c_before"), all);
	CHECK_EQ(is_go(s, "c_behind"), all);
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
	CHECK(pread(fd, &header, sizeof(header), 0) == sizeof(header));
	header.e_shoff = 0;
	header.e_shnum = header.e_shstrndx = 0;
	CHECK(pwrite(fd, &header, sizeof(header), 0) == sizeof(header));
	close(fd);
	s = world_symbols("named");
	CHECK_EQ(s->go.start, go.start);
	CHECK_EQ(s->go.end, go.end);
	symbols_close(s);
}

static void test_none(void)
{
	struct symbols *s = made("none", ".rodata", NEW("0xfffffff1", "2", "go_first") PAIRS);

	CHECK_EQ(range_size(s->go), 0);
	symbols_close(s);
}

int main(void)
{
	world_open();
	test_versions();
	test_unclear();
	test_nameless();
	test_none();
	return 0;
}
