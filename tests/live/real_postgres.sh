#!/bin/bash
# SPDX-License-Identifier: MIT
# real_postgres: a backend of Debian's PostgreSQL while pgbench keeps it busy:
# a pattern, then '*'.
# serial: it measures calls per second
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"
# shellcheck source=tests/real_lib.sh
. "$ROOT/tests/real_lib.sh"
# shellcheck source=tests/real_postgres.sh
. "$ROOT/tests/real_postgres.sh"

# One connection, which lasts until the load ends.
ask()
{
	while [ -e loading ]; do
		echo "select abalance from pgbench_accounts where aid = $((RANDOM + 1));"
	done | "${as[@]}" "$bin/psql" -qAt -v ON_ERROR_STOP=1 >/dev/null
}

backend()
{
	pid=$("${as[@]}" "$bin/psql" -Atc "select pid from pg_stat_activity
		where application_name = 'psql' and pid <> pg_backend_pid() limit 1")
	[ -n "$pid" ]
}

for args in "-f Exec*" "-f *" "-f * -f *@*"; do
	load ask
	wait_until 20 backend || die "no backend"
	set -f
	# shellcheck disable=SC2086
	trace_real "$pid" 20000 $args -o /dev/null
	set +f
	load_ended 'failed transactions: [1-9]|error:|fatal|aborted|lost'
done
clean "$server"
postgres_ends
