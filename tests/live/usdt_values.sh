#!/bin/bash
# SPDX-License-Identifier: MIT
# usdt_values: the arguments of places for tracers, as the program itself has them, with types by hand
# and without; live, and from a recording. Where all registers and flags are in use none is changed.
# timeout: 600
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

need python3
# registers N MACHINE: what us:registers has for arguments, of each of N rounds.
registers()
{
	python3 - "$@" <<'EOF'
import sys

def step(a):
    return (a * 0x4c957f2d + 12345) % 2**64

words = (11, -22, 33, -44)
general, vectors = (8, 16) if sys.argv[2] == 'x86_64' else (28, 32)
for seed in range(int(sys.argv[1])):
    r, x = [seed], []
    for _ in range(general):
        r.append(step(r[-1]))
    a = r[-1]
    for n in range(vectors):
        a = (a + n) % 2**64
        low = a % 2**32
        x.append('%d' % (low - 2**32 if low >= 2**31 else low))
    if general == 8:
        print(f'us:registers({seed}, {words[seed & 3]}, {0x12}, {0x34}, {0x1122334455667788}, '
              f'{0x5566}, -5, {x[0]}, {x[7]}, {x[8]}, {x[15]}, {seed & 3});')
    else:
        print(f'us:registers({seed}, {words[seed & 3]}, {0x234}, {0x34}, {r[14]}, {r[15]}, {r[28]}, '
              f'-5, {x[0]}, {x[31]}, -22, {seed & 3});')
EOF
}

# lines NAME FILE: calls of it, without what stands before them.
lines() { sed -n "s/^.*| *\\($1(.*\\)/\\1/p" "$2"; }

same() { cmp -s "$1" "$2" || { diff "$1" "$2" >differs || sed 20q differs; die "$3"; }; }

victim usdt
registers 500 "$(uname -m)" >want
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
grep -q '"func":"us:registers".*"args":{"arg1":"0","arg2":"11","arg3":"\(18\|564\)"' calls.json ||
	die "JSON has none"
"$INJECT" report >trace.out
[ "$(grep -c ' us:twice$' trace.out)" = 1 ] || { cat trace.out; die "us:twice is not one line"; }
"$INJECT" export --to chrome | grep -q '"us:twice".*"arg1"' || die "an export has none"

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
