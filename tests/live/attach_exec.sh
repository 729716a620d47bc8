#!/bin/bash
# SPDX-License-Identifier: MIT
# attach_exec: the target execs while traced: the probes are gone with its
# text, the new program is not touched, and that is the target's end for us.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

victim execer
inject_bg -p "$VICTIM" -f 'exec_*' -o /dev/null
tell exec '^ready$' >/dev/null
got=0
wait "$TRACER" || got=$?
[ $got = 4 ] || die "status $got, not 4"
unharmed
status 0 "$INJECT" -p "$VICTIM" -f 'exec_*' -d 0.3
removed
