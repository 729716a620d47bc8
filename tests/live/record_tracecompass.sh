#!/bin/bash
# SPDX-License-Identifier: MIT
# record_tracecompass: the analysis for Trace Compass finds every call of a recording,
# of threads, of fibers that go from thread to thread, and of calls that are left by
# longjmp, and each ends where it is said to end; in the directory as it was recorded,
# and in that of export --to ctf, where no two events of a thread are at the same time.
# timeout: 600
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

need python3

# judge DIRECTORY: the calls of each function, as we count them and as the analysis does.
judge()
{
	status 0 "$INJECT" report "$1"
	awk '!/^#/ { print $5 " " $NF }' trace.out | sort >reported
	python3 "$ROOT/tests/formats/tracecompass.py" "$ROOT/share/tracecompass.xml" "$1" \
		>analysed || die "the analysis fails"
	grep -v ' open$' analysed | sort | diff reported - >diff.out ||
		die "other calls: $(head -n 4 diff.out)"
	[ -s reported ] || die "no calls"
}

for subject in 'spin_threads spin_*' 'fibers fib_*' 'longjmper *'; do
	victim "${subject% *}"
	status 0 "$INJECT" record -p "$VICTIM" -f "${subject#* }" --max-size 1M
	removed
	judge inject.data
	status 0 "$INJECT" export --to ctf
	cp reported before
	judge ctf.data
	cmp -s before reported || die "other calls than were recorded: $(diff before reported | head -n 4)"
	victim_quit
	rm -r inject.data ctf.data
done
