#!/bin/bash
# SPDX-License-Identifier: MIT
# go_judged: of calls of Go, which goroutines make by the hundred on stacks that move, those are told
# that a condition holds for at their end: by what they return, how long they take, how deep they lie
# and from where they are called, as the program itself says of each; and no others; in a trace, and in
# what is recorded.
# So it is with C functions that are probed beside them.
# timeout: 1200
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

need go python3
[ "$(uname -m)" = x86_64 ] || skip "reads registers of x86-64"

cp -r "$ROOT/tests/values/gojudged" program
printf 'module values\n\ngo 1.17\n' >program/go.mod
export GOCACHE=$PWD/cache GOFLAGS=-mod=mod GO111MODULE=on CGO_ENABLED=0 GOMAXPROCS=4
(cd program && go build -o ../judged) >go.log 2>&1 || die "$(cat go.log)"

cat >judge.py <<'EOF'
# said.out: what the program says; told.out: what inject does, in JSON. The third argument is the
# condition in Python, of id, ret (None: there is none) and err, and of `long`, which may be None: it
# is not known whether a call took so long, for that was about so. Then nothing is asked of it.
import json, re, sys

LIMIT = 20e6
want, may = set(), set()
for line in open('said.out'):
    w = line.split()
    if w[0] != 'work':
        continue
    id, err, inner, outer = int(w[1]), w[3] == 'true', int(w[4]), int(w[5])
    ret = None if w[2] == '-' else int(w[2])
    ways = {bool(eval(sys.argv[1], {'id': id, 'ret': ret, 'err': err, 'long': x}))
            for x in (False, True) if not (x and outer < LIMIT * 0.99 or
                                           not x and inner > LIMIT * 1.01)}
    if ways == {True}:
        want.add(id)
    if True in ways:
        may.add(id)
told = set()
for line in open('told.out'):
    e = json.loads(line)
    if e['type'] != 'call' or e['func'] != 'main.work':
        continue
    id = int(e['args']['id'])
    if id in told:
        sys.exit(f'{id} is told twice')
    if e['end'] not in ('return', 'unwound') or (id % 11 == 0) != (e['end'] == 'unwound'):
        sys.exit(f'an end of {e["end"]}: {e}')
    if id % 11 and not e.get('ret', '').startswith(f'({id % 5 - 2}, '):
        sys.exit(f'another result: {e}')
    told.add(id)
if not want or len(may) == 900:
    sys.exit(f'{len(want)} calls to {len(may)} are to pass: this shows nothing')
if want - told or told - may:
    sys.exit(f'missing: {sorted(want - told)}; too many: {sorted(told - may)}')
print(len(told))
EOF

# judged EXPR PYTHON: in a trace, and in a recording, in each way to look at it.
judged()
{
	local f=(-f main.work -f main.try -a --unguarded -m 16M) n

	"$INJECT" "${f[@]}" -w "$1" --json -o told.out -- ./judged >said.out 2>trace.err ||
		{ cat trace.err; die "$1: it has failed"; }
	[ "$(closing lost)" = 0 ] || die "$1: calls are lost"
	python3 judge.py "$2" || die "$1: others pass in a trace"

	rm -rf recorded
	"$INJECT" record "${f[@]}" -w "$1" -o recorded -- ./judged >said.out 2>trace.err ||
		{ cat trace.err; die "$1: not recorded"; }
	[ "$(closing lost)" = 0 ] || die "$1: calls are lost"
	"$INJECT" replay --json -o told.out recorded || die "$1: not replayed"
	n=$(python3 judge.py "$2") || die "$1: others pass in a recording: $n"
	"$INJECT" report --json -o report.out recorded || die "$1: no report"
	python3 - "$n" <<'EOF' || die "$1: the report has others: $(cat report.out)"
import json, sys

calls = [e['calls'] for e in map(json.loads, open('report.out')) if e.get('func') == 'main.work']
sys.exit(calls != [int(sys.argv[1])])
EOF
	"$INJECT" graph -o graph.out recorded || die "$1: no graph"
	[ "$(grep -o 'main\.work' graph.out | wc -l)" -gt 0 ] || die "$1: the graph has none"
}

judged 'duration >= 20ms' 'long'
judged 'retval.0 < 0' 'ret is not None and ret < 0'
judged 'retval.1 != nil && id > 300' 'err and id > 300'
judged 'id % 2 == 0 && (duration >= 20ms || retval.0 == 2)' 'id % 2 == 0 and (long or ret == 2)'
judged '!(duration < 20ms) || id < 5' 'long or id < 5'
judged 'depth == 4 && duration > 0ns' 'id % 6 == 2'
judged 'caller == "main.attempt" && id < 100' 'id < 100'
judged 'caller != "main.attempt" || id == 7 && tid != pid + 100000' 'id == 7'

# How long calls take and how deep they are is asked so, too; and what passes stays in its tree. Calls
# that last are told before they end, several at a time, which have begun in several threads.
for pause in 40ms 300ms; do
	rm -rf recorded
	"$INJECT" record -f main.work -f main.try -a --unguarded -m 16M -t 20ms -w 'id != 7' \
		-o recorded -- ./judged $pause >said.out 2>trace.err ||
		{ cat trace.err; die "-t: not recorded"; }
	"$INJECT" replay --json -o told.out recorded || die "-t: not replayed"
	python3 judge.py 'long and id != 7' || die "-t, $pause: others pass"
	python3 - <<'EOF' || die "-t, $pause: a call of work is shown outside of try"
