#!/bin/bash
# SPDX-License-Identifier: MIT
# real_redis_suite: the test suite of redis passes while inject attaches to each
# server that it starts: to all functions until that ends, and again and again.
# With SOAK all of the suite. Its sources are brought by tools/suites.sh.
# serial: the suite measures times
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

need redis-server redis-cli redis-benchmark tclsh
SUITE=$BUILD/suites/redis
[ -d "$SUITE" ] || skip "no sources of redis here: tools/suites.sh brings them"
server=$(readlink -f "$(command -v redis-server)")

# It runs what is in src. Our server keeps the suite's PID, for that is what it
# stops, continues and kills; its visitor is no child of it.
cp -R "$SUITE/runtest" "$SUITE/tests" .
mkdir src logs
for p in redis-cli redis-benchmark redis-check-aof redis-check-rdb; do
	ln -s "$(command -v $p)" src/$p
done
export INJECT HERE=$PWD SERVER=$server LC_ALL=C
cat >src/redis-server <<'S'
#!/bin/bash
set -f
visit()
{
	local pid=$1 status=0

	until [ "$(readlink "/proc/$pid/exe")" = "$SERVER" ]; do
		kill -0 "$pid" 2>/dev/null || { echo end; exit; }
		sleep 0.01
	done
	while [ $status != 4 ] && kill -0 "$pid" 2>/dev/null; do
		status=0
		# shellcheck disable=SC2086
		"$INJECT" -q -p "$pid" $VISIT -o /dev/null || status=$?
		echo "status $status"
		sleep 0.02
	done
	echo end
}
[ -z "$VISIT" ] || (visit $$ </dev/null >>"$HERE/logs/$$" 2>&1 &)
exec -a redis-server "$SERVER" "$@"
S
chmod +x src/redis-server

# run_unit UNIT: its verdict; each of two at a time.
run_unit() { timeout 2000 ./runtest --clients 2 --single "$1" >run.out 2>&1; }

visitors_gone() { [ "$(ls logs | wc -l)" = "$(cat logs/* /dev/null | grep -c '^end$')" ]; }

# What visitors may meet: a server that ends, is stopped by the suite, or is for
# once in no safe place. Never code that differs, or probes that stay.
judge_visits()
{
	wait_until 60 visitors_gone || die "a visitor does not end"
	cat logs/* >visits 2>/dev/null || true
	if grep -E 'status ([235]|[0-9]{2})|differs|REMAIN|kernel thread' visits; then
		die "a visit during $1 ended badly"
	fi
	echo "$1, $VISIT: $(grep -c 'status 0' visits || true) whole visits," \
		"$(grep -c 'status 4' visits || true) to the end," \
		"$(grep -c 'status 1' visits || true) in vain"
	rm -f logs/*
}

# A unit that fails alone, too, says nothing of us; one that fails once, on a busy
# machine, little.
unit()
{
	local try

	for try in 1 2 3; do
		! VISIT=$2 run_unit "$1" || break
		VISIT="" run_unit "$1" || { echo "$1 fails by itself"; rm -f logs/*; return 0; }
		[ $try -lt 3 ] || { grep -aE 'err|exception' run.out; die "$1 fails with $2"; }
		echo "$1 has failed once with $2"
	done
	VISIT=$2 judge_visits "$1"
}

units="unit/type/hash"
[ -z "${SOAK:-}" ] || units=$(./runtest --list-tests)
for u in $units; do
	for v in "-f *" "-f *@libc.so* -f *@libstdc++*" "-f * -f *@* -d 50ms"; do
		unit "$u" "$v"
	done
done
[ -s run.out ] || skip "the suite has no units"
