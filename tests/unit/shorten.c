/* SPDX-License-Identifier: MIT */
/* Is a short name one without the arguments of templates, and nothing else? */
#include <stdio.h>
#include <string.h>

#include "symbols/names/shorten.h"
#include "tests/unit/check.h"

static const struct {
	const char *name, *brief, *kept;	/* kept NULL: the same */
} names[] = {
	{ "main", "main", NULL },
	{ "net::Conn::read", "net::Conn::read", NULL },
	{ "std::vector<int, std::allocator<int> >::push_back", "std::vector<>::push_back",
	  "std::vector<int>::push_back" },
	{ "std::map<a::b, std::vector<int, std::allocator<int> >, std::less<a::b>, "
	  "std::allocator<std::pair<a::b const, std::vector<int, std::allocator<int> > > > >::find",
	  "std::map<>::find", "std::map<a::b,std::vector<>>::find" },
	{ "std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >::append",
	  "std::string::append", NULL },
	{ "foo<3>", "foo<>", "foo<3>" }, { "foo<>", "foo<>", NULL },
	{ "foo<(anonymous namespace)::bar>::baz", "foo<>::baz",
	  "foo<(anonymous namespace)::bar>::baz" },
	{ "(anonymous namespace)::foo<int>::bar", "(anonymous namespace)::foo<>::bar",
	  "(anonymous namespace)::foo<int>::bar" },
	/* Operators. */
	{ "operator<", "operator<", NULL }, { "A::operator<<", "A::operator<<", NULL },
	{ "A<int>::operator<", "A<>::operator<", "A<int>::operator<" },
	{ "std::operator< <int>", "std::operator< <>", "std::operator< <int>" },
	{ "std::operator<< <std::char_traits<char> >", "std::operator<< <>",
	  "std::operator<< <std::char_traits<>>" },
	{ "operator<=> <int, int>", "operator<=> <>", "operator<=> <int,int>" },
	{ "operator><int>", "operator><>", "operator><int>" },
	{ "operator>><int>", "operator>><>", "operator>><int>" },
	{ "P<int>::operator->", "P<>::operator->", "P<int>::operator->" },
	{ "P<int>::operator->*<long>", "P<>::operator->*<>", "P<int>::operator->*<long>" },
	{ "P::operator-><long>", "P::operator-><>", "P::operator-><long>" },
	{ "operator*<int>", "operator*<>", "operator*<int>" },
	{ "operator&<int>", "operator&<>", "operator&<int>" },
	{ "operator-<int>", "operator-<>", "operator-<int>" },
	{ "operator,<int>", "operator,<>", "operator,<int>" },
	{ "F<int>::operator()<long>", "F<>::operator()<>", "F<int>::operator()<long>" },
	{ "F<int>::operator[]", "F<>::operator[]", "F<int>::operator[]" },
	{ "A::operator std::vector<int, std::allocator<int> ><int>",
	  "A::operator std::vector<><>", "A::operator std::vector<int><int>" },
	{ "A<&(operator< <int>(int, int))>::f", "A<>::f", "A<&(operator< <>(int,int))>::f" },
	{ "A<operator<>::f", "A<>::f", "A<operator<>::f" },
	/* Less-than and greater-than. */
	{ "A<((1)>(2))>::f", "A<>::f", "A<((1)>(2))>::f" },
	{ "A<((1)<(2)), int>::f", "A<>::f", NULL },
	/* Lambdas, and what is local. */
	{ "main::{lambda(int)#1}::operator()", "main::{lambda(int)#1}::operator()", NULL },
	{ "f(std::vector<int, std::allocator<int> >)::{lambda(A<int>)#2}::operator()",
	  "f(std::vector<>)::{lambda(A<>)#2}::operator()",
	  "f(std::vector<int>)::{lambda(A<int>)#2}::operator()" },
	{ "each<main::{lambda(A<int>)#1}>", "each<>", "each<main::{lambda(A<>)#1}>" },
	{ "std::function<void (int)>::function<main::{lambda(int)#1}, void>",
	  "std::function<>::function<>", NULL },
	{ "decltype ((f<int>)(1))", "decltype((f<>)(1))", "decltype((f<int>)(1))" },
	{ "A<decltype ((declval<B>)())>::f", "A<>::f", NULL },
	{ "A<(B)1>::{unnamed type#1}::f", "A<>::{unnamed type#1}::f",
	  "A<(B)1>::{unnamed type#1}::f" },
	{ "f<int>.isra.0", "f<>.isra.0", "f<int>.isra.0" },
	{ "A<int>::f@plt", "A<>::f@plt", "A<int>::f@plt" },
	{ "A<int>::f@lib.so", "A<>::f@lib.so", "A<int>::f@lib.so" },
	/* Rust. */
	{ "<alloc::vec::Vec<T> as core::ops::drop::Drop>::drop",
	  "<alloc::vec::Vec<> as core::ops::drop::Drop>::drop",
	  "<alloc::vec::Vec<T> as core::ops::drop::Drop>::drop" },
	{ "<a::B>::c", "<a::B>::c", NULL },
	{ "<a::B<u8>>::c::<u16>", "<a::B<>>::c::<>", "<a::B<u8>>::c::<u16>" },
	{ "core::str::<impl str>::trim", "core::str::<impl str>::trim", NULL },
	{ "a::<impl b::C<u8> for D>::e", "a::<impl b::C<> for D>::e",
	  "a::<impl b::C<u8> for D>::e" },
	{ "core::ptr::drop_in_place<fn(u8) -> u8>", "core::ptr::drop_in_place<>",
	  "core::ptr::drop_in_place<fn(u8)->u8>" },
	{ "a::b<u8>::{{closure}}", "a::b<>::{{closure}}", "a::b<u8>::{{closure}}" },
	{ "a::b::{closure#0}", "a::b::{closure#0}", NULL },
	{ "<F as FnOnce<(A<u8>,)>>::call_once", "<F as FnOnce<>>::call_once",
	  "<F as FnOnce<(A<>,)>>::call_once" },
	/* Others', and nonsense. */
	{ "main.Map[go.shape.int]", "main.Map[go.shape.int]", NULL },
	{ "a<b", "a<b", NULL }, { "a>b", "a>b", NULL }, { "<", "<", NULL }, { "", "", NULL },
	{ "<>", "<>", NULL }, { "a<(>", "a<(>", NULL }, { "a<)>", "a<)>", NULL },
	{ "operator", "operator", NULL }, { ">>><<<", ">>><<<", NULL },
};

