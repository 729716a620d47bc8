#!/bin/bash
# SPDX-License-Identifier: MIT
# journal_forged: an injector was killed, and its journal lies. Stop never says
# that all is well while a jump stands, and tells where one does; with the true
# journal it brings the target back.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

forge() { "$BUILD/tests/tools/forge" "$VICTIM" "$@"; }

victim spin_threads 2
inject_bg -p "$VICTIM" -f 'spin_*' -o /dev/null
kill -KILL "$TRACER"
wait "$TRACER" || true
forge save journal
for lie in addr near state old count magic; do
	forge $lie
	status 5 "$INJECT" stop -p "$VICTIM"
	grep -q "differs from its file at 0x" trace.err || die "$lie: does not tell where"
	! has_line 'text verified' trace.err || die "$lie: says verified"
	"$TEXTCHECK" -t "$VICTIM" >textcheck.out && die "$lie: there was no probe to miss"
	victim_works
	# Nor does a new visit take them for foreign ones.
	status 1 "$INJECT" -p "$VICTIM" -f 'count_*' -d 0.1
	forge load journal
done
status 0 "$INJECT" stop -p "$VICTIM"
unharmed
# A journal that is damaged when nothing stands does no harm.
forge count
status 0 "$INJECT" stop -p "$VICTIM"
has_line 'text verified' trace.err
unharmed
