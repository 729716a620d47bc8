#!/bin/bash
# SPDX-License-Identifier: MIT
# asks_in_stdio: the only thread waits for input inside of stdio, where it may not call
# dlopen. It is not stopped again and again to see that.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

# How often has it been stopped, or has it slept?
turns() { awk '/ctxt_switches/ { n += $2 } END { print n }' "/proc/$VICTIM/status"; }

victim asker
tell ping '^alive ' >/dev/null
before=$(turns)
inject_bg -p "$VICTIM" -f 'ask_*'
after=$(turns)
echo "stopped or asleep $((after - before)) times"
# Some 60 are the loans that map what is needed; each look was two more, 300 of them.
[ $((after - before)) -lt 300 ] || die "looked at too often"
tell again '^asked ' >/dev/null
inject_end
grep -q ask_answer trace.out || die "its calls are not seen"
unharmed
