#!/bin/bash
# SPDX-License-Identifier: MIT
# record_room: a recording without a limit says what it may come to take, and leaves a share of
# the disk to others, whatever fills it.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

need_root
need babeltrace2
tidy() { umount -l disk 2>/dev/null; }
mkdir disk
mount -t tmpfs -o size=16m tmpfs disk 2>mount.err || skip "no tmpfs can be mounted here"
victim spin_threads 2

free_kib() { df --output=avail -k disk | tail -n 1 | tr -d ' '; }

# ended DIR MIB: it ended by itself, with so much left, and not much more.
ended()
{
	wait "$TRACER" || die "to leave room is an error: $(cat trace.err)"
	has_line "^inject: $1 ends here: its disk has only [0-9.]* MiB left (--min-free)" trace.err ||
		die "not said why it ended"
	removed
	[ "$(free_kib)" -ge $(($2 * 1024 - 64)) ] || die "$(free_kib) KiB are left, not $2 MiB"
	status 0 "$INJECT" report "$1"
	has_line "^inject: $1 was ended because its disk had only [0-9.]* MiB left" trace.err ||
		die "report does not say so: $(cat trace.err)"
	[ "$(grep -c '^inject: ' trace.err)" = 1 ] || die "more is said: $(cat trace.err)"
}

# So small a disk is taken to its half.
inject_bg record -p "$VICTIM" -f 'count_*' -o disk/t
grep -q 'a call takes 16 bytes: a million a second are 915.5 MiB in a minute' trace.err ||
	die "not said beforehand: $(cat trace.err)"
grep -q 'of 16.0 MiB that are free on the disk, 8.0 MiB stay free' trace.err ||
	die "not said beforehand: $(cat trace.err)"
[ "$(grep -n 'stay free' trace.err | cut -d: -f1)" -lt "$(grep -n 'paused' trace.err | cut -d: -f1)" ] ||
	die "said afterwards"
tell count '^ok count' >/dev/null
ended disk/t 8
traced count_leaf
[ "$(free_kib)" -lt $((10 * 1024)) ] || die "it ended too early"
babeltrace2 disk/t >bt.out 2>bt.err || die "babeltrace2 fails: $(head -n 3 bt.err)"
rm -r disk/t

# As much as one wants; with a limit to the size, too.
inject_bg record -p "$VICTIM" -f 'count_*' -o disk/t --max-size 1G --min-free 12M
! grep -q 'a call takes' trace.err || die "there is a limit: $(cat trace.err)"
tell count '^ok count' >/dev/null
ended disk/t 12
rm -r disk/t

# Others fill the disk.
inject_bg record -p "$VICTIM" -f count_leaf -o disk/t
head -c 9M /dev/zero >disk/others
wait "$TRACER" || die "to leave room is an error: $(cat trace.err)"
has_line 'disk/t ends here: its disk has only [0-8][.][0-9] MiB left' trace.err || die "$(cat trace.err)"
removed
