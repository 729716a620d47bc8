#!/bin/bash
# SPDX-License-Identifier: MIT
# follow_both: with --follow-exec and --follow-fork a shell is traced with all that it
# starts: what its children execute, what theirs do, and what those fork. When the shell
# has ended the others go on being traced; at the end all probes are out.
# timeout: 1200
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

need jq

# Of all lines those that are asked for: what is no call, and of each process and function
# the first call and then one in a hundred. On a busy machine there are gigabytes of them,
# which a test that looks for a line again and again would not get through.
sieve()
{
	awk '/"type":"call"/ { match($0, /"pid":[0-9]*/); pid = substr($0, RSTART, RLENGTH)
			match($0, /"func":"[^"]*"/)
			if (calls[pid, substr($0, RSTART, RLENGTH)]++ % 100)
				next }
		{ print; fflush() }'
}

# begin ARG...: inject, and a shell that it starts; that is sent commands.
begin()
{
	rm -f commands.in lines
	mkfifo commands.in lines
	exec 8<>commands.in
	: >trace.err
	sieve <lines >trace.out 9>&- 8>&- &
	started $!
	"$INJECT" --follow-exec --follow-fork --json "$@" -- sh <commands.in >lines \
		2>trace.err 9>&- 8>&- &
	TRACER=$!
	started "$TRACER"
}

# A shell that is not traced any more ends when it can be sent nothing more.
tidy() { exec 8>&-; }
run() { echo "$*" >&8; }
# Processes that call it, one a line.
pids_of() { sed -n "s/.*\"pid\":\([0-9]*\),.*\"func\":\"$1\".*/\1/p" trace.out | sort -un; }
has_pids() { [ "$(pids_of "$1" | wc -l)" -ge "$2" ]; }
calls() { grep -c '"type":"call"' trace.out || true; }
more() { [ "$(calls)" -gt "$before" ]; }

# Programs in the background, whose inputs are never closed.
mkfifo hold.1 hold.2
begin -f 'single_*' -f 'fork_inner'
run "$VICTIMS/single <>hold.1 >/dev/null &"
run "(true; $VICTIMS/single <>hold.1 >/dev/null; true) &"
run "sh -c 'true; $VICTIMS/single <>hold.1 >/dev/null; true' &"
run "$VICTIMS/forker <>hold.2 >/dev/null &"
wait_until 90 has_pids single_inner 3 || die "not three programs: $(cat trace.err)"
# It forks all the time, and its children record with it.
wait_until 90 has_pids fork_inner 4 || die "no children of a program: $(cat trace.err)"
for pid in $(pids_of single_inner); do
	started "$pid"
done
# Of this test's process group: another test may have a forker of its own.
forkers=$(pgrep -g 0 -f "^$VICTIMS/forker") || die "no forker in this process group"
for pid in $forkers; do
	started "$pid"
done

# The shell ends; its children go on, and so does inject.
shell=$(jq -r 'select(.type == "start") | .pid' trace.out | head -n 1)
run exit
has_ended() { [[ $(sed 's/.*) //' "/proc/$shell/stat" 2>/dev/null) != [RSD]* ]]; }
wait_until 90 has_ended || die "the shell does not end"
before=$(calls)
wait_until 90 more || die "nothing more is recorded"
kill -0 "$TRACER" || die "inject has left"
kill -TERM "$TRACER"
inject_wait
for pid in "${!STARTED[@]}"; do
	[ ! -d "/proc/$pid" ] || [ "$(begun "$pid")" != "${STARTED[$pid]}" ] || clean "$pid"
done
# One line of each program that was traced, and none that says otherwise.
[ "$(grep -c 'text verified$' trace.err)" -ge 4 ] || die "$(cat trace.err)"
! grep -q REMAIN trace.err || die "$(cat trace.err)"
has_programs() { [ "$(grep -c '"type":"start"' trace.out)" -ge "$1" ]; }
wait_until 90 has_programs 5 || die "not five programs"

# Killed, it leaves nothing: what traces for it takes its probes out, and ends.
begin -f 'single_*'
run "$VICTIMS/single <>hold.1 >/dev/null &"
wait_until 90 has_pids single_inner 1 || die "its program is not traced: $(cat trace.err)"
pid=$(pids_of single_inner)
started "$pid"
kill -KILL "$TRACER"
wait "$TRACER" || true
wait_until 90 has_line 'text verified$' trace.err || die "the probes were not taken out"
clean "$pid"

# Recorded, each in a directory of its own.
begin_record() { "$INJECT" record "$@" -- sh -c "$VICTIMS/single <hold.3 & $VICTIMS/single <hold.3 & wait" \
	>/dev/null 2>trace.err 9>&- 8>&- 7>&- & TRACER=$!; started "$TRACER"; }
mkfifo hold.3
exec 7<>hold.3
begin_record -f 'single_*' --follow-exec --follow-fork -o data
has_data() { "$INJECT" report data."$1" 2>/dev/null | grep -q single_inner; }
wait_until 90 has_data 2 || die "no recording of the first child: $(cat trace.err)"
wait_until 90 has_data 3 || die "no recording of the second child: $(cat trace.err)"
# Both end at that, where of two lines one might get both.
exec 7>&-
inject_wait
status 2 "$INJECT" top -p $$ -f "single_*" --follow-exec --follow-fork
