#!/bin/bash
# SPDX-License-Identifier: MIT
# record_full: a full disk, a size that is reached, and one that is kept by dropping the
# oldest. What is there can be read, and the target does not notice.
# timeout: 360
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

need_root
need babeltrace2
tidy() { umount -l disk 2>/dev/null; }
mkdir disk
mount -t tmpfs -o size=1m tmpfs disk 2>mount.err || skip "no tmpfs can be mounted here"
victim spin_threads 2

WANT=1
inject_bg record -p "$VICTIM" -f 'count_*' -o disk/t --min-free 0
has_line 'recording goes on until the disk is full' trace.err || die "it is not said beforehand"
tell count '^ok count' >/dev/null
wait "$TRACER" && die "a full disk is no error" || [ $? = 1 ] || die "not status 1"
WANT=0
grep -q 'write disk/t/.*: No space left on device' trace.err || die "the disk is not named"
tell end '^counted' >/dev/null
removed
status 0 "$INJECT" report disk/t
has_line 'disk/t was ended by an error: No space left on device' trace.err ||
	die "$(cat trace.err)"
! grep -q killed trace.err || die "$(cat trace.err)"
traced count_leaf
babeltrace2 disk/t >bt.out 2>bt.err || die "babeltrace2 fails: $(head -n 3 bt.err)"
umount disk

# bounded NAME OPTION...: 2 MiB and no more.
bounded()
{
	inject_bg record -p "$VICTIM" -f 'count_*' -o "$1" --max-size 2M "${@:2}"
	tell count '^ok count' >/dev/null
}

bounded capped
wait "$TRACER" || die "a size that is reached is an error"
grep -q 'capped has reached the size of --max-size' trace.err || die "not said why it ended"
tell end '^counted' >/dev/null
removed
[ "$(cat capped/stream_* | wc -c)" -le 2097152 ] || die "it is larger"
status 0 "$INJECT" report capped
traced count_leaf

bounded turning --rotate
dropped() { compgen -G 'turning/stream_*' >/dev/null && ! compgen -G 'turning/stream_*_0' >/dev/null; }
wait_until 20 dropped || die "nothing is dropped"
tell end '^counted' >/dev/null
inject_end
removed
[ "$(cat turning/stream_* | wc -c)" -le 2097152 ] || die "it is larger"
status 0 "$INJECT" info turning
grep -q '^rotated	yes' trace.out || die "info does not say so"
status 0 "$INJECT" report turning
[ ! -s trace.err ] || die "report complains"
babeltrace2 turning >bt.out 2>bt.err || die "babeltrace2 fails: $(head -n 3 bt.err)"
