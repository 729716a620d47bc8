#!/bin/bash
# SPDX-License-Identifier: MIT
# aliases: a function of several names is probed once, and printed under the one
# that was given first; an indirect one is the function that is really called.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

victim aliases
status 0 "$INJECT" -p "$VICTIM" -f alias_third -f 'alias_*' -n 3000
has_line ': 2 of 2 functions probed' trace.err || die "not two functions"
traced alias_third
traced alias_none
has_line 'alias_first\|alias_second' trace.out && die "printed under another name"
removed
status 0 "$INJECT" -p "$VICTIM" -f choice -n 1000
has_line ': 1 of 1 functions\? probed' trace.err || die "not one function"
traced 'choice()'
removed
status 0 "$INJECT" list -p "$VICTIM" -f choice
[ "$(cut -f 4,7 trace.out)" = "choice	choice_taken" ] || die "$(cat trace.out)"
