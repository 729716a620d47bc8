#!/bin/bash
# SPDX-License-Identifier: MIT
# command_signals: a signal that is sent to inject alone reaches the command,
# once; then the probes are gone and inject waits for the command's end.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

# begin ARG...: the victim under inject; PID is the victim's.
begin()
{
	: >victim.out
	# A shell's background jobs ignore SIGINT and SIGQUIT, and so would the
	# command.
	env --default-signal=INT,QUIT "$INJECT" -f 'command_*' -o calls.txt -- "$VICTIMS/command" "$@" \
		>victim.out 2>trace.err </dev/null 9>&- &
	TRACER=$!
	started "$TRACER"
	wait_until 20 has_line '^ready$' victim.out || die "the command does not begin"
	PID=$(sed -n 's/^inject: command (\([0-9]*\),.*/\1/p' trace.err)
	started "$PID"
}

ended_trace() { has_line 'all probes removed, text verified' trace.err; }

for sig in TERM HUP QUIT INT; do
	begin sleep 60
	kill -$sig "$TRACER"
	WANT=$((128 + $(kill -l $sig))) inject_wait
done

# It handles the first two, and is not traced from the first on.
begin terms 3
kill -TERM "$TRACER"
wait_until 20 ended_trace || die "the trace did not end"
clean "$PID"
kill -0 "$TRACER" || die "inject did not wait for the command"
kill -TERM "$TRACER"
sleep 0.5
kill -0 "$PID" || die "the command got more signals than were sent"
kill -TERM "$PID"
WANT=3 inject_wait
[ "$(tail -n 1 victim.out)" = "3 terms" ] || die "$(tail -n 1 victim.out)"

# What a descendant of the command sends to the whole group comes but once.
# (Two that come at once are one; so it is tried more than once.)
for _ in 1 2 3 4 5 6; do
	status 1 setsid -w "$INJECT" -f 'command_*' -o calls.txt -- "$VICTIMS/command" group
done

# The trace ends by itself; the command goes on, and its end is its own.
begin terms 1
kill -0 "$PID"
kill -TERM "$PID"
WANT=3 inject_wait
status 3 "$INJECT" -f '*' -d 0.1 -o calls.txt -- sh -c 'sleep 0.5; exit 3'
