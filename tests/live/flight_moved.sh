#!/bin/bash
# SPDX-License-Identifier: MIT
# flight_moved: what is probed is unloaded, and something else is there; it is moved, or loaded a
# second time; a forked child has jumps that its parent has no more. What stands is never said to
# be gone, and is taken out where that is certain to be right.
# timeout: 180
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

cp "$VICTIMS/plugin.so" plugin.so
probed()
{
	status 0 "$INJECT" status -p "$VICTIM"
	sed '1,/^# FUNCTION/d' trace.out | cut -f1 | sort | xargs
}
# stands AT: is there a jump in the process's memory?
stands()
{
	is_jump "$(dd if="/proc/$VICTIM/mem" bs=1 skip=$(($1)) count=$((${#TRAP} / 2)) 2>/dev/null |
		od -An -v -tx1 | tr -d ' \n')"
}
begin()
{
	victim replugger
	status 0 "$INJECT" start -p "$VICTIM" --max-overhead 100 -f replug_around -f plugin_answer
}

# Memory that is no file's takes its place.
begin
tell away '^away' >/dev/null
[ "$(probed)" = replug_around ] || die "probed: $(probed)"
status 3 "$INJECT" remove -p "$VICTIM" -f plugin_answer
status 0 "$INJECT" remove -p "$VICTIM" -f '*'
status 0 "$INJECT" stop -p "$VICTIM"
unharmed
victim_quit

# Its code is moved, and our jump with it: no file says what was there, so it stays, and that is
# said; the program goes on.
begin
at=$(tell move '^moved' | cut -d' ' -f2)
status 5 "$INJECT" stop -p "$VICTIM"
refused 'has moved its code'
stands "$at" || die "there is no jump"
victim_works
victim_quit

# Its forked child's is not, and is taken out.
begin
child=$(tell fork '^child' | cut -d' ' -f2)
tell move '^moved' >/dev/null
status 5 "$INJECT" stop -p "$VICTIM"
refused 'has moved its code'
clean "$child"
victim_quit

victim replugger
inject_bg -p "$VICTIM" -f plugin_answer -o /dev/null
at=$(tell move '^moved' | cut -d' ' -f2)
WANT=5 inject_end
has_line 'has moved its code' trace.err || die "said to be removed"
stands "$at" || die "there is no jump"
victim_works
victim_quit

# A second image of the file is loaded, below the first.
begin
if [ "$(tell twin 'twin')" = twin ]; then
	status 0 "$INJECT" remove -p "$VICTIM" -f plugin_answer
	status 0 "$INJECT" stop -p "$VICTIM"
	unharmed
fi
victim_quit

# A child has the jumps of its parent's first probes, which has others by now.
begin
child=$(tell fork '^child' | cut -d' ' -f2)
status 1 "$INJECT" remove -p "$child" -f plugin_answer
refused 'was forked by a process that records by itself'
status 0 "$INJECT" remove -p "$VICTIM" -f plugin_answer
status 0 "$INJECT" add -p "$VICTIM" -f plugin_answer --entry-only
status 0 "$INJECT" stop -p "$VICTIM"
has_line 'sites in 2 processes restored' trace.err || die "the child was not cleaned"
unharmed
clean "$child"
sleep 0.2
kill -0 "$child" || die "the child has ended"
victim_quit

# The same, and the parent is gone.
begin
child=$(tell orphan '^child' | cut -d' ' -f2)
started "$child"
status 0 "$INJECT" remove -p "$VICTIM" -f plugin_answer
status 0 "$INJECT" add -p "$VICTIM" -f plugin_answer --entry-only
kill -KILL "$VICTIM"
wait "$VICTIM" 2>/dev/null || true
VICTIM=
status 0 "$INJECT" stop -p "$child"
clean "$child"
kill -0 "$child" || die "the child has ended"
kill -KILL "$child"
rm victim.in

# The parent is traced meanwhile: its probes are another inject's.
victim replugger
inject_bg -p "$VICTIM" -f plugin_answer -o /dev/null
child=$(tell fork '^child' | cut -d' ' -f2)
status 5 "$INJECT" stop -p "$child"
refused 'is held by inject'
clean "$child"
status 1 "$INJECT" -p "$child" -f plugin_answer -d 0.1
refused 'is held by inject'
inject_end
removed
status 0 "$INJECT" -p "$child" -f plugin_answer -d 0.3
removed
victim_quit
