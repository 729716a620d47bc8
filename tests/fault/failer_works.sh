#!/bin/bash
# SPDX-License-Identifier: MIT
# failer_works: the tool of the fault tests fails the call that it is told to,
# counts the rest, follows children, and kills.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

failer=$BUILD/tests/fault/failer
count() { sed -n 's/^failer: \([0-9]*\) .*/\1/p' trace.err; }

status 0 "$failer" -- true
total=$(count)
[ "$total" -gt 5 ] || die "counted $total"
status 0 "$failer" -- sh -c 'true; /bin/true; exit 0'
[ "$(count)" -gt "$total" ] || die "children are not counted"
# The write of `echo` is its last call that can fail.
status 0 "$failer" -a /nowhere -- cat /dev/null
[ "$(count)" = 0 ] || die "counts without -a's path"
status 0 "$failer" -a /dev/null -- cat /dev/null
status 1 "$failer" -a /dev/null -n 1 -e 5 -- cat /dev/null
grep -q 'Input/output error' trace.err || die "the error does not arrive"
status 137 "$failer" -a /dev/null -n 1 -k -- cat /dev/null
