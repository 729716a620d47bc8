#!/bin/bash
# SPDX-License-Identifier: MIT
# refuse_held: stop is refused while a live inject holds the target, and so is
# a second trace; --force overrides the former, and leaves the rings that the other one reads.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

size() { sed -n 's/^VmSize:[^0-9]*\([0-9]*\).*/\1/p' "/proc/$VICTIM/status"; }

victim spin_threads 2
inject_bg -p "$VICTIM" -f 'spin_*' -o /dev/null
first=$TRACER
"$INJECT" stop -p "$VICTIM" 2>stop.err && die "stop was not refused"
grep -q "$first" stop.err || die "does not name the holder"
"$INJECT" -p "$VICTIM" -f 'spin_*' -d 0.1 2>second.err && die "a second trace was not refused"
victim_works
"$INJECT" stop --force -p "$VICTIM" 2>stop.err || die "--force: status $?"
clean
[ "$(size)" -gt 1000000 ] || die "the rings are gone that an inject reads"
kill -INT "$first"
wait "$first" || true
unharmed
[ "$(size)" -lt 400000 ] || die "the rings are still there: $(size) kB"
