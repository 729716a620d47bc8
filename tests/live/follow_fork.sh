#!/bin/bash
# SPDX-License-Identifier: MIT
# follow_fork: with --follow-fork, forked children are traced from their first call
# on, under their own ids, also children of children, in rings of their own; every
# call is counted. When the process that was named ends, its children go on being
# traced. Without it they record nothing.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

need jq
lines_of() { grep -c "\"pid\":$1," trace.out || true; }
more_of() { [ "$(lines_of "$1")" -gt "$2" ]; }

victim forker
inject_bg -p "$VICTIM" -f 'fork_*' --json --follow-fork
before=$(progress)
one=$(tell fork '^child' | cut -d' ' -f2)
two=$(tell fork '^child' | cut -d' ' -f2)
for child in "$one" "$two" "$VICTIM"; do
	wait_until 20 more_of "$child" 100 || die "no calls of $child"
done
after=$(progress)
inject_end
removed
clean "$one"
clean "$two"
[ "$(closing lost)" = 0 ] || die "events were lost"
# A call belongs to one process; the outer one holds two inner ones.
jq -e -s 'map(select(.type == "call")) | group_by(.pid) | map({
	outer: map(select(.func == "fork_outer" and .end == "return")) | length,
	inner: map(select(.func == "fork_inner" and .depth == 1 and .end == "return")) | length,
	tids: map(.tid) | unique | length }) |
	all((.inner - 2 * .outer | fabs) <= 2 and .tids <= 2)' trace.out >/dev/null ||
	die "the calls of a process do not fit together"
[ "$(jq -r "select(.pid == $one) | .tid" trace.out | sort -u | wc -l)" = 2 ] ||
	die "the threads of a child are not its own"
# Of each two children one goes by its parent's id, and is told from it.
calls=$(grep -c "\"pid\":$VICTIM,.*fork_outer" trace.out)
[ "$calls" -ge $((after - before)) ] || die "calls of the parent are missing"
[ "$calls" -lt $((2 * after + 99)) ] || die "calls of others under its id"
# Those that come and go make 99 calls of the outer one each, whole.
jq -e -s --argjson stay "[$VICTIM,$one,$two]" 'map(select(.type == "call" and
	.func == "fork_outer" and (.pid | IN($stay[]) | not))) | group_by(.pid) |
	map(length) | length > 3 and (map(select(. != 99)) | length <= 1)' trace.out \
	>/dev/null || die "calls of short-lived children are missing"
tell reap "^reaped" >/dev/null
victim_quit

# A process has one ring, however much it writes; and that goes to others when it has ended.
victim forker
# All is recorded, and what one thread calls is shown.
inject_bg -p "$VICTIM" -f 'fork_*' --tid "$VICTIM" --follow-fork
tell busy '^child' >/dev/null
rings() { "$BUILD/tests/tools/rings" "$VICTIM" | tee rings.out; }
many_subbufs() { [ "$(rings | cut -d' ' -f12)" -gt 100 ]; }
# Of more children than there are rings, and fewer where all is slow.
least=800
[ "${PATIENCE:-1}" -lt 10 ] || least=300
many_children() { [ "$(progress)" -gt $least ]; }
wait_until 60 many_children
wait_until 60 many_subbufs || die "little is recorded: $(cat rings.out)"
# Not all at once: the reader has what the busy child writes to read in between. If they
# stayed, all 256 would be taken.
given_back() { [ "$(rings | cut -d' ' -f4)" -lt 128 ]; }
wait_until 60 given_back || die "rings are not given back: $(cat rings.out)"
inject_end
removed
tell reap "^reaped" >/dev/null
victim_quit

victim forker
inject_bg -p "$VICTIM" -f 'fork_*' --json
one=$(tell fork '^child' | cut -d' ' -f2)
wait_until 20 more_of "$VICTIM" 500 || die "no calls"
inject_end
removed
[ "$(lines_of "$one")" = 0 ] || die "a child has recorded"
tell reap "^reaped" >/dev/null
victim_quit

# It goes on as its own child, as daemons do.
need_root
victim changer
inject_bg -p "$VICTIM" -f 'change_*' --json --follow-fork
child=$(tell daemon '^done daemon' | cut -d' ' -f3)
started "$child"
wait_until 20 more_of "$child" 100 || die "the daemon is not traced"
kill -0 "$TRACER" || die "inject has left"
WANT=4 inject_end
VICTIM=$child
unharmed
has_line 'the target has ended' trace.err || die "does not say that it has ended"
inject_bg -p "$VICTIM" -f 'change_*' --follow-fork
grand=$(tell daemon '^done daemon' | cut -d' ' -f3)
kill -KILL "$grand"
WANT=4 inject_wait
VICTIM=
