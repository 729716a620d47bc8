#!/bin/bash
# SPDX-License-Identifier: MIT
# kinds: tests of ordinary programs pass with programs that have no dynamic
# loader, or the C library musl, or another version of glibc, in all their states;
# SOAK=1: all with all kinds.
# timeout: 600
# long: 60
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

# with "KIND..." TEST...
with()
{
	local kind test

	for kind in $1; do
		if [ ! -d "$BUILD/tests/victims/kinds/$kind" ]; then
			echo "no victims of kind $kind here: no musl-gcc, or tools/glibcs.sh has not brought it"
			continue
		fi
		for test in "${@:2}"; do
			one "$kind" "$test"
		done
	done
}

# In a directory and a process of its own.
one()
{
	local dir=$1-$2 got=0

	mkdir "$dir"
	(cd "$dir" && KIND=$1 bash "$ROOT/tests/live/$2.sh") >"$dir.log" 2>&1 9>&- || got=$?
	[ $got = 0 ] || {
		tail -n 30 "$dir.log"
		die "$2 with victims of kind $1: status $got"
	}
}

if [ -n "${SOAK:-}" ]; then
	with "static static_pie musl musl_static musl_static_pie glibc_2.31 glibc_2.41" count_exact \
		fork_children_cleaned attach_exec stop_after_kill9 attach_everything \
		longjmp attach_sigaltstack waiting pthread_exit_cancel vfork_children \
		signals_while_borrowed attach_churn attach_single command_whole \
		command_same command_signals command_status command_killed hist
	exit
fi
with "musl" count_exact pthread_exit_cancel fork_children_cleaned
with "static" attach_exec attach_single vfork_children command_status
with "static_pie" attach_everything longjmp
with "musl_static" stop_after_kill9 signals_while_borrowed attach_churn
with "musl_static_pie" attach_sigaltstack waiting
with "static musl musl_static_pie" command_whole
with "static musl" hist
with "glibc_2.31" attach_single attach_churn fork_children_cleaned vfork_children
with "glibc_2.41" count_exact stop_after_kill9 pthread_exit_cancel
