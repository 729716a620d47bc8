# SPDX-License-Identifier: MIT
# kinds_lib: tests of ordinary programs pass with programs that have no dynamic loader, or another
# C library. SOAK=1: all of them with each kind.
# shellcheck shell=bash disable=SC2154

KINDS_ALL="count_exact fork_children_cleaned attach_exec stop_after_kill9 attach_everything longjmp
	attach_sigaltstack waiting pthread_exit_cancel vfork_children signals_while_borrowed
	attach_churn attach_single command_whole command_same command_signals command_status
	command_killed hist"

# kind KIND TEST...: each in a directory and a process of its own.
kind()
{
	local kind=$1 test got tests=("${@:2}")

	[ -d "$BUILD/tests/victims/kinds/$kind" ] ||
		skip "no victims of kind $kind here: no musl-gcc, or tools/glibcs.sh has not brought it"
	# shellcheck disable=SC2206
	[ -z "${SOAK:-}" ] || tests=($KINDS_ALL)
	for test in "${tests[@]}"; do
		got=0
		mkdir "$kind-$test"
		(cd "$kind-$test" && KIND=$kind bash "$ROOT/tests/live/$test.sh") \
			>"$kind-$test.log" 2>&1 9>&- || got=$?
		[ $got = 0 ] || {
			tail -n 30 "$kind-$test.log"
			die "$test with victims of kind $kind: status $got"
		}
	done
}
