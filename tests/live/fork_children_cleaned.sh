#!/bin/bash
# SPDX-License-Identifier: MIT
# fork_children_cleaned: children forked while the probes were in have them in
# their own text; they run on, and are cleaned with their parent. Where that has
# ended, and inject with it, status lists them, and stop cleans them.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

victim forker
inject_bg -p "$VICTIM" -f 'fork_*' -o /dev/null
one=$(tell fork '^child' | cut -d' ' -f2)
two=$(tell fork '^child' | cut -d' ' -f2)
sleep 0.2
inject_end
removed
clean "$one"
clean "$two"
tell reap '^reaped 2'
unharmed
victim_quit

# states PID...: what status says of each of them, if it lists it.
states()
{
	status 0 "$INJECT" status
	for pid; do
		awk -F'\t' -v pid="$pid" '$1 == pid { printf "%s;", $3 }' trace.out
	done
}

victim forker
inject_bg -p "$VICTIM" -f 'fork_*' -o /dev/null
one=$(tell orphan '^child' | cut -d' ' -f2)
two=$(tell orphan '^child' | cut -d' ' -f2)
started "$one"
started "$two"
kill -KILL "$TRACER"
WANT=137 inject_wait
got=$(states "$VICTIM" "$one" "$two")
[ "$got" = "left behind;" ] || die "with their parent: $got"
kill -KILL "$VICTIM"
wait "$VICTIM" 2>/dev/null || true
got=$(states "$one" "$two")
[ "$got" = "left behind;left behind;" ] || die "without it: $got"
status 0 "$INJECT" stop -p "$one"
has_line 'sites in 2 processes restored' trace.err || die "not both are cleaned"
clean "$one"
clean "$two"
got=$(states "$one" "$two")
[ -z "$got" ] || die "clean, and listed: $got"
