#!/bin/bash
# SPDX-License-Identifier: MIT
# exceptions_million: a million exceptions, each through four probed frames: all
# are caught and all destructors run, as without probes. What they take in
# processor time is told, not judged. Each call that was left is shown so.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

# throws N: the answer, but for the time.
throws()
{
	local got

	got=$(tell "throw $1" '^threw' 100)
	echo "$got" >&2
	echo "${got% in *}"
}

victim throwers
many=$(fewer 1000000 100000)
[ "$(throws "$many")" = "threw $many destroyed $((4 * many))" ] || die "not without probes either"
inject_bg -p "$VICTIM" -f 'throwers::*' -o /dev/null
[ "$(throws "$many")" = "threw $many destroyed $((4 * many))" ] || die "not the same with probes"
inject_end
removed
# Those of this thread, one by one, where none is lost.
inject_bg -p "$VICTIM" --tid "$VICTIM" -f 'throwers::leap' --json -o calls.json
throws 5000 >/dev/null
inject_end
removed
[ "$(closing lost)" = 0 ] || skip "calls were lost: it is not known which"
# The last one's four are known to be gone when the next call comes: none does.
ended() { grep -c '"end":"'"$1"'".*"tid":'"$VICTIM"',' calls.json || true; }
got="$(ended unwound) unwound, $(ended open) open, $(ended return) returned"
[ "$got" = "19996 unwound, 4 open, 0 returned" ] || die "of 20000 calls: $got"
