#!/bin/bash
# SPDX-License-Identifier: MIT
# attach_libraries: every function of the C library, the loader, libstdc++, libm
# and libgcc_s, and every call into them, while threads throw, jump, switch
# stacks, fork, take signals, load and unload.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

victim libraries
for f in '*@libc.so*' '*@ld-linux*' '*@libstdc++*' '*@libm.so*' '*@libgcc_s*' '*@plt'; do
	status 0 "$INJECT" -p "$VICTIM" -f "$f" -d 0.5 -o /dev/null --max-pause 2s
	[ "$(closing functions)" -gt 10 ] || die "$f: hardly anything was probed"
	[ "$(closing calls)" -gt 0 ] || die "$f: no call"
	removed
done
status 0 "$INJECT" -p "$VICTIM" -f '*' -f '*@*' -d 0.5 -o /dev/null --max-pause 5s
removed
