#!/bin/bash
# SPDX-License-Identifier: MIT
# usdt_values: the arguments of places for tracers: in each form that compilers have for them, as
# the program itself prints them, with types by hand and without; live, and from a recording. Where
# all registers and flags are in use none is changed.
# timeout: 300
# long: 40
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

need python3 gcc
export PYTHONDONTWRITEBYTECODE=1

# What us:registers has for arguments, of each of N rounds.
registers()
{
	python3 - "$1" <<'EOF'
import sys

def step(a):
    return (a * 0x4c957f2d + 12345) % 2**64

words = (11, -22, 33, -44)
for seed in range(int(sys.argv[1])):
    a, x = seed, []
    for _ in range(8):
        a = step(a)
    for n in range(16):
        a = (a + n) % 2**64
        low = a % 2**32
        x.append('%g' % (low - 2**32 if low >= 2**31 else low))
    print(f'us:registers({seed}, {words[seed & 3]}, {0x12}, {0x34}, {0x1122334455667788}, '
          f'{0x5566}, -5, {x[0]}, {x[7]}, {x[8]}, {x[15]}, {seed & 3});')
EOF
}

# lines NAME FILE: calls of it, without what stands before them.
lines() { sed -n "s/^.*| *\\($1(.*\\)/\\1/p" "$2"; }

same() { cmp -s "$1" "$2" || { diff "$1" "$2" >differs || sed 20q differs; die "$3"; }; }

victim usdt
if [ "$(uname -m)" = x86_64 ]; then
	registers 500 >want
	inject_bg -p "$VICTIM" --usdt us:registers
	[ "$(tell 'kept 500' kept)" = "kept 500" ] || die "a register was changed"
	inject_end
	removed
	lines us:registers trace.out >got
	same want got "arguments are others"

	inject_bg record -p "$VICTIM" --usdt 'us:*' -a
	[ "$(tell 'kept 500' kept)" = "kept 500" ] || die "a register was changed"
	tell 'run 10' '^ran' >/dev/null
	inject_end
	removed
	"$INJECT" replay >trace.out
	lines us:registers trace.out >got
	same want got "arguments of a recording are others"
	for ((i = 0; i < 10; i++)); do
		[ $((i & 1)) = 0 ] || echo "us:twice($((i + 1)));"
		echo "us:twice($i);"
	done >want
	lines us:twice trace.out >got
	same want got "of two places with one name"
	"$INJECT" replay --json >calls.json
	grep -q '"func":"us:registers".*"args":{"arg1":"0","arg2":"11","arg3":"18"' calls.json ||
		die "JSON has none"
	"$INJECT" report >trace.out
	[ "$(grep -c ' us:twice$' trace.out)" = 1 ] || { cat trace.out; die "us:twice is not one line"; }
	"$INJECT" export --to chrome | grep -q '"us:twice".*"arg1"' || die "an export has none"
fi

# By hand.
inject_bg -p "$VICTIM" --usdt us:plain -A 'us:plain(round:x16)' --usdt us:tick -A 'us:tick(n:str)'
tell 'run 12' '^ran' >/dev/null
inject_end
removed
grep -q 'us:plain(round=0xb);' trace.out || die "not by hand"
grep -q 'us:tick(n=0x[1-9a-f] (unreadable));' trace.out || { cat trace.out; die "a bad pointer"; }
status 1 "$INJECT" -p "$VICTIM" --usdt us:plain -A 'us:tick(n:str)'
grep -q "no function us:tick is probed" trace.err || die "not refused"
status 0 "$INJECT" list -v --usdt=us:tick "$VICTIMS/usdt"
grep -q '^  us:tick(u64)' trace.out || { cat trace.out; die "types are not listed"; }
status 0 "$INJECT" count -p "$VICTIM" --usdt 'us:*' -d 0.1
victim_quit

[ "$(uname -m)" = x86_64 ] || exit 0
# Always the same programs: others are made by USDT_SEED.
nice -n 5 python3 "$ROOT/tests/values/usdt.py" "$INJECT" . -n "${USDT_PROGRAMS:-2}" \
	-s "${USDT_SEED:-1}" >values.out || { tail -n 40 values.out; die "values differ"; }
tail -n 1 values.out
