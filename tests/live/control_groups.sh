#!/bin/bash
# SPDX-License-Identifier: MIT
# control_groups: a frozen group's process is refused by name, and what is frozen while
# it is traced is restored when it is thawed, in both versions; with a twentieth of a
# processor it is traced within the pause allowed; where it may start no thread, none is
# tried.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

need_root

# group CONTROLLER FILE...: one that has a FILE, in the hierarchy of one controller, or
# in one of version 2.
group()
{
	local dir file

	for dir in "/sys/fs/cgroup/$1" /sys/fs/cgroup /sys/fs/cgroup/unified; do
		GROUP=$dir/inject-$1-$$
		[ -e "$dir/cgroup.procs" ] || continue
		mkdir "$GROUP" 2>/dev/null || continue
		GROUPS_MADE+=("$GROUP")
		for file in "${@:2}"; do
			[ ! -e "$GROUP/$file" ] || return 0
		done
	done
	return 1
}

tidy()
{
	local g

	for g in "${GROUPS_MADE[@]}"; do
		set_frozen 0 "$g" 2>/dev/null
		wait_until 30 rmdir "$g" 2>/dev/null
	done
}

GROUPS_MADE=()
# set_frozen 0|1 GROUP
set_frozen()
{
	local word=(THAWED FROZEN)

	if [ -e "$2/freezer.state" ]; then
		echo "${word[$1]}" >"$2/freezer.state"
	else
		echo "$1" >"$2/cgroup.freeze"
	fi
}

frozen() { has_line FROZEN "$1/freezer.state" || has_line 'frozen 1' "$1/cgroup.events"; }
thawed() { ! frozen "$1"; }
join() { echo "$1" >"$GROUP/cgroup.procs"; }
leave() { echo "$1" >"${GROUP%/*}/cgroup.procs"; }

# What freezes while it is traced.
freezes()
{
	ran=1
	inject_bg -p "$VICTIM" -f 'spin_*' -o /dev/null
	join "$VICTIM"
	set_frozen 1 "$GROUP"
	wait_until 30 frozen "$GROUP" || die "it does not freeze"
	status 1 timeout 100 "$INJECT" stop -p "$VICTIM" --force
	refused 'its control group is frozen'
	if [ -e "$GROUP/freezer.state" ]; then
		WANT=5 inject_end
		has_line 'PROBES REMAIN.* is frozen; thaw that first' trace.err || die "not said why it remains"
	else			# in version 2 threads that are frozen can be stopped
		inject_end
		has_line 'all probes removed, text verified' trace.err || die "not removed"
	fi
	status 1 "$INJECT" -p "$VICTIM" -f 'spin_*'
	refused 'its control group is frozen'
	set_frozen 0 "$GROUP"
	wait_until 30 thawed "$GROUP"
	leave "$VICTIM"
	status 0 "$INJECT" stop -p "$VICTIM"
	unharmed
}

victim spin_threads 2
if group freezer freezer.state; then
	freezes
fi
if group freezer2 cgroup.freeze; then
	freezes
fi

if group cpu cpu.cfs_quota_us cpu.max; then
	ran=1
	if [ -e "$GROUP/cpu.max" ]; then
		echo 5000 100000 >"$GROUP/cpu.max"
	else
		echo 5000 >"$GROUP/cpu.cfs_quota_us"
	fi
	join "$VICTIM"
	for _ in 1 2 3; do
		status 0 "$INJECT" -p "$VICTIM" -f 'spin_*' -o /dev/null -d 0.5
		removed
	done
fi
victim_quit

rm -f victim.in
victim spin_threads 2
if group pids pids.max pids.max; then
	ran=1
	join "$VICTIM"
	echo 3 >"$GROUP/pids.max"
	status 0 "$INJECT" -p "$VICTIM" -f 'spin_*' -d 0.3
	traced spin_leaf
	removed
	! grep -q '^max [1-9]' "$GROUP/pids.events" || die "a thread was tried against the limit"
fi
[ -n "${ran:-}" ] || skip "no control groups can be made here"
