#!/bin/bash
# SPDX-License-Identifier: MIT
# text_moved: a program has moved its code to memory that is no file's, at the same
# address, as for huge pages. Nothing could vouch for it at the removal, so it is
# not probed.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

victim text_moved
status 0 "$INJECT" -p "$VICTIM" -f 'moved_*' -n 20 -o /dev/null
removed
tell check '^same$' >/dev/null
tell move '^moved$' >/dev/null
status 3 "$INJECT" -p "$VICTIM" -f 'moved_*' -d 1 -o /dev/null
has_line 'moved its code to other memory' trace.err || die "does not say why: $(cat trace.err)"
tell check '^same$' >/dev/null
unharmed
