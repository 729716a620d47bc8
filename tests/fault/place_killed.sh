#!/bin/bash
# SPDX-License-Identifier: MIT
# place_killed: inject is killed while the process maps its session: once it has a place
# that is far larger than the session, once there is more behind an earlier one. Whatever is
# mapped then is a session's, so that the next visit takes it away, or goes on there.
# timeout: 600
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

need_root
GIB=$((1 << 20))	# in KiB

vm_size() { awk '$1 == "VmSize:" { print $2 }' "/proc/$VICTIM/status"; }
session() { grep memfd:inject-session "/proc/$VICTIM/maps"; }

# How many KiB cannot be accessed, of no file? (What the loader is to lie in is a quarter
# of a MiB, and may be left.)
shut()
{
	local range access file sum=0 size

	while read -r range access _ _ _ file; do
		size=$(((16#${range#*-} - 16#${range%-*}) >> 10))
		if [ "${access#---}" != "$access" ] && [ -z "$file" ] && [ $size -ge 65536 ]; then
			sum=$((sum + size))
		fi
	done <"/proc/$VICTIM/maps"
	echo $sum
}

# killed_at N [ARG...]: before its N-th call of ptrace.
killed_at()
{
	local got=0

	timeout $((60 * ${PATIENCE:-1})) "$BUILD/tests/fault/failer" -o "${CALL[ptrace]}" -k -n "$1" -- \
		"$INJECT" -p "$VICTIM" -f 'single_*' -d 0.1 -o /dev/null "${@:2}" \
		>trace.out 2>trace.err 9>&- || got=$?
	[ $got = 137 ] || [ $got = 0 ] || die "status $got"
}

# kills STEP HIT [ARG...]: each STEP-th call, until some after the one where HIT is true.
kills()
{
	local n beyond=0 last=0

	hits=0
	for n in $(seq 1 "$1" 160); do
		killed_at "$n" "${@:3}"
		victim_works
		if "$2"; then
			hits=$((hits + 1))
			last=$n
		fi
		beyond=$((n - last))
		[ $hits = 0 ] || [ $beyond -lt 8 ] || break
	done
	[ $hits -gt 0 ] || die "no visit was killed where it matters"
}

visit()
{
	status 0 "$INJECT" -p "$VICTIM" -f 'single_*' -d 0.1 -o /dev/null "$@"
	removed
	[ "$(shut)" = "$shut" ] || die "$(shut) KiB are shut, not $shut"
}

victim single
shut=$(shut)
before=$(vm_size)
is_large() { [ $(($(vm_size) - before)) -gt $((7 * GIB)) ]; }
# Some calls in a row are made while it is; where all is slow half of them are taken.
[ "${PATIENCE:-1}" = 1 ] && step=1 || step=2
kills "$step" is_large
visit
[ $(($(vm_size) - before)) -lt $((4 * GIB)) ] || die "it takes $(($(vm_size) - before)) KiB"
victim_quit

victim single
shut=$(shut)
visit
[ "$(session | wc -l)" = 1 ] || die "not one session: $(session)"
before=$(vm_size)
is_behind() { [ "$(session | wc -l)" -gt 1 ]; }
kills 1 is_behind -m 16M
inject_bg -p "$VICTIM" -f 'single_*' -o /dev/null -m 16M
[ $(($(vm_size) - before)) -gt $((2 * GIB)) ] || die "it has not grown: $(session)"
inject_end
removed
[ "$(shut)" = "$shut" ] || die "$(shut) KiB are shut, not $shut"
[ "$(session | wc -l)" = 1 ] || die "not one session: $(session)"
[ $(($(vm_size) - before)) -lt $((GIB / 4)) ] || die "it keeps addresses: $(session)"
victim_quit