static void expect(const char *name, unsigned int kept, const char *want)
{
	char got[512];

	if (!shorten(name, kept, got, sizeof(got)))
		strcpy(got, "(none)");
	if (!want || !strcmp(got, want))
		return;
	printf("%s: %u levels: '%s', not '%s'\n", name, kept, got, want);
	failures++;
}

/* Whatever the name: what is cut off is balanced, and to shorten again changes nothing. */
static void is_stable(const char *name)
{
	char once[512], twice[512];

	CHECK(shorten(name, 0, once, sizeof(once)));
	CHECK(shorten(once, 0, twice, sizeof(twice)) && !strcmp(once, twice));
	for (size_t room = 1; room <= strlen(once); room++)
		CHECK(!shorten(name, 0, twice, room));
}

/* Names that differ still do. */
static void stay_apart(void)
{
	static const char *const whole[] = {
		"A<int>::f", "A<char>::f", "A<B<int> >::f", "A<B<char> >::f", "C<int>::f",
		"A<int>::g", "A<int>::g", "plain", "A<>::f", "std::string::append",
		"std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >"
			"::append",
		"std::__cxx11::basic_string<wchar_t, std::char_traits<wchar_t>, "
			"std::allocator<wchar_t> >::basic_string",
		"std::basic_string<wchar_t, std::char_traits<wchar_t>, "
			"std::allocator<wchar_t> >::basic_string",
	};
	static const char *const want[] = {
		"A<int>::f", "A<char>::f", "A<B<int>>::f", "A<B<char>>::f", "C<>::f",
		"A<>::g", "A<>::g", "plain", "A<>::f", "std::string::append",
		"std::__cxx11::string::append", "std::__cxx11::wstring::wstring",
		"std::wstring::wstring",
	};
	const char *got[ARRAY_SIZE(whole)];
	struct strings made = { 0 };

	memcpy(got, whole, sizeof(got));
	CHECK_EQ(shorten_all(got, ARRAY_SIZE(got), &made), 0);
	for (size_t i = 0; i < ARRAY_SIZE(got); i++)
		if (strcmp(got[i], want[i]) != 0) {
			printf("%s becomes %s, not %s\n", whole[i], got[i], want[i]);
			failures++;
		}
	CHECK_EQ(shorten_all(got, 0, &made), 0);
	strings_clear(&made);
}

/* As long and as deep as a file likes. */
static void large_ones_end(void)
{
	static char large[40000], out[16384];
	struct strings made = { 0 };
	const char *name = large;

	memset(large, '<', sizeof(large) - 1);
	CHECK(!shorten(large, 0, out, sizeof(out)));
	CHECK_EQ(shorten_all(&name, 1, &made), 0);
	CHECK(name == large);
	memset(large, 'a', sizeof(large) - 1);
	large[0] = '<';
	CHECK(!shorten(large, 0, out, sizeof(out)));
	for (size_t i = 0; i + 3 < 11000; i += 3)
		memcpy(large + i, "a<>", 3);
	large[10999] = '\0';
	CHECK(shorten(large, 0, out, sizeof(out)));
	strings_clear(&made);
}

/* Names made up of what is special: they end, and in the room that there is. */
static void random_ones_end(void)
{
	static const char *const words[] = {
		"<", ">", "(", ")", "{", "}", "[", "]", "::", ",", " ", "*", "&", "-", "->", "std",
		"basic_string", "basic_x", "char", "const", "operator", "a", "__1", "allocator",
		"char_traits", "~", "impl ", " as ", "\\", "[abi:", "pair", "string", "wchar_t",
	};
	uint64_t seed = 88172645463325252u;
	char name[600], guarded[80];

	for (int i = 0; i < 100000; i++) {
		size_t n = 0, room;

		for (int k = 0; k < 30; k++) {
			seed ^= seed << 13;
			seed ^= seed >> 7;
			seed ^= seed << 17;
			n += (size_t)sprintf(name + n, "%s", words[seed % ARRAY_SIZE(words)]);
		}
		room = seed % (sizeof(guarded) - 1);
		memset(guarded, '#', sizeof(guarded));
		if (room && shorten(name, seed % 3, guarded, room))
			CHECK(memchr(guarded, '\0', room));
		CHECK(guarded[room] == '#');
	}
}

int main(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		expect(names[i].name, 0, names[i].brief);
		expect(names[i].name, 1, names[i].kept);
		is_stable(names[i].name);
	}
	stay_apart();
	large_ones_end();
	random_ones_end();
	return failures != 0;
}
