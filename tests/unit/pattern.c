/* SPDX-License-Identifier: MIT */
/* Does a pattern select what inject(1) says that it selects? Each sentence of
 * its section on functions has a test here. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "symbols/names/demangle.h"
#include "symbols/names/glob.h"
#include "symbols/names/spelling.h"
#include "tests/unit/symbols_world.h"

/* ---- the matcher --------------------------------------------------------- */

static const struct {
	const char *glob, *name;
	bool matches;
} globs[] = {
	{ "*", "", true }, { "*", "anything", true }, { "", "", true },
	{ "", "a", false }, { "a", "a", true }, { "a", "ab", false },
	{ "net_*", "net_read", true }, { "net_*", "inet_read", false },
	{ "*_read", "net_read", true }, { "n*_*d", "net_read", true },
	{ "n?t", "net", true }, { "n?t", "nt", false }, { "?", "", false },
	{ "[a-c]x", "bx", true }, { "[a-c]x", "dx", false },
	{ "[!a-c]x", "dx", true }, { "[!a-c]x", "ax", false },
	{ "[^a]x", "bx", true }, { "[]x]", "]", true }, { "[]x]", "x", true },
	{ "[a-]", "-", true }, { "[[:digit:]]", "7", true },
	{ "[[:digit:]_]*", "_f", true }, { "[[:digit:]]", "a", false },
	{ "[\\]]", "]", true }, { "\\*", "*", true }, { "\\*", "a", false },
	{ "operator[", "operator[", true }, { "*[", "x[", true },
	{ "a*b*c*d*e", "axbxcxdxe", true }, { "a*b*c*d*e", "axbxcxdx", false },
	{ "**a**", "bab", true }, { "*ab", "aab", true },
};

static void globs_match(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(globs); i++) {
		bool got = glob_match(globs[i].glob, globs[i].name,
				      strlen(globs[i].name));

		if (got == globs[i].matches)
			continue;
		fprintf(stderr, "'%s' against '%s'\n", globs[i].glob,
			globs[i].name);
		exit(1);
	}
	/* Many stars take no exponential time. */
	char name[2000];

	memset(name, 'a', sizeof(name));
	MUST(!glob_match("*a*a*a*a*a*a*a*a*a*a*a*a*a*b", name, sizeof(name)));
	MUST(glob_is_literal("a::b(int)") && !glob_is_literal("a?"));
}

/* ---- names --------------------------------------------------------------- */

static const struct {
	const char *raw, *name, *full;
} manglings[] = {
	{ "plain", "plain", "plain" },
	{ "foo.isra.0", "foo.isra.0", "foo.isra.0" },
	{ "_ZN3net5parseEPci", "net::parse", "net::parse(char*, int)" },
	{ "_ZN3net5parseEi.isra.0", "net::parse.isra.0",
	  "net::parse(int).isra.0" },
	{ "_Z3fooILi3EEvi", "foo<3>", "void foo<3>(int)" },
	{ "_ZNK3net4Conn4sizeEv", "net::Conn::size", "net::Conn::size() const" },
	{ "_ZN4core3ptr4drop17h0123456789abcdefE", "core::ptr::drop",
	  "core::ptr::drop::h0123456789abcdef" },
	{ "_ZN4core3ptr4drop17h0123456789abcdefE.llvm.99", "core::ptr::drop",
	  "core::ptr::drop::h0123456789abcdef" },
	{ "_RNvC1a1f", "a::f", "a::f" },
	{ "_RNvNtCsbHhqyaLQqM9_3net4conn4read", "net::conn::read",
	  "net::conn::read" },
	{ "_Zgarbage", "_Zgarbage", "_Zgarbage" },
	{ "_R", "_R", "_R" }, { "_", "_", "_" },
};

static void names_are_readable(void)
{
	struct strings strings = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(manglings); i++) {
		struct names got;

		MUST_EQ(demangle(&strings, manglings[i].raw, &got), 0);
		MUST_STR(got.name, manglings[i].name);
		MUST_STR(got.full, manglings[i].full);
		MUST(got.raw == manglings[i].raw);
	}
	MUST_STR(strings_add(&strings, "a\033[2Jb", 6), "a?[2Jb");
	MUST_EQ(demangle_stem("foo.isra.0.part.3.cold"), 3);
	MUST_EQ(demangle_stem("foo.123"), 7);
	MUST_EQ(demangle_stem("main.init"), 9);
	MUST_EQ(demangle_stem(".cold"), 5);
	strings_clear(&strings);
}

/* ---- patterns over functions --------------------------------------------- */

