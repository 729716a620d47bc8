#!/bin/bash
# SPDX-License-Identifier: MIT
# attach_mlockall: what is mapped in a process that locks all its memory does
# not become resident as a whole; where its limit leaves no room, it is refused,
# but not for a page that it has locked.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

need_root
need setpriv prlimit

field() { sed -n "s/^$1:[^0-9]*\([0-9]*\).*/\1/p" "/proc/$VICTIM/status"; }

for kind in current future; do
	rm -f victim.in
	victim locks_memory $kind
	before=$(field VmRSS)
	for _ in 1 2; do
		inject_until lock_work -p "$VICTIM" -f 'lock_*'
		removed
	done
	grew=$(($(field VmRSS) - before))
	echo "$kind: $grew KiB more are resident"
	[ $grew -lt 65536 ] || die "$kind: $grew KiB more are resident"
done

# From now on: what an earlier visit has, and what grows behind it.
rm -f victim.in
victim locks_memory later
before=$(field VmRSS)
inject_until lock_work -p "$VICTIM" -f 'lock_*'
removed
tell lock '^lock 0' >/dev/null
for verb in trace hist; do
	inject_bg ${verb#trace} -p "$VICTIM" -f "lock_*" -o /dev/null
	grew=$(($(field VmRSS) - before))
	[ $grew -lt 65536 ] || die "$verb, later: $grew KiB more are resident"
	inject_end
	removed
done
victim_quit

# Without the capability to pass the limit. 8 MiB hold what the victim has, and
# nothing of ours.
for kind in current future page; do
	rm -f victim.in
	mkfifo victim.in
	: >victim.out
	prlimit --memlock=8388608:8388608 setpriv --bounding-set -ipc_lock --inh-caps -ipc_lock \
		"$VICTIMS/locks_memory" $kind <victim.in >victim.out 9>&- &
	VICTIM=$!
	started "$VICTIM"
	exec 9>victim.in
	wait_until 30 has_line '^ready$' victim.out || die "the victim is not ready"
	maps=$(wc -l <"/proc/$VICTIM/maps")
	if [ $kind = page ]; then
		inject_until lock_work -p "$VICTIM" -f 'lock_*'
		removed
		continue
	fi
	status 1 "$INJECT" -p "$VICTIM" -f 'lock_*'
	refused RLIMIT_MEMLOCK
	[ "$(wc -l <"/proc/$VICTIM/maps")" = "$maps" ] || die "$kind: something stays mapped"
	unharmed
done
