#!/bin/bash
# SPDX-License-Identifier: MIT
# fork_children_cleaned: children forked while the probes were in have them in
# their own text; they run on, and are cleaned with their parent.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

victim forker
inject_bg -p "$VICTIM" -f 'fork_*' -o /dev/null
one=$(tell fork '^child' | cut -d' ' -f2)
two=$(tell fork '^child' | cut -d' ' -f2)
sleep 0.2
inject_end
removed
clean "$one"
clean "$two"
tell reap '^reaped 2'
unharmed