static const char *const raws[] = {
	"net_read", "net_write", "foo", "foo.isra.0", "foo.constprop.1.isra.3",
	"bar.part.0", "food", "_ZN3net4over4callEi", "_ZN3net4over4callEPc",
	"_ZN3netixEi", "_ZN4rust4work17h0123456789abcdefE", "star",
	"_ZN3netmlEi", "_ZN3net5starsEv",
	/* net::text, of std::string, of libc++'s, and of std::vector<std::string>. */
	"_ZN3net4textERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE",
	"_ZN3net5text1ERKNSt3__112basic_stringIcNS0_11char_traitsIcEENS0_9allocatorIcEEEE",
	"_ZN3net5text2ERKSt6vectorINSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEESaIS6_EE",
	"_ZN3net5text3ESt17basic_string_viewIcSt11char_traitsIcEERSo",
	"_ZN3net5text4ERKNSt7__cxx1112basic_stringIDsSt11char_traitsIDsESaIDsEEE",
	"_ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEC1EPKcRKS3_",
	"_ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEED1Ev",
	"_ZN3net6taggedB5cxx11Ev",
	"_ZN3net5text5ERSt3mapINSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEEiSt4lessIS6_E"
	"SaISt4pairIKS6_iEEE",
};

enum { NRAWS = ARRAY_SIZE(raws) };

static struct strings strings;
static struct func funcs[NRAWS];
static struct func_alias aliases[2] = {
	{ "__star", "__star", "__star" },
	{ "net_star", "net_star", "net_star" },
};
static struct symbols syms = {
	.funcs = funcs, .nfuncs = NRAWS, .aliases = aliases, .naliases = 2,
};

static void build(void)
{
	for (size_t i = 0; i < NRAWS; i++) {
		struct names n;

		MUST_EQ(demangle(&strings, raws[i], &n), 0);
		funcs[i] = (struct func){
			.name = n.name, .full = n.full, .raw = n.raw,
			.range = { 0x1000 + i * 16, 0x1010 + i * 16 },
			.parent = -1,
		};
		if (!strcmp(raws[i], "star"))
			funcs[i].naliases = 2;
	}
}

/* The names under which the functions match, as selection would keep them:
 * once one is exact, only the exact ones. */
static const char *select_names(const char *text)
{
	static char all[1024];
	const char *found[NRAWS];
	bool exact[NRAWS], any = false;
	struct pattern p;

	MUST_EQ(pattern_parse(text, &p), 0);
	for (size_t i = 0; i < NRAWS; i++) {
		found[i] = pattern_match(&p, &syms, &funcs[i], &exact[i]);
		any |= found[i] && exact[i];
	}
	*all = '\0';
	for (size_t i = 0; i < NRAWS; i++) {
		if (!found[i] || (any && !exact[i]))
			continue;
		if (*all)
			strcat(all, " ");
		strcat(all, found[i]);
	}
	pattern_clear(&p);
	return all;
}

static void patterns_select(void)
{
	/* A shell pattern over the function's name. */
	MUST_STR(select_names("net_[rw]*"), "net_read net_write");
	MUST_STR(select_names("nothing*"), "");
	MUST_STR(select_names("net_rea"), "");
	/* The demangled name without its parameter list, or the raw symbol. */
	MUST_STR(select_names("net::over::call"),
		  "net::over::call net::over::call");
	MUST_STR(select_names("_ZN3net4over4callEi"), "_ZN3net4over4callEi");
	/* A GLOB that equals a name selects it before patterns are tried. */
	MUST_STR(select_names("net::operator*"), "net::operator*");
	MUST_STR(select_names("net::operator[]"), "net::operator[]");
	MUST_STR(select_names("foo"), "foo foo.isra.0 foo.constprop.1.isra.3");
	/* `*` crosses `::`. */
	MUST_STR(select_names("net*call"), "net::over::call net::over::call");
	/* All overloads match; with the parameter list, one. */
	MUST_STR(select_names("net::over::c*"),
		  "net::over::call net::over::call");
	MUST_STR(select_names("net::over::call(char*)"), "net::over::call");
	MUST_STR(select_names("net::over::call( int )"), "net::over::call");
	/* Rust's hash and gcc's suffixes may be left out. */
	MUST_STR(select_names("rust::work"), "rust::work");
	MUST_STR(select_names("rust::work::h0123456789abcdef"), "rust::work");
	MUST_STR(select_names("bar"), "bar.part.0");
	MUST_STR(select_names("b?r"), "bar.part.0");
	MUST_STR(select_names("foo.isra.0"), "foo.isra.0");
	MUST_STR(select_names("f*d"), "food");
	/* One address is one probe, printed under the first name that matched. */
	MUST_STR(select_names("*star"), "star");
	MUST_STR(select_names("net_st*"), "net_star");
	MUST_STR(select_names("__star"), "__star");
}

