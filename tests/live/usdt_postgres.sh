#!/bin/bash
# SPDX-License-Identifier: MIT
# usdt_postgres: statements that PostgreSQL hands to its places for tracers are those that its own
# log has; and numbers of its other places are as they are documented.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"
# shellcheck source=tests/real_lib.sh
. "$ROOT/tests/real_lib.sh"
# shellcheck source=tests/real_postgres.sh
. "$ROOT/tests/real_postgres.sh"

"$INJECT" list --usdt='postgresql:query__start' "$(readlink -f "/proc/$server/exe")" >/dev/null 2>&1 ||
	skip "this PostgreSQL has no places for tracers"

# A connection that stays: what comes from the fifo is one statement a line.
mkfifo asked
"${as[@]}" "$bin/psql" -qAt <asked >answers 2>errors 9>&- &
client=$!
exec 8>asked
echo 'select pg_backend_pid();' >&8
wait_until 20 test -s answers || die "no backend"
backend=$(head -n 1 answers)

inject_bg -p "$backend" --usdt 'postgresql:query__start' --usdt 'postgresql:query__done' \
	--usdt 'postgresql:transaction__commit' --usdt 'postgresql:sort__*' -s 200
echo 'set log_statement = '"'all';" >&8
for i in $(seq 40); do
	echo "select count(*), '$i \"quoted\"' from pgbench_accounts where aid < $((i * 7));"
	[ $((i % 10)) != 0 ] || echo "select aid from pgbench_accounts order by abalance, bid limit $i;"
	[ $((i % 9)) != 0 ] || echo "select no_such_column_$i;"
done >&8
echo "select 'the end';" >&8
wait_until 60 has_line '^the end$' answers || die "the server does not answer"
inject_end
has_line 'all probes removed, text verified' trace.err || die "not removed"
clean "$backend"
exec 8>&-
wait $client || true

# The log has them behind "statement: ".
sed -n 's/^.*\(LOG\): *statement: //p' postgres.err | sed 's/[\\"]/\\&/g' >want
sed -n 's/^.*postgresql:query__start(query="\(.*\)");$/\1/p' trace.out | tail -n +2 >got
[ "$(wc -l <want)" -gt 40 ] || { tail -n 5 postgres.err; die "the log has $(wc -l <want) statements"; }
cmp want got || { diff want got | sed 20q; die "statements are others than in the log"; }
# Those that fail are not done.
grep -v no_such want >done.want
sed -n 's/^.*postgresql:query__done(query="\(.*\)");$/\1/p' trace.out | tail -n +2 >got
cmp done.want got || { diff done.want got | sed 20q; die "others are done than in the log"; }
[ "$(grep -c 'sort__start(kind=0, unique=false, keys=2,' trace.out)" = 4 ] ||
	{ grep sort__ trace.out | head; die "sorts are others"; }
echo "$(wc -l <want) statements"
postgres_ends
