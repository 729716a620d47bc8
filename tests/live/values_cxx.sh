#!/bin/bash
# SPDX-License-Identifier: MIT
# values_cxx: classes of the C++ library are shown as a user thinks of them, by each compiler.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

need g++

cat >want.out <<'END'
f1(s="xx", v="view\n", by_value="short") = 12
f1(s="xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"..., v="", by_value="0123456789012345") = 116
f2(v=[1, 2, 3], p=&7, o=5) = 13
f2(v=[1, 2, 3, 4, 5, 6, 7, 8, ...], p=&7, o=nullopt) = 11
f3(s={a=1, n="in struct"}, v=&["first", "a long string that is not short at all, really"]) = "in structfirst"
f4(p=&9, o="opt", v=[{a=1, n="one"}, ...], b=true) = 13
f4(p=&9, o=nullopt, v=[], b=true) = 10
f5(n=3) = [1.5, 1.5, 1.5]
f5(n=0) = []
f6(c='t', d='x', s="text") = 240
f7(p=&{n=1, more=[...]}, q=&{n=1, more=""...}) = 122
END

# libc++ is tested where it is: of Debian 12 its package and the build's libunwind-dev exclude each
# other. CXX_LIB=FLAGS adds where headers and library are.
ways=('g++ -O0 -gdwarf-4' 'g++ -O0 -gdwarf-5' 'g++ -O1 -g' 'g++ -O2 -g' 'clang++ -O0 -g'
	'clang++ -O2 -gdwarf-4')
lib="clang++ -stdlib=libc++ ${CXX_LIB:-}"
# shellcheck disable=SC2086 # words
if $lib -w -std=c++17 -o cxx "$ROOT/tests/values/cxx.cc" 2>lib.log; then
	ways+=("$lib -O0 -g" "$lib -O1 -g" "$lib -O2 -gdwarf-4")
else
	echo "not tested: libc++"
fi

for way in "${ways[@]}"; do
	command -v "${way%% *}" >/dev/null || continue
	$way -w -std=c++17 -o cxx "$ROOT/tests/values/cxx.cc" || die "$way"
	"$BUILD/tests/values/driver" cxx f printed.out >got.out || die "$way: the driver fails"
	# (Its string is smaller, so that one more is within what is read.)
	[[ $way != *libc++* ]] || sed -i 's/, {a=2, n="two"}\]/, ...]/' got.out
	# clang++ -O0 does not tell where y is: it has left out the first parameter.
	"$BUILD/tests/values/driver" cxx _Z2g1 printed.out >got_left.out || die "$way: the driver fails"
	grep -qE '^_Z2g14itemi\(.*y=(48|<optimised out>|<unknown>)\)' got_left.out ||
		die "$way: $(cat got_left.out)"
	"$BUILD/tests/values/driver" cxx _Z10local_call printed.out >got_local.out ||
		die "$way: the driver fails"
	! grep '^_Z10local' got_local.out | grep -vE 'y=(3|<optimised out>|<unknown>)\)' ||
		die "$way: others than 3"
	[ "$(grep -c '^_Z10local' got_local.out)" = 2 ] || die "$way: $(cat got_local.out)"
	case $way in
	*-O0*) diff want.out got.out >diff.out || die "$way: $(cat diff.out)" ;;
	*) python3 - want.out got.out <<'END' || die "$way" ;;
import re, sys
for want, got in zip(open(sys.argv[1]), open(sys.argv[2])):
    pattern = re.escape(got).replace(re.escape('<optimised out>'), '.*').replace('<unknown>', '.*')
    if not re.fullmatch(pattern, want, re.S):
        sys.exit(f'{got} is not {want}')
END
	esac
done

# What is external in the source may be local when it is linked, and what clang has changed then.
if command -v clang >/dev/null; then
	echo '__attribute__((noinline)) int hid(int x, int y) { __asm__ volatile(""); return x + y; }
int main(int argc, char **argv) { (void)argv; return hid(argc, 4) == 3; }' >hid.c
	for visibility in default hidden; do
		clang -O2 -g -fvisibility=$visibility -o hid hid.c || die "clang -fvisibility"
		"$INJECT" list -v hid -f hid >list_$visibility.out 2>/dev/null || die "not listed"
	done
	! grep -q unknown list_default.out || die "the result of an external function is not known"
	clang -dM -E -x c /dev/null | grep -qE '__clang_major__ (1[6-9]|[2-9])' ||
		grep -q 'unknown' list_hidden.out || die "the result of a local function is believed"
fi
