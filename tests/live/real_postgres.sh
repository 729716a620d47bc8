#!/bin/bash
# SPDX-License-Identifier: MIT
# real_postgres: a backend of Debian's PostgreSQL while pgbench keeps it busy:
# a pattern, then '*'.
# timeout: 180
# serial: it measures calls per second
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"
# shellcheck source=tests/real_lib.sh
. "$ROOT/tests/real_lib.sh"
# shellcheck source=tests/real_postgres.sh
. "$ROOT/tests/real_postgres.sh"

backend()
{
	"${as[@]}" "$bin/psql" -Atc "select pid from pg_stat_activity
		where application_name = 'pgbench' limit 1"
}

for args in "-f Exec*" "-f *" "-f * -f *@*"; do
	load "${as[@]}" "$pgbench" -n -S -c 2 -T 15
	pid=$(backend)
	[ -n "$pid" ] || die "no backend"
	set -f
	# shellcheck disable=SC2086
	trace_real "$pid" 2000 $args -o /dev/null
	set +f
	load_ended 'failed transactions: [1-9]|error:|fatal|aborted|lost'
done
clean "$server"
postgres_ends
