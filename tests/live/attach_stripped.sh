#!/bin/bash
# SPDX-License-Identifier: MIT
# attach_stripped: names from .dynsym alone, then from nothing but .eh_frame.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

victim stripped 2
status 0 "$INJECT" -p "$VICTIM" -f 'spin_*' -d 0.3
traced spin_leaf
removed
victim_quit

victim nameless 2
"$INJECT" list -p "$VICTIM" -f 'fn_*' >list.out
[ "$(wc -l <list.out)" -ge 10 ] || die "few functions found without names"
status 0 "$INJECT" -p "$VICTIM" -f 'fn_*' -d 0.3
traced 'fn_[0-9a-f]*@nameless()'
status 0 "$INJECT" -p "$VICTIM" -f 'fn_*' -n 5 --json
traced '"func":"fn_[0-9a-f]*","module":"nameless"'
removed
