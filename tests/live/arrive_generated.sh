#!/bin/bash
# SPDX-License-Identifier: MIT
# arrive_generated: made-up programs with indirect jumps of every kind, planned and run:
# nothing that we change is where control arrives, and nothing ends where it goes on.
# timeout: 1200
# long: 90
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

need python3 as ld gcc
[ "$(uname -m)" = x86_64 ] || skip "writes code of x86-64"
arrive=$ROOT/tests/arrive
check=$BUILD/tests/arrive/check
export PYTHONDONTWRITEBYTECODE=1

# Always the same: others are made by ARRIVE_SEEDS, or by the programs themselves
# (`tests/arrive/static.py -n 100000 -s SEED`). The last lines tell how to make one again.
for s in ${ARRIVE_SEEDS:-1 2}; do
	echo "seed $s"
	nice -n 5 python3 "$arrive/static.py" "$check" -n "${ARRIVE_PLANS:-3000}" -s "$s" \
		--brief >static.out || { tail -n 40 static.out; die "plans of seed $s"; }
	tail -n 1 static.out
	nice -n 5 python3 "$arrive/frames.py" "$check" -n "${ARRIVE_FRAMES:-2000}" -s "$s" >frames.out ||
		{ tail -n 40 frames.out; die "words of frames of seed $s"; }
	tail -n 1 frames.out
	nice -n 5 python3 "$arrive/live.py" "$BUILD" -n "${ARRIVE_RUNS:-12}" -s "$s" >live.out ||
		{ tail -n 40 live.out; die "programs of seed $s"; }
	tail -n 1 live.out
done

# Places that only the relocations of another library name.
nice -n 5 python3 "$arrive/live.py" "$BUILD" -n 4 -s 1 --what foreign >foreign.out ||
	{ tail -n 40 foreign.out; die "programs that go into another library"; }
tail -n 1 foreign.out
