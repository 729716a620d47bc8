#!/bin/bash
# SPDX-License-Identifier: MIT
# inlined_spans: how long do copies of inlined functions take? Programs at random, whose functions say
# where they begin and end: what is told to be a call of a copy has just its own begin and end in it,
# through branches, loops, recursion, early returns and exceptions; and the programs compute what they
# do without us. Once traced by command, once recorded, once with values and -t; and once marked at
# random places.
# timeout: 1800
# long: 60
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

need python3 gcc g++ clang jq

TOOLS=$ROOT/tests/tools
SEED=${SEED:-1}
EACH=(-f 'wrap_*' -f 'out_*' -f 'loop_*' -f 'before_*' -f 'after_*' -f 'begin_*' -f 'end_*' -f 'host_*' -f work)
ended=0 merged=0 thrown=0 made=0 wrapped=0

# judged FILE: a tree of calls in it is right; counts them.
judged()
{
	local n

	n=$(python3 "$TOOLS/inlined_judge.py" "$1") || die "$what: $1: $n"
	# shellcheck disable=SC2086
	set -- $n
	ended=$((ended + $1)) merged=$((merged + $2)) thrown=$((thrown + $3)) made=$((made + $4)) wrapped=$((wrapped + $5))
}

# same: the program did what it does alone.
same() { cmp -s want got || die "$what: the program does something else: $(diff want got | head)"; }

# program COMPILER LEVEL SEED [throws]
program()
{
	what="$*"
	case $1 in
	*++) python3 "$TOOLS/inlined_program.py" "$3" throws >p.cc && "$1" -g -w "$2" -o p p.cc ;;
	*) python3 "$TOOLS/inlined_program.py" "$3" >p.c && "$1" -g -w "$2" -o p p.c ;;
	esac || die "$what: no program"
	status 0 ./p
	cp trace.out want
}

traced()
{
	"$INJECT" -f 'in_*' "${EACH[@]}" --inlined -o tree.out --no-color -- ./p >got 2>trace.err ||
		die "$what: status $?: $(cat trace.err)"
	same
	grep -q ' 0 lost' trace.err || die "$what: some are lost: $(cat trace.err)"
	judged tree.out
}

# Compilers take most of the time: fewer programs where all is slow.
for seed in $(seq "$SEED" $((SEED + $(fewer 2 1) - 1))); do
	for level in -O0 -O1 -O2 -O3; do
		for compiler in gcc g++; do
			program $compiler $level "$seed"
			traced
		done
	done
	for compiler in clang clang++; do
		program $compiler -O2 "$seed"
		traced
	done
done
echo "$made calls: $ended copies ended, $merged before their ends, $thrown were left by exceptions"
[ $((ended * 2)) -ge "$made" ] || die "of few copies it is known where they end"
[ $((merged * 10)) -lt "$ended" ] || die "many copies end before their ends"
[ "$thrown" -gt 0 ] || die "no copy was left by an exception"
[ "$wrapped" -gt 500 ] || die "copies that begin with the same instruction: $wrapped"

# A recording has the same calls.
program g++ -O1 5
traced
"$INJECT" record -f 'in_*' "${EACH[@]}" --inlined -- ./p >got 2>trace.err || die "$(cat trace.err)"
same
status 0 "$INJECT" replay --no-color
cp trace.out replay.out
judged replay.out
calls() { sed -n 's/.*| *\(in_[0-9]*\) \[inlined\]() {.*/\1/p' "$1" | sort | uniq -c; }
[ "$(calls tree.out)" = "$(calls replay.out)" ] || die "a recording has other calls"

# hist and top have durations of them, report has; with -t the short ones are left out.
status 0 "$INJECT" report --json
one=$(jq -r 'select(.type == "report" and (.func | startswith("in_")) and .total_ns != null) | .func' \
	trace.out | head -n 1)
[ -n "$one" ] || die "report: $(cat trace.out)"
"$INJECT" hist -f "$one" --inlined --json -o hist.out -- ./p >got 2>trace.err || die "hist: $(cat trace.err)"
same
jq -es 'map(select(.type == "hist"))[0].timed > 0' hist.out >/dev/null || die "hist: $(cat hist.out)"
"$INJECT" -f "$one" --inlined -a -t 1us -o slow.out --no-color -- ./p >got 2>trace.err || die "-t: $(cat trace.err)"
same
if grep -E '^ +0\.[0-9]+ us' slow.out; then die "-t 1us leaves short ones"; fi

