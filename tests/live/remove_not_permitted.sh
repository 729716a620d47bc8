#!/bin/bash
# SPDX-License-Identifier: MIT
# remove_not_permitted: a user traces a process of his own, which then forbids
# it. He is told that probes remain; root's `stop` removes them.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

as_nobody changer
victim changer
INJECT_ROOT=$INJECT
INJECT=${AS[0]}
inject_bg "${AS[@]:1}" "$VICTIMS/inject" -p "$VICTIM" -f 'change_*' -o /dev/null
tell undump '^done undump' >/dev/null
WANT=5 inject_end
has_line 'PROBES REMAIN' trace.err || die "not said that probes remain"
victim_works
status 0 "$INJECT_ROOT" stop -p "$VICTIM"
unharmed
