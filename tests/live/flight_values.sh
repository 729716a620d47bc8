#!/bin/bash
# SPDX-License-Identifier: MIT
# flight_values: a process that goes on by itself keeps the arguments and results of its calls, their
# callers, and those calls alone that a condition holds for; a snapshot names all of them, also once
# rings have gone round, and of a file when the process has crashed. Functions that tell of seccomp
# filters stay probed as long as memory is read by a system call.
# timeout: 600
# shellcheck disable=SC2016 # $n is of jq
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

need jq
need gcc

# field N: of the line of status.
field() { sed -n 2p trace.out | cut -f"$1"; }
look() { status 0 "$INJECT" status -p "$VICTIM"; }
shot() { status 0 "$INJECT" snapshot -p "$VICTIM" -o "$1" && "$INJECT" replay --json "$1" >"$1.json"; }

# calls FILE FILTER: all of its calls are so, as jq says it; $n is their number.
calls()
{
	jq -es 'map(select(.type == "call")) | length as $n | '"$2" "$1" >/dev/null ||
		die "$1: not $2: $(head -n 3 "$1")"
}

sleeps='all(.[]; .func == "step_sleeps" and .ret == "-" + .args.us and (.args.us | tonumber) >= 6000'

# By a condition, of 1,600,000 calls; and of the others with all about them.
victim sifted
status 0 "$INJECT" start -p "$VICTIM" --max-overhead 100 -f 'step_*' -w 'us > 6300 && retval < 0' -a --stack=2
look
[ "$(field 10)" = "-w 'us > 6300 && retval < 0'" ] || die "status: $(cat trace.out)"
tell run '^run ' >/dev/null
shot when
calls when.json '$n == 8 and '"$sleeps"' and .args.us > "6300")'
calls when.json 'all(.[]; (.stack | length) == 2 and .stack[0].func == "outer_round")'
look
[ "$(field 6) $(field 8)" = "16 0" ] || die "$(cat trace.out)"
status 0 "$INJECT" report when --by us
[ "$(grep -c 'step_sleeps' trace.out)" = 2 ] || die "by value: $(cat trace.out)"
status 1 "$INJECT" add -p "$VICTIM" -f outer_round
has_line "no argument 'us'" trace.err || die "says: $(cat trace.err)"
status 0 "$INJECT" status -p "$VICTIM" --json
jq -es '.[0].when == "us > 6300 && retval < 0"' trace.out >/dev/null || die "JSON: $(cat trace.out)"
status 0 "$INJECT" stop -p "$VICTIM"
unharmed

# Rings that go round: what is there still is whole, each value with its call. A call has five words.
status 0 "$INJECT" start -p "$VICTIM" -f 'step_short' -a --max-overhead 100 -m 128K
tell run '^run ' >/dev/null
shot round
look
[ "$(field 7)" -lt "$(field 6)" ] || die "rings have not gone round: $(cat trace.out)"
calls round.json '$n > 1000 and all(.[]; .func == "step_short" and
	((.end != "return" and .ret == null) or .args == null or
	 (.args.i | tonumber) + 1 == (.ret | tonumber)))'
calls round.json 'map(select(.args != null and .ret != null)) | length > $n - 100'
status 0 "$INJECT" stop -p "$VICTIM"
unharmed

# A call that is watched has values, too.
status 0 "$INJECT" start -p "$VICTIM" -f 'step_sleeps' -f 'outer_*' -a --stack --snapshot-on 'step_sleeps > 6ms'
tell run '^run ' >/dev/null
look
[ "$(field 3)" = triggered ] || die "not triggered: $(cat trace.out)"
shot watched
has_line 'step_sleeps took' trace.err || die "$(cat trace.err)"
calls watched.json 'map(select(.func == "step_sleeps")) | length == 40 and '"$sleeps)"
calls watched.json 'all(.[]; (.args | length) == 1 and any(.stack[]; .func == "rounds"))'
status 0 "$INJECT" stop -p "$VICTIM"
unharmed

# What tells of a filter stays.
status 0 "$INJECT" start -p "$VICTIM" -f step_short -f 'prctl@libc.so*' -A 'step_short(i:i32)'
status 1 "$INJECT" remove -p "$VICTIM" -f 'prctl'
refused 'has to stay probed'
status 0 "$INJECT" remove -p "$VICTIM" -f 'step_*'
status 0 "$INJECT" stop -p "$VICTIM"
unharmed

# In a file, of a process that has crashed: values as they were, and callers.
status 0 "$INJECT" start -p "$VICTIM" -f step_sleeps -a --stack=3 -t 5ms -o kept
tell run '^run ' >/dev/null
kill -SEGV "$VICTIM"
wait "$VICTIM" || true
status 0 "$INJECT" snapshot kept -o crashed
"$INJECT" replay --json crashed >crashed.json
calls crashed.json '$n == 40 and '"$sleeps"' and (.stack | length) == 3)'
# Callers have names, for the files are what they were; else they are addresses.
calls crashed.json 'all(.[]; [.stack[].func] == ["outer_round", "rounds", .stack[2].func] and
	(.stack[2].module | startswith("libc.so")) and .stack[2].addr != null)'
cat >gone.c <<'END'
#include <unistd.h>
__attribute__((noinline)) int work(int i) { usleep(1000); return i + 1; }
__attribute__((noinline)) int calls_work(int i) { return work(i) + NUMBER; }
int main(void) { for (int i = 0; ; i++) if (calls_work(i) != i + 1 + NUMBER) return 1; }
END
gcc -O1 -g -DNUMBER=1 -o gone gone.c
cp gone was
./gone 9>&- &
VICTIM=$!
started "$VICTIM"
wait_until 20 executes "$VICTIM" gone || die "it does not begin"
status 0 "$INJECT" start -p "$VICTIM" -f work --stack=1 -o kept_gone
sleep 0.2
kill -KILL "$VICTIM"
wait "$VICTIM" 2>/dev/null || true
gcc -O1 -g -DNUMBER=77 -o gone gone.c
status 0 "$INJECT" snapshot kept_gone -o gone.data
has_line 'file of the process is not there any more as it had' trace.err || die "says: $(cat trace.err)"
"$INJECT" replay --json gone.data >gone.json
calls gone.json 'map(select(.stack)) | length > 0 and all(.[]; .stack[0].func == null)'
mv was gone
status 0 "$INJECT" snapshot kept_gone -o gone.data
"$INJECT" replay --json gone.data >gone.json
calls gone.json 'map(select(.stack)) | length > 0 and all(.[]; .stack[0].func == "calls_work")'
