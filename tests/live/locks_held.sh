#!/bin/bash
# SPDX-License-Identifier: MIT
# locks_held: a thread sleeps with a lock that a dlopen or a new thread would want, until it is
# told (for a minute at most, or 40 where all is slow): in a constructor, or in a signal handler
# that has interrupted malloc, or the end of a thread. Calls are recorded within that time, a
# thread that wants no such lock is not kept from its work, and no thread or library of ours comes
# when the lock is free.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

[ "${PATIENCE:-1}" -lt 10 ] && seconds=60 || seconds=2400

gap() { tell gap '^gap'; }

for how in "$VICTIMS/slow.so" malloc stacks; do
	rm -f victim.in
	victim locks_held "$how" "$seconds"
	before=$(threads "$VICTIM")
	tell hold '^ok hold$' >/dev/null
	inject_until held_tick -p "$VICTIM" -f 'held_*'
	removed
	status 0 "$INJECT" hist -p "$VICTIM" -f 'held_*' -d 0.3
	removed
	now=$(gap)
	echo "${how##*/}: $now ms"
	[ "$(threads "$VICTIM")" = "$before" ] || die "${how##*/}: $(threads "$VICTIM") threads, not $before"
	case $now in
	*'no more') die "${how##*/}: it took longer than the lock was held" ;;
	esac
	[ "${now#gap }" -lt $((500 * ${PATIENCE:-1})) ] || die "${how##*/}: a thread stood still for ${now#gap } ms"
	tell free '^ok free$' >/dev/null
	[ "$(threads "$VICTIM")" = $((before - 1)) ] || die "${how##*/}: a thread came when the lock was free"
	! grep -q inject-payload "/proc/$VICTIM/maps" || die "${how##*/}: a library came when it was free"
	unharmed
	victim_quit
done
