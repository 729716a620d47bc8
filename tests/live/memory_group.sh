#!/bin/bash
# SPDX-License-Identifier: MIT
# memory_group: in a control group whose memory is used up, a process is
# refused before anything is mapped; not so where what fills the group is page
# cache, which the kernel gives back: in its own group or in the one above.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

need_root
need python3
LIMIT=$((64 << 20))
OUTER=''
INNER=''

# By either hierarchy: where the controller is decides the files' names.
make_groups()
{
	local top

	if grep -q '^[0-9]*:memory:' /proc/self/cgroup; then
		top=/sys/fs/cgroup/memory
		MAX=memory.limit_in_bytes
		USED=memory.usage_in_bytes
	else
		top=/sys/fs/cgroup
		MAX=memory.max
		USED=memory.current
	fi
	OUTER=$top/inject-test-$$
	mkdir "$OUTER" 2>/dev/null || { OUTER=''; skip "no control groups can be made here"; }
	[ -e "$OUTER/$MAX" ] || skip "no memory controller here"
	[ ! -e "$OUTER/cgroup.subtree_control" ] || echo +memory >"$OUTER/cgroup.subtree_control"
	INNER=$OUTER/inner
	mkdir "$INNER"
	echo $LIMIT >"$OUTER/$MAX"
}

tidy()
{
	local pid

	for pid in "${!STARTED[@]}"; do
		while kill -0 "$pid" 2>/dev/null; do sleep 0.02; done
	done
	[ -z "$INNER" ] || rmdir "$INNER"
	[ -z "$OUTER" ] || rmdir "$OUTER"
}

used() { cat "$OUTER/$USED"; }

victim_inside()
{
	rm -f victim.in
	victim "$@"
	echo "$VICTIM" >"$INNER/cgroup.procs"
}

make_groups
victim_inside spin_threads 2

# Page cache, to the limit of the outer group. It is charged to the inner one,
# which reads what was cold.
head -c $((LIMIT + (16 << 20))) /dev/zero >big
dd if=/dev/null of=big conv=notrunc,fdatasync oflag=nocache status=none
dd if=big iflag=nocache count=0 status=none
(echo $BASHPID >"$INNER/cgroup.procs" && exec cat big >/dev/null)
echo "$(used) of $LIMIT used by the cache"
if [ "$(used)" -gt $((LIMIT - (4 << 20))) ]; then
	status 0 "$INJECT" -p "$VICTIM" -f 'spin_*' -d 0.1
	removed
else
	echo "(this file system's cache is not counted)"
fi

# Memory that cannot be given back, in the same group.
hold=$((LIMIT * 3 / 4))
(echo $BASHPID >"$INNER/cgroup.procs" && exec 9>&- &&
	exec python3 -c "
import time
b = bytearray($hold)
print('held', flush=True)
time.sleep(600)") >hold.out &
started "$!"
wait_until 20 has_line held hold.out || die "cannot fill the group"
victim_inside spin_threads 2
maps=$(wc -l <"/proc/$VICTIM/maps")
status 1 "$INJECT" -p "$VICTIM" -f 'spin_*'
refused 'memory group'
[ "$(wc -l <"/proc/$VICTIM/maps")" = "$maps" ] || die "something was mapped"
unharmed