/* std::string is what it stands for, on either side. */
static void std_is_spelled(void)
{
	static const char *const texts[] = {
		"net::text(std::string const&)", "net::text(const std::string&)",
		"net::text( const std::string & )", "net::text(std::basic_string<char> const&)",
		"net::text(*std::string*)",
		"net::text(std::__cxx11::basic_string<char, std::char_traits<char>, "
			"std::allocator<char> > const&)",
	};

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		MUST_STR(select_names(texts[i]), "net::text");
	MUST_STR(select_names("net::text1(const std::string&)"), "net::text1");
	MUST_STR(select_names("net::text?(const std::string&)"), "net::text1");
	MUST_STR(select_names("net::text*(std::string const&)"), "net::text net::text1");
	MUST_STR(select_names("net::text2(std::vector<std::string> const&)"), "net::text2");
	MUST_STR(select_names("net::text2(const std::vector<const std::string>&)"), "");
	MUST_STR(select_names("net::text3(std::string_view, std::ostream&)"), "net::text3");
	MUST_STR(select_names("net::text3(std::wstring_view, std::ostream&)"), "");
	MUST_STR(select_names("net::text4(std::u16string const&)"), "net::text4");
	MUST_STR(select_names("net::text5(std::map<std::string, int>&)"), "net::text5");
	MUST_STR(select_names("*(*std::map<std::string,*)"), "net::text5");
	MUST_STR(select_names("std::string::~string"),
		  "std::__cxx11::basic_string<char, std::char_traits<char>, "
		  "std::allocator<char> >::~basic_string");
	MUST_STR(select_names("std::string::string(char const*, *)"),
		  "std::__cxx11::basic_string<char, std::char_traits<char>, "
		  "std::allocator<char> >::basic_string");
	MUST_STR(select_names("std::wstring::*"), "");
	MUST_STR(select_names("net::tagged"), "net::tagged[abi:cxx11]");
}

static const struct {
	const char *typed, *spelling;
} spellings[] = {
	{ "f", "f" }, { "", "" },
	{ "f( unsigned  long , char * )", "f(unsigned long,char*)" },
	{ "f(const char*, const T)", "f(char const*,T const)" },
	{ "f(const std::vector<const int*>&)", "f(std::vector<int const*> const&)" },
	{ "f(A<int>const&)", "f(A<int> const&)" }, { "f() -> A<int>::b", "f()->A<int>::b" },
	{ "std::set<int, std::less<int>, std::allocator<int> >::find", "std::set<int>::find" },
	{ "std::set<int, std::less<void> >::find", "std::set<int,std::less<void>>::find" },
	{ "my::set<int, std::less<int> >", "my::set<int,std::less<int>>" },
	{ "std::basic_ostream<wchar_t, std::char_traits<wchar_t> >::basic_ostream",
	  "std::wostream::wostream" },
	{ "std::basic_regex<char, std::regex_traits<char> >", "std::regex" },
	{ "std::filesystem::__cxx11::path::append", "std::filesystem::path::append" },
	{ "std::operator< <int>", "std::operator< <int>" },
	{ "A::operator->", "A::operator->" }, { "A::operator()<int>", "A::operator()<int>" },
	{ "A::operator[]", "A::operator[]" }, { "operator new", "operator new" },
	{ "[a-c]x(int)", "[a-c]x(int)" },
	/* What makes no sense ends. */
	{ "std::basic_<char>", "std::" }, { ">>)(<", ">>)(<" }, { "std::<", "std::<" },
	{ "std::basic_string<char", "std::basic_string<char" }, { "[abi:", "[abi:" },
	{ "a)b}c>", "a)b}c>" }, { "x\\", "x\\" }, { "(const", "(const" },
	{ "(const ", "(" }, { "std::basic_x::basic_x::basic_x", "std::basic_x::basic_x::basic_x" },
};

static void spellings_are_made(void)
{
	char got[256], deep[200];

	for (size_t i = 0; i < ARRAY_SIZE(spellings); i++) {
		MUST(spelling_make(spellings[i].typed, got, sizeof(got)));
		MUST_STR(got, spellings[i].spelling);
		MUST(!spelling_make("std::string", got, 11));
	}
	memset(deep, '<', sizeof(deep) - 1);
	deep[sizeof(deep) - 1] = '\0';
	MUST(!spelling_make(deep, got, sizeof(got)));
}

