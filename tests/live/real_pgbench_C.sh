#!/bin/bash
# SPDX-License-Identifier: MIT
# real_pgbench_C: the postmaster, which forks a backend for every transaction
# (pgbench -C): children with probes that do nothing, and are cleaned.
# serial: it measures connections
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"
# shellcheck source=tests/real_lib.sh
. "$ROOT/tests/real_lib.sh"
# shellcheck source=tests/real_postgres.sh
. "$ROOT/tests/real_postgres.sh"

# Connections that stay open meanwhile were forked before, some during.
for args in "-f *PostmasterChild* -f StreamConnection" "-f *"; do
	load "${as[@]}" "$pgbench" -n -C -S -c 4 -T 3
	set -f
	# shellcheck disable=SC2086
	trace_real "$server" 100 $args -o /dev/null
	set +f
	# Every child, whenever it was forked.
	read -ra children <"/proc/$server/task/$server/children" || true
	for child in "${children[@]}"; do
		got=0
		"$TEXTCHECK" "$child" >textcheck.out 2>&1 || got=$?
		[ $got = 0 ] || [ $got = 77 ] || { cat textcheck.out; die "a child is not clean"; }
	done
	load_ended 'failed transactions: [1-9]|error:|fatal|aborted|lost'
done
clean "$server"
postgres_ends
