#!/bin/bash
# SPDX-License-Identifier: MIT
# stops: a function that is nothing but ud2 (on arm64 brk #1000) is probed where its signal is not
# handled: it ends the process as it would, and the call is seen; a handler that is set later goes
# on behind it. Where the signal is handled, it stays.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

victim stopper
inject_bg -p "$VICTIM" -f stop_here
tell stop_handle '^handled' >/dev/null
tell stop_call '^called' >/dev/null
inject_end
traced stop_here
removed
tell stop_call '^called' >/dev/null
status 3 "$INJECT" -p "$VICTIM" -f stop_here -d 0.2
has_line 'cannot be moved' trace.err || die "does not say why"
victim_quit

victim stopper handles
status 3 "$INJECT" -p "$VICTIM" -f stop_here -d 0.2
tell stop_call '^called' >/dev/null
unharmed
victim_quit

victim stopper
WANT=4
inject_bg -p "$VICTIM" -f stop_here
echo stop_call >&9
inject_wait
traced stop_here
ended=0
wait "$VICTIM" || ended=$?
[ "$(uname -m)" = x86_64 ] && want=ILL || want=TRAP
[ "$ended" = $((128 + $(kill -l "$want"))) ] || die "it ended with $ended, not by SIG$want"
VICTIM=
