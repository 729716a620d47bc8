#!/bin/bash
# SPDX-License-Identifier: MIT
# values_rust: values of Rust are shown as Rust has them, by each rustc that is there; and of
# made-up programs they are those that the program prints.
# timeout: 1200
# long: 60
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

need python3
[ "$(uname -m)" = x86_64 ] || skip "reads registers of x86-64"
export PYTHONDONTWRITEBYTECODE=1

cat >want.out <<'END'
rs_1(s="hi", t="owned\n", v=[1, 2, 3], w=[4, 5]) = 13
rs_1(s="", t="", v=[], w=[]) = 0
rs_2(o=Some(5), p=Some("x"), q=Some(3), r=Some("t")) = Some(6)
rs_2(o=None, p=None, q=None, r=None) = None
rs_3(s=Shape::Circle { r: 1.0 }, c=Color::Blue, p=Point { x: 1, y: 2 }, n=Nothing) = Ok(1)
rs_3(s=Shape::Unit, c=Color::Red, p=Point { x: 0, y: -2 }, n=Nothing) = Err("bad")
rs_3(s=Shape::Pair(-1, 7), c=Color::Green, p=Point { x: 0, y: -2 }, n=Nothing) = Err("bad")
rs_4(b=true, c='x', t=(1, 2), s=Shape::Square(2.0), n=Some(true), m=Some(Color::Green)) = (1, 2.5)
rs_4(b=false, c='Ж', t=(-1, 0), s=Shape::Unit, n=None, m=None) = (1, 2.5)
rs_5(e=Ok(1), r=["a"], o=Some(None), d=-9) = [1, 2, 3]
rs_5(e=Err(()), r=[], o=None, d=9) = [1, 2, 3]
rs_6(n=Named { name: "x", at: Point { x: 3, y: 4 }, tags: [1, 2] }, t=Tree::Node(Tree::Leaf, 4), c=Cow::Borrowed("b"), u=1267650600228229401496703205376) = 5
rs_6(n=Named { name: "x", at: Point { x: 3, y: 4 }, tags: [1, 2] }, t=Tree::Leaf, c=Cow::Owned("o"), u=7) = 5
rs_7(d=ADDRESS, f=Some(-1.5), g=ADDRESS, a=[1, 2, 3, 255]) = 0.5
END

# What nothing but the program calls is as it says of itself, or said not to be known. What it
# cannot print of itself is left out.
methods()
{
	"$1" -A warnings -g -C opt-level="$2" -o methods "$ROOT/tests/values/methods.rs" \
		2>rustc.log || die "$1, $2: $(cat rustc.log)"
	"$INJECT" -f 'methods::m_*' -f 'methods::Sum::m_*' -f 'methods::main::*closure*' \
		-f methods::shared -a -o trace.out -- ./methods >want_methods.out 2>trace.err ||
		{ cat trace.err; die "$1, $2: not traced"; }
	# What is counted, and has no size of its own, is no list of what counts it.
	! grep 'methods::shared(' trace.out | grep 'pointer: \[' || die "$1, $2: a list"
	sed -n 's/^.*| methods::main::{{closure}}/methods::m_closure/
		s/^.*methods::\(Sum::\)\?\(m_.*\);$/\2/p' trace.out |
		sed -E '/^m_closure/s/[a-z]*=&?\{closure_env[^}]*\} ?(\{[^}]*\})?(, )?//
			s/\((self|s)=(Sum \{[^}]*\}|<[^>]*>)(, )?/(/
			s/ d=(<[^>]*>|0x[0-9a-f]*),//
			/\) = /!s/$/ = <unknown>/' >got_methods.out
	# (Where rustc optimises there is no closure to be called.)
	[ "$2" = 0 ] || sed -i '/^m_closure/d' want_methods.out got_methods.out
	python3 "$ROOT/tests/values/told.py" want_methods.out got_methods.out || die "$1, $2"
	# (In a closure the parameters are not, where what it has captured is not told.)
	[ "$2" != 0 ] || ! grep -v '^m_closure' got_methods.out | grep -q 'optimised out\|unknown' ||
		{ cat got_methods.out; die "$1, 0: not all is known of methods"; }
}

# Debian's, and perhaps another.
tried=
for rustc in $(printf '%s\n' /usr/bin/rustc "$(command -v rustc)" | sort -u); do
	for level in 0 1 2 3; do
		# (There may be one without a standard library.)
		"$rustc" -g -C opt-level=$level -o rust "$ROOT/tests/values/rust.rs" 2>rustc.log ||
			continue
		tried+=" $level"
		"$BUILD/tests/values/driver" rust rs_ printed.out >got.out ||
			die "$rustc, $level: the driver fails"
		sed -i 's/=0x[0-9a-f]*/=ADDRESS/g' got.out
		python3 "$ROOT/tests/values/told.py" want.out got.out || die "$rustc, $level"
		[ $level != 0 ] || ! grep -q 'optimised out\|unknown' got.out ||
			die "$rustc, 0: not all is known"
		methods "$rustc" $level
	done
done
[ -n "$tried" ] || skip "no rustc that makes a program"
echo "levels:$tried"

nice -n 5 python3 "$ROOT/tests/values/fuzz_rust.py" "$BUILD" -n "${VALUES_PROGRAMS:-1}" \
	-s "${VALUES_SEED:-1}" -l 03 >values.out || { tail -n 40 values.out; die "values differ"; }
tail -n 1 values.out
