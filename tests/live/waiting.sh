#!/bin/bash
# SPDX-License-Identifier: MIT
# waiting: a service that waits in read, or for a lock, in three probed functions or
# in thirty. Calls that began before the attach end with their real exits. Calls that
# are open at the end are left as they are, at once: nothing of ours is on any stack,
# so that afterwards all code of ours may be forbidden, and each of them returns.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

code_mappings() { awk '$2 ~ /x/ { print $1 }' "/proc/$VICTIM/maps" | sort; }

victim waiting
code_mappings >before
inject_bg -p "$VICTIM" -f 'wait_*' --json -o calls.json
tell go '^gone' >/dev/null
inject_end
clean
[ "$(grep -c '"began_before":true' calls.json)" = 78 ] ||
	die "not 78 calls that began before: $(grep -c '"began_before":true' calls.json)"
[ "$(grep -v '"began_before"' calls.json | grep -c '"end":"open"')" = 78 ] ||
	die "not 78 calls left open"
[ "$(grep -c '"type":"call"' calls.json)" = 156 ] || die "other calls, too"

# All wait in calls that were entered while probed.
code_mappings | comm -13 before - >ours
[ -s ours ] || die "no code of ours is mapped"
while IFS=- read -r lo hi; do
	tell "forbid $lo $hi" '^forbidden$' >/dev/null
done <ours
tell go '^gone' >/dev/null
tell go '^gone' >/dev/null
victim_works
victim_quit
wait "$VICTIM" || die "the victim ended with status $?"
