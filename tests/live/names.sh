#!/bin/bash
# SPDX-License-Identifier: MIT
# names: std::string is what people call it, whatever the symbols have of it; and names
# without the arguments of templates, where they are asked for.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

need g++
cat >names.cc <<'EOF'
#include <iostream>
#include <map>
#include <string>
#include <vector>

#define KEPT __attribute__((noinline))
static volatile size_t sum;
namespace app {
KEPT size_t greet(const std::string &s) { return sum += s.size(); }
KEPT size_t greet(std::string_view s) { return sum += s.size(); }
KEPT size_t put(std::ostream &to, const std::vector<std::string> &v) { to << v.size(); return 1; }
template<class T> struct bag {
	std::vector<T> all;
	KEPT void add(T t) { all.push_back(t); }
};
template<class T> struct box {
	std::map<T, std::string> all;
	KEPT void add(T t, std::string s) { all[t] = std::move(s); }
};
KEPT std::string tagged() { return "x"; }
}
int main()
{
	app::box<std::string> strings;
	app::box<int> numbers;
	app::bag<std::vector<int>> bag;

	for (int i = 0; i < 20; i++) {
		strings.add("a", "b");
		numbers.add(i, "c");
		bag.add({i});
		app::greet(app::tagged());
		app::greet(std::string_view("v"));
	}
	return app::put(std::cout, {"d"}) != 1;
}
EOF
g++ -std=c++17 -O1 -g0 -o names names.cc

# lists PATTERN SYMBOL: it selects the function of this symbol, and nothing else.
lists()
{
	local at

	at=$(nm names | sed -nE "s/^0*([0-9a-f]+) [TtWw] $2\$/0x\1/p")
	status 0 "$INJECT" list ./names -f "$1@exe"
	[ "$(cut -f1 trace.out)" = "$at" ] || die "$1 selects $(cat trace.out), not $at"
}

lists 'app::greet(const std::string&)' '_ZN3app5greetERKNSt7.*'
lists 'app::greet(std::string_view)' '_ZN3app5greetESt17.*'
lists '*(std::ostream&, *std::vector<std::string>*)' '_ZN3app3put.*'
lists 'app::box<std::string>::add' '_ZN3app3boxINSt7.*'
lists '*box<std::string>*' '_ZN3app3boxINSt7.*'
lists 'app::tagged' '_ZN3app6taggedB5cxx11Ev'

# short COMMAND...: with --short-names no whole name is left, but a short one there, and
# what would be called the same is told apart.
short()
{
	status 0 "$@" --short-names -o shown
	if [ -d shown ]; then
		mv shown directory
		mv directory/metadata shown
	fi
	! grep -aq 'char_traits<\|bag<std' shown || die "$*: $(cat shown)"
	grep -aq 'app::bag<>::add' shown || die "$*: not short: $(cat shown)"
	grep -aq 'app::box<int>::add' shown || die "$*: equal: $(cat shown)"
	grep -aq 'app::box<std::string>::add' shown || die "$*: equal: $(cat shown)"
	rm -rf shown directory
}

svg_text() { sed 's/&lt;/</g; s/&gt;/>/g' "$1"; }

short "$INJECT" list ./names -f 'app::*'
status 2 "$INJECT" record --short-names -f 'app::*' -p $$
has_line 'record takes no --short-names: it keeps everything' trace.err || die "$(cat trace.err)"

# Of a library with thousands of templates, too.
library=$(g++ -print-file-name=libstdc++.so.6)
status 0 "$INJECT" list "$library" -f '*'
cut -f4 trace.out | sort -u >whole
status 0 "$INJECT" list "$library" -f '*' --short-names
cut -f4 trace.out | sort -u >brief
[ "$(wc -l <brief)" = "$(wc -l <whole)" ] || die "$(wc -l <whole) names become $(wc -l <brief)"
[ "$(wc -c <brief)" -lt $(($(wc -c <whole) * 3 / 4)) ] || die "they are not shorter"

[ "$(id -u)" = 0 ] || exit 0

# Where a recording is read, too.
"$INJECT" record -f 'app::*' -N 'app::greet(std::string_view)' -o rec -- ./names \
	>out 2>rec.err
status 0 "$INJECT" report rec -f 'app::box<std::string>::add'
[ "$(grep -c 'app::' trace.out)" = 1 ] || die "report: $(cat trace.out)"
status 0 "$INJECT" report rec
grep -Eq ' 20 .* app::greet$' trace.out || die "not left out: $(cat trace.out)"

for verb in replay report graph 'replay --json'; do
	# shellcheck disable=SC2086
	short "$INJECT" $verb rec
done
short "$INJECT" report rec --diff rec
for format in chrome folded perfetto speedscope ctf; do
	short "$INJECT" export --to $format rec
done
status 0 "$INJECT" export --to svg --short-names rec
svg_text trace.out >svg
grep -q 'app::bag<>::add' svg || die "no short name in the flame graph"

# Two directories of which one has but one of two that are told apart in the other.
status 0 "$INJECT" record -f 'app::box<int>::*' -o half -- ./names
status 0 "$INJECT" report rec --diff half --short-names
grep -Eq ' 20 .* app::box<int>::add$' trace.out || die "not compared: $(cat trace.out)"

# live VERB: the same while it runs.
live()
{
	"$INJECT" "$@" -f 'app::*' --short-names -o shown -- ./names >out 2>live.err
	! grep -q 'char_traits<\|bag<std' shown || die "$*: $(cat shown)"
	grep -q 'app::bag<>::add' shown || die "$*: not short: $(cat shown)"
	grep -q 'app::box<std::string>::add' shown || die "$*: equal: $(cat shown)"
}

for verb in trace count hist top 'trace --json' 'hist --json'; do
	# shellcheck disable=SC2086
	live $verb
done
