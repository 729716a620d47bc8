#!/bin/bash
# SPDX-License-Identifier: MIT
# transfers_short: transfers that a stop has cut short cannot be repaired, so
# they are counted: neither more nor less of them than the target has seen.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

said() { sed -n 's/^inject: \([0-9]*\) transfers\? .* ended early .*/\1/p' trace.err; }

seen() { tell report '^short ' | cut -d' ' -f2; }

# A thread that was cut short needs a moment to note it. Of one that was at work arm64's kernel does
# not tell in which call it was.
agreed()
{
	[ "$(seen)" = "$SAID" ] ||
		{ [ "$(uname -m) $1" = "aarch64 working" ] && [ "$(seen)" -ge "$SAID" ]; }
}

# visits WHICH N LEAST: N visits, which cut LEAST transfers or more.
visits()
{
	local n

	victim transfers "$1"
	SAID=0
	for n in $(seq "$2"); do
		status 0 "$INJECT" -p "$VICTIM" -f 'transfers_*' -d 0.1 -o /dev/null
		n=$(said)
		SAID=$((SAID + ${n:-0}))
	done
	wait_until 20 agreed "$1" || die "$1: said $SAID, seen $(seen)"
	[ "$SAID" -ge "$3" ] || die "$1: only $SAID were cut short"
	unharmed
	victim_quit
	echo "$1: $SAID"
}

# 17 rows wait; an 18th, if io_uring is there.
visits waiting 1 17
visits working 2 "$([ "$(uname -m)" = aarch64 ] && echo 0 || echo 1)"
visits natural 4 0