import json, sys

calls = [e for e in map(json.loads, open('told.out')) if e['type'] == 'call']
sys.exit(any(e['depth'] < (e['func'] == 'main.work') for e in calls) or
	 not any(e['depth'] > 2 for e in calls))
EOF
done
rm -rf recorded
"$INJECT" record -f main.work -a --unguarded -m 16M -D 2 -o recorded -- ./judged >said.out 2>trace.err ||
	{ cat trace.err; die "-D: not recorded"; }
"$INJECT" replay --json -o told.out recorded || die "-D: not replayed"
python3 judge.py 'id % 6 in (1, 2)' || die "-D: others pass"

# The caller is read without the kernel's help, wherever in a page it stands.
"$INJECT" -f main.grow -w 'caller == "main.*"' -m 64M -o /dev/null -- ./judged >said.out 2>trace.err ||
	{ cat trace.err; die "it has failed"; }
[ "$(closing calls) $(closing lost)" = "$(sed -n 's/^grow //p' said.out) 0" ] ||
	die "not of all calls the caller is known: $(tail -n 1 trace.err)"

# slow has its own time besides.
"$INJECT" slow -f main.work -f main.try --unguarded -m 16M -t 20ms -w 'retval.0 <= 0' --json \
	-o told.out -- ./judged >said.out 2>trace.err || { cat trace.err; die "slow has failed"; }
python3 judge.py 'long and ret is not None and ret <= 0' || die "slow shows others"

# One that is open as the program ends has ended with it, and has no result.
"$INJECT" -f main.hang --unguarded -w 'duration >= 20ms' --json -o told.out -- ./judged >said.out \
	2>trace.err || { cat trace.err; die "it has failed"; }
[ "$(grep -c '"end":"unwound".*"func":"main.hang"' told.out)" = 1 ] || die "what is open is not told"
"$INJECT" -f main.hang --unguarded -w 'retval == 0 || retval != 0' --json -o told.out -- ./judged \
	>said.out 2>trace.err || { cat trace.err; die "it has failed"; }
[ "$(closing calls) $(closing lost)" = '0 0' ] || die "what has no result passes"

# Functions that are called with no stack to spare: by what needs no values.
"$INJECT" -f time.Now -f runtime.nanotime -w 'duration > 0ns && depth > 0' -n 5 -o told.out -- ./judged \
	>said.out 2>trace.err || { cat trace.err; die "nothing without values"; }
[ "$(closing calls)" -ge 5 ] || die "none passes: $(cat trace.err)"

# What cannot be known is said.
"$INJECT" -f main.work --unguarded -w 'cpu == 0' -- ./judged >said.out 2>trace.err &&
	die "the processor is asked for"
has_line 'asks for cpu, which is not recorded' trace.err || die "not said: $(cat trace.err)"
"$INJECT" -f main.work --unguarded -w 'retval.2 == 0' -- ./judged >said.out 2>trace.err &&
	die "a third result is asked for"
has_line "no member '2' (it has 0, 1)" trace.err || die "not said: $(cat trace.err)"

# C functions beside Go's: none of either takes so long, and of none is all told.
[ -x "$VICTIMS/goroutines" ] || skip "no Go program with C"
unset CGO_ENABLED
victim goroutines
for expr in 'duration > 60m' '1 in 1000000000000'; do
	inject_bg -p "$VICTIM" -f c_work -f main.last -w "$expr"
	tell 'run 200' '^made' 60 >/dev/null
	tell 'tight 100' '^made' 60 >/dev/null
	inject_end
	removed
	[ "$(closing calls) $(closing lost)" = '0 0' ] || die "$expr: $(tail -n 1 trace.err)"
done
# All threads have a name, which inject has read before it judges.
inject_bg -p "$VICTIM" -f c_work -f main.last -w 'comm != ""' -m 16M -o /dev/null
made=$(tell 'run 200' '^made' 60 | cut -d' ' -f2)
inject_end
removed
[ $(($(closing calls) + $(closing lost) / 2)) = "$made" ] || die "made $made: $(tail -n 1 trace.err)"

# start leaves, so inject would not judge: with the others that are probed it refuses Go's, and says why.
status 1 "$INJECT" start -p "$VICTIM" -f main.last -w 'duration > 1s'
has_line 'calls are judged by inject as it reads' trace.err || die "not said: $(cat trace.err)"
"$INJECT" start -p "$VICTIM" -f c_work -f main.last -w 'duration > 60m' 2>trace.err ||
	die "not started: $(cat trace.err)"
tell 'run 200' '^made' 60 >/dev/null
"$INJECT" snapshot -p "$VICTIM" -o taken 2>trace.err || die "no snapshot: $(cat trace.err)"
"$INJECT" stop -p "$VICTIM" 2>>trace.err || die "not stopped: $(cat trace.err)"
[ "$("$INJECT" replay taken 2>/dev/null | grep -c c_work)" = 0 ] || die "the process keeps all calls"