static void modules_are_split(void)
{
	struct pattern p;

	/* The last @ splits. */
	MUST_EQ(pattern_parse("read@libc.so*", &p), 0);
	MUST_STR(p.name, "read");
	MUST_STR(p.module, "libc.so*");
	MUST_STR(p.glob, "read@libc.so*");
	MUST(pattern_allows(&p, "libc.so.6", false, true));
	MUST(!pattern_allows(&p, "libm.so.6", false, false));
	pattern_clear(&p);
	MUST_EQ(pattern_parse("a@b@c", &p), 0);
	MUST_STR(p.name, "a@b");
	MUST_STR(p.module, "c");
	pattern_clear(&p);
	/* @plt is no module. */
	MUST_EQ(pattern_parse("puts@plt", &p), 0);
	MUST_STR(p.name, "puts");
	MUST(p.plt && !p.module);
	pattern_clear(&p);
	MUST_EQ(pattern_parse("*@plt@libz.so*", &p), 0);
	MUST_STR(p.name, "*");
	MUST_STR(p.module, "libz.so*");
	MUST(p.plt);
	pattern_clear(&p);
	/* @exe is the executable. */
	MUST_EQ(pattern_parse("*@exe", &p), 0);
	MUST(pattern_allows(&p, "server", true, false));
	MUST(!pattern_allows(&p, "libz.so.1", false, false));
	pattern_clear(&p);
	/* Without @MODULE: all but the C library, the loader and the payload. */
	MUST_EQ(pattern_parse("*", &p), 0);
	MUST(!p.module);
	MUST(pattern_allows(&p, "server", true, false));
	MUST(pattern_allows(&p, "libz.so.1", false, false));
	MUST(!pattern_allows(&p, "libc.so.6", false, true));
	pattern_clear(&p);
}

static void places_are_split(void)
{
	static const char *const functions[] = { "operator+", "f+", "+1", "a::operator+=", "f+x1" };
	struct pattern p;

	MUST_EQ(pattern_parse("net_*+0x1c@lib", &p), 0);
	MUST(p.place && p.offset == 0x1c && !p.plt);
	MUST_STR(p.name, "net_*");
	MUST_STR(p.module, "lib");
	pattern_clear(&p);
	MUST_EQ(pattern_parse("f+010", &p), 0);
	MUST(p.place && p.offset == 10);
	pattern_clear(&p);
	MUST_EQ(pattern_parse("operator++8", &p), 0);
	MUST(p.place && p.offset == 8);
	MUST_STR(p.name, "operator+");
	pattern_clear(&p);
	for (size_t i = 0; i < ARRAY_SIZE(functions); i++) {
		MUST_EQ(pattern_parse(functions[i], &p), 0);
		MUST(!p.place);
		MUST_STR(p.name, functions[i]);
		pattern_clear(&p);
	}
}

static void nonsense_is_refused(void)
{
	static const char *const bad[] = {
		"", "@libc.so.6", "read@", "ne[t", "read@lib[c", "[",
		"memcpy@@GLIBC_2.14", "@plt", "f+5x", "f+0x", "f+0xg", "f+18446744073709551616",
		"f+1@plt", "f+4@plt@lib",
	};
	struct pattern p;

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		MUST_EQ(pattern_parse(bad[i], &p), -EINVAL);
		MUST(*fail_text());
		fail_clear();
		pattern_clear(&p);	/* harmless after a failure */
	}
}

static void near_names_are_found(void)
{
	const char *near[4];

	MUST_EQ(pattern_near(&syms, "net_raed", false, near, 4) > 0, true);
	MUST_STR(near[0], "net_read");
	MUST(pattern_near(&syms, "^net_wri.*", false, near, 4) > 0);
	MUST_STR(near[0], "net_write");
	MUST(pattern_near(&syms, "Call", false, near, 4) == 1);
	MUST_STR(near[0], "net::over::call");
	MUST_EQ(pattern_near(&syms, "zzzzzz", false, near, 4), 0);
	MUST_EQ(pattern_near(&syms, "***", false, near, 4), 0);
	MUST_EQ(pattern_near(&syms, "net_star", false, near, 0), 0);
	MUST_EQ(pattern_near(&syms, "net_star", false, near, 1), 1);
	MUST_STR(near[0], "net_star");
}

int main(void)
{
	globs_match();
	names_are_readable();
	build();
	patterns_select();
	spellings_are_made();
	std_is_spelled();
	modules_are_split();
	places_are_split();
	nonsense_is_refused();
	near_names_are_found();
	strings_clear(&strings);
	return 0;
}
