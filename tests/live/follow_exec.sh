#!/bin/bash
# SPDX-License-Identifier: MIT
# follow_exec: with --follow-exec a process that executes another program is traced
# on in that: again and again, from its own patterns, whether the new program has
# been found complete or still with its loader; also one that nothing matches in. A
# recording of each goes to a directory of its own, and each has its counts.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

# programs N: so many were traced so far.
programs() { [ "$(grep -c '^inject: paused ' trace.err)" -ge "$1" ]; }

# Of a recording that is being made, too.
has_calls() { "$INJECT" report "$1" 2>/dev/null | grep -q 'exec_'; }

victim execer
inject_bg -p "$VICTIM" -f 'exec_*' -o calls.out --follow-exec
for n in 2 3; do
	tell exec '^ready$' >/dev/null
	wait_until 20 programs $n || die "program $n is not traced: $(cat trace.err)"
done
# All that was before is in the file; of the newest there is some more.
before=$(wc -l <calls.out)
more() { [ "$(wc -l <calls.out)" -gt "$before" ]; }
wait_until 20 more || die "no call of the last program"
inject_end
removed
[ "$(grep -c 'the target executes another program$' trace.err)" = 2 ] ||
	die "$(cat trace.err)"
[ "$(grep -c '^# DURATION' calls.out)" = 3 ] || die "not three programs in the results"

# Recorded, and an older recording of one of them is kept.
inject_bg record -p "$VICTIM" -f 'exec_*' -o data/ --follow-exec -d 0.1
inject_wait
removed
for older in data.old data.3.old; do
	inject_bg record -p "$VICTIM" -f 'exec_*' -o data/ --follow-exec
	for n in 2 3; do
		tell exec '^ready$' >/dev/null
		wait_until 20 programs $n || die "program $n is not recorded: $(cat trace.err)"
	done
	wait_until 20 has_calls data.3 || die "no call of the last program in its directory"
	inject_end
	removed
	for dir in data data.2 data.3; do
		has_line " in $dir/\?; inject replay $dir/\? shows" trace.err || die "$dir is not named"
	done
	[ -e $older ] || die "the older recording is not kept as $older"
done
mkdir -p other.2
touch other.2/mine
inject_bg record -p "$VICTIM" -f 'exec_*' -o other --follow-exec
tell exec '^ready$' >/dev/null
WANT=1 inject_wait
has_line 'other.2 is there and is not a trace directory' trace.err || die "not said why"
unharmed

# Counted.
inject_bg count -p "$VICTIM" -f 'exec_*' -o counts --follow-exec
tell exec '^ready$' >/dev/null
wait_until 20 programs 2 || die "the second program is not counted: $(cat trace.err)"
inject_end
removed
[ "$(grep -c exec_ counts)" -ge 2 ] || die "not the counts of two programs: $(cat counts)"
[ "$(grep -c "^# process $VICTIM, /" counts)" -ge 2 ] || die "not which programs: $(cat counts)"

# As fast as it can: whatever a program was doing as the next one came.
"$INJECT" -p "$VICTIM" -f 'exec_*' -o /dev/null --follow-exec 2>trace.err 9>&- &
TRACER=$!
started "$TRACER"
for _ in $(seq 15); do
	tell exec '^ready$' >/dev/null
done
wait_until 20 programs 1 || die "none of many programs is traced"
inject_end
unharmed
victim_quit

# A command may be a script in which nothing matches.
mkfifo hold
: >trace.err
"$INJECT" -f 'spin_*' -o calls.out --follow-exec -n 50 -- \
	sh -c "exec $VICTIMS/spin_threads 2" <hold >spin.out 2>trace.err 9>&- &
TRACER=$!
started "$TRACER"
exec 8>hold
wait_until 20 has_line 'all probes removed, text verified' trace.err || die "no removal"
exec 8>&-
inject_wait
[ "$(programs 1 && grep -c 'functions\? probed, [0-9]* refused' trace.err)" = 2 ] ||
	die "not two programs: $(cat trace.err)"
grep -q spin_leaf calls.out || die "the program is not traced"
has_line ^WRONG spin.out && die "it computed something wrong"

# The next program may be gone before it is traced: then that is what is said.
for _ in $(seq 10); do
	"$INJECT" -f 'spin_*' -o /dev/null --follow-exec -- \
		sh -c "exec $VICTIMS/spin_threads 2" </dev/null >/dev/null 2>trace.err || true
	has_line '^inject: failed' trace.err && die "a failure without a cause"
done
true