# A process that goes on by itself, and what a later inject makes of it.
mkfifo in
./p wait <in >out &
SERVER=$!
started $SERVER
exec 8>in
wait_until 30 executes $SERVER p || die "the program does not run"
status 0 "$INJECT" start -p $SERVER -f 'in_*' "${EACH[@]}" --inlined --buffer 8m
echo >&8
wait_until 60 has_line . out
status 0 "$INJECT" snapshot -p $SERVER -o kept
status 0 "$INJECT" stop -p $SERVER
exec 8>&-
wait $SERVER
cmp want out || die "a process that records does something else"
status 0 "$INJECT" replay --no-color kept
cp trace.out kept.out
judged kept.out
[ "$(calls tree.out)" = "$(calls kept.out)" ] || die "a session has other calls"

# What tells of copies goes with them, also where they end; one that begins with another stays with it.
./p wait <in >out &
SERVER=$!
started $SERVER
exec 8>in
wait_until 30 executes $SERVER p || die "the program does not run"
base=$(awk '$6 ~ /\/p$/ { split($1, at, "-"); print at[1]; exit }' /proc/$SERVER/maps)
changed() { python3 - $SERVER "$base" <<-'EOT'
	import sys
	pid, base = sys.argv[1], int(sys.argv[2], 16)
	file, memory = open("p", "rb").read(), open(f"/proc/{pid}/mem", "rb")
	n = 0
	for line in open(f"/proc/{pid}/maps"):
	    f = line.split()
	    if len(f) == 6 and f[5].endswith("/p") and "x" in f[1]:
	        at, end = (int(x, 16) for x in f[0].split("-"))
	        memory.seek(at)
	        bytes_, off = memory.read(end - at), int(f[2], 16)
	        n += sum(x != y for x, y in zip(bytes_, file[off:off + end - at]))
	print(n)
	EOT
}
status 0 "$INJECT" start -p $SERVER -f 'in_*' -f 'wrap_*' --inlined
[ "$(changed)" -gt 0 ] || die "nothing is changed"
"$INJECT" list -f 'in_*' -f 'wrap_*' --inlined ./p | grep -q 'marked with' || die "no copies begin together"
status 3 "$INJECT" remove -p $SERVER -f 'wrap_*'
grep -q 'stays: another copy begins with the same instruction$' trace.err || die "$(cat trace.err)"
[ "$(changed)" -gt 0 ] || die "all is removed"
status 0 "$INJECT" remove -p $SERVER -f 'in_*' -f 'wrap_*'
[ "$(changed)" = 0 ] || die "$(changed) bytes are left of what is removed"
status 0 "$INJECT" stop -p $SERVER
exec 8>&-
wait $SERVER

# What list says: its ends.
status 0 "$INJECT" list -f "$one" --inlined ./p
grep -Eq '	mark	inlined into host_[0-9]\+0x[0-9a-f]+, [0-9]+ ends?$' trace.out || die "list: $(cat trace.out)"

# Marks anywhere: jumps lead to them from all sides, and to what is around them.
marked()
{
	local -a places

	mapfile -t places < <(objdump -d --no-show-raw-insn p | python3 -c '
import random, re, sys
r, at, name, all = random.Random(int(sys.argv[1])), 0, None, []
for line in sys.stdin:
    m = re.match(r"([0-9a-f]+) <(?:_Z6)?(host_\d+)(?:ji)?>:$", line)
    if m:
        name, at = m[2], int(m[1], 16)
    elif not line.strip():
        name = None
    elif name and (m := re.match(r" *([0-9a-f]+):", line)) and int(m[1], 16) > at:
        all.append(f"{name}+{int(m[1], 16) - at:#x}")
for place in r.sample(all, min(150, len(all))):
    print("-f\n" + place)' "$1")
	[ ${#places[@]} -gt 100 ] || die "$what: few places"
	"$INJECT" "${places[@]}" -o marks.out -- ./p >got 2>trace.err ||
		die "$what: marks ${places[*]}: $(tail -n 3 trace.err)"
	same
}
for seed in $(seq "$(fewer 4 1)"); do
	program gcc -O0 "$seed"
	marked "$seed"
	program g++ -O2 "$seed"
	marked "$seed"
done
