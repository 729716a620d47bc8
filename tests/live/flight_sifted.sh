#!/bin/bash
# SPDX-License-Identifier: MIT
# flight_sifted: start -t has a process keep the calls that take so long, and no others, when inject has
# left; each of them is in a snapshot, and those that hang, too, in a system call or in a loop, be it that
# their thread has recorded nothing yet. status says what is left out. -D leaves out what is deeper.
# timeout: 600
# shellcheck disable=SC2016 # $n is of jq
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

need jq

# field N: of the line of status.
field() { sed -n 2p trace.out | cut -f"$1"; }
look() { status 0 "$INJECT" status -p "$VICTIM"; }
shot() { status 0 "$INJECT" snapshot -p "$VICTIM" -o "$1" && "$INJECT" replay --json "$1" >"$1.json"; }

# judge FILE: as in sifted.sh: calls of it by what the victim has measured, in ANSWER.
judge()
{
	jq -es --argjson inner "${ANSWER[1]}" --argjson outer "${ANSWER[2]}" \
		'[.[] | select(.type == "call")] |
		 map(select(.func == "step_sleeps" or .func == "outer_round")) as $long |
		 all(.[]; .dur_ns >= 5000000 and (.end == "return" or .func == "step_leaves")) and
		 ($long | length) >= $inner and ($long | length) <= $outer' "$1" >/dev/null ||
		die "not so for $1, ${ANSWER[*]}: $(grep -c '"call"' "$1") calls"
}

# open FILE: how many calls it shows as open, each begun in its order and around the next.
open()
{
	jq -s 'map(select(.type == "call" and .end == "open")) as $o |
		if ($o | sort_by(.depth) | map(.ts_ns)) == ($o | map(.ts_ns) | sort) then $o | length
		else -1 end' "$1"
}

victim sifted
for keep in last first; do
	status 0 "$INJECT" start -p "$VICTIM" --max-overhead 100 -f 'step_*' -f 'outer_*' -f 'hang_*' -t 5ms --keep "$keep"
	look
	[ "$(field 3) $(field 10)" = "recording -t 5ms" ] || die "status: $(cat trace.out)"
	read -ra ANSWER <<<"$(tell run '^run ')"
	shot "$keep"
	judge "$keep.json"
	look
	[ "$(field 8)" = 0 ] || die "lost: $(cat trace.out)"
	[ "$(field 6)" -lt "$((ANSWER[3] / 100))" ] || die "all is recorded: $(cat trace.out)"
	status 0 "$INJECT" info "$keep"
	has_line '^filter	-t 5ms$' trace.out || die "no filter: $(cat trace.out)"
	status 0 "$INJECT" stop -p "$VICTIM"
	unharmed
done

# What hangs in a thread that has recorded nothing, and then what ends after all.
status 0 "$INJECT" start -p "$VICTIM" --max-overhead 100 -f 'hang_*' -f 'spin_*' -t 20ms
tell hang '^hang$' >/dev/null
sleep 0.1
shot hangs
[ "$(open hangs.json)" = 3 ] || die "open: $(cat hangs.json)"
tell free '^free$' >/dev/null
shot ended
jq -es 'map(select(.type == "call")) | length == 3 and all(.[]; .end == "return")' ended.json >/dev/null ||
	die "ended: $(cat ended.json)"
# Where its function is not probed any more, what is open may end unseen, and is not told.
tell hang '^hang$' >/dev/null
sleep 0.1
status 0 "$INJECT" remove -p "$VICTIM" -f 'hang_*'
shot removed
[ "$(open removed.json)" = 0 ] || die "told: $(cat removed.json)"
tell free '^free$' >/dev/null
status 0 "$INJECT" add -p "$VICTIM" -f 'hang_*'
# In a loop, which makes no system call: once its thread has run for long enough to be believed.
spins() { shot spins; jq -es 'any(.[]; .func == "spin_here" and .end == "open")' spins.json >/dev/null; }
tell spin '^spin$' >/dev/null
wait_until 30 spins || die "no loop: $(cat spins.json)"
tell free_spin '^free_spin$' >/dev/null
status 0 "$INJECT" stop -p "$VICTIM"
unharmed

status 2 "$INJECT" start -p "$VICTIM" -f 'step_*' -t 5ms --entry-only
refused '-t needs to know when calls end'
status 0 "$INJECT" start -p "$VICTIM" --max-overhead 100 -f 'step_*' -f 'outer_*' -D 1
tell run '^run ' >/dev/null
look
[ "$(field 6) $(field 10)" = "3200 -D 1" ] || die "-D 1: $(cat trace.out)"
shot flat
[ "$(jq -s 'map(select(.type == "call")) | length' flat.json)" = 1600 ] || die "$(wc -l flat.json)"
status 0 "$INJECT" stop -p "$VICTIM"
unharmed

# What is kept may be changed, while probes stay: threads that are there take it at once.
status 1 "$INJECT" filter -p "$VICTIM" -t 1ms
refused 'does not record by itself'
status 0 "$INJECT" start -p "$VICTIM" --max-overhead 100 -f 'step_*'
status 1 "$INJECT" filter -p "$VICTIM" -t 1ms
refused 'keeps all calls'
status 0 "$INJECT" stop -p "$VICTIM"
status 0 "$INJECT" start -p "$VICTIM" --max-overhead 100 -f 'step_*' -f nap_here -t 10s
tell nap '^nap$' >/dev/null
look
[ "$(field 6)" = 0 ] || die "not left out: $(cat trace.out)"
status 0 "$INJECT" filter -p "$VICTIM" -t 2ms
has_line 'by -t 2ms from now on; so far calls by -t 10s$' trace.err || die "says: $(cat trace.err)"
naps() { look; [ "$(field 6)" -gt "$1" ]; }
wait_until 30 naps 10 || die "the new time does not hold: $(cat trace.out)"
[ "$(field 10)" = "-t 2ms" ] || die "status: $(cat trace.out)"
shot naps
jq -es 'map(select(.type == "call" and .end == "return")) | length > 4 and
	all(.[]; .func == "nap_here" and .dur_ns >= 2000000)' naps.json >/dev/null || die "$(cat naps.json)"
status 0 "$INJECT" filter -p "$VICTIM" -t 10s
look
before=$(field 6)
sleep 0.3
look
[ "$(field 6)" -le $((before + 2)) ] || die "the old time holds: $before, $(cat trace.out)"
status 0 "$INJECT" filter -p "$VICTIM" -t 0
has_line 'keeps all calls from now on' trace.err || die "says: $(cat trace.err)"
tell run '^run ' >/dev/null
naps $((before + 1600000)) || die "not all are kept: $(cat trace.out)"
tell wake '^wake$' >/dev/null
status 0 "$INJECT" stop -p "$VICTIM"
unharmed

# In a file, which is there when the process has crashed.
status 0 "$INJECT" start -p "$VICTIM" --max-overhead 100 -f 'step_*' -f 'outer_*' -t 5ms -o kept
read -ra ANSWER <<<"$(tell run '^run ')"
status 0 "$INJECT" status -p "$VICTIM" --json
jq -es '.[0].min_duration_ns == 5000000' trace.out >/dev/null || die "JSON: $(cat trace.out)"
kill -SEGV "$VICTIM"
wait "$VICTIM" || true
status 0 "$INJECT" snapshot kept -o crashed
"$INJECT" replay --json crashed >crashed.json
judge crashed.json
