# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# real_postgres: start a PostgreSQL of our own, as a user that may run it.
# Sourced after real_lib.sh. Sets server (the postmaster), bin, pgbench, as (a
# prefix for clients).

bin=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -V | tail -n 1)
[ -x "$bin/initdb" ] || skip "no PostgreSQL here"
pgbench=$(PATH=$bin:$PATH command -v pgbench) || skip "no pgbench here"
home=$(mktemp -d /tmp/inject-pg-XXXXXX)
as=()
if [ "$(id -u)" = 0 ]; then
	# It refuses to run as root.
	chown 65534:65534 "$home"
	as=(setpriv --reuid=65534 --regid=65534 --clear-groups)
fi
as+=(env "HOME=$home" "PGHOST=$home" PGUSER=bench PGDATABASE=postgres LC_ALL=C)
tidy() { rm -rf "$home"; }

"${as[@]}" "$bin/initdb" -U bench -A trust -D "$home/data" >initdb.log 2>&1
(cd "$home" && exec "${as[@]}" "$bin/postgres" -D "$home/data" -k "$home" \
	-c listen_addresses= -c fsync=off -c max_connections=40) >postgres.err 2>&1 &
server=$!
started "$server"
up() { "${as[@]}" "$bin/psql" -c "select 1" >/dev/null 2>&1; }
wait_until 20 up || die "PostgreSQL does not answer"
"${as[@]}" "$pgbench" -i -q -s 1 >pgbench.log 2>&1

# No process of it complained, and it ends as it should.
postgres_ends()
{
	# (A client that comes too early is told so, with FATAL.)
	if grep -E "PANIC|FATAL|was terminated" postgres.err |
		grep -v 'is starting up'; then
		die "PostgreSQL complains"
	fi
	kill -INT "$server"
	wait "$server" || die "PostgreSQL ended with status $?"
}
