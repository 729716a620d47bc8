#!/bin/bash
# SPDX-License-Identifier: MIT
# slow_postgres: the recipe for PostgreSQL shows the statements that its own log has with such a
# duration: of connections that come and go, as texts and as prepared statements.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"
# shellcheck source=tests/real_lib.sh
. "$ROOT/tests/real_lib.sh"
# shellcheck source=tests/real_postgres.sh
. "$ROOT/tests/real_postgres.sh"

"${as[@]}" "$bin/psql" -qc "alter system set log_min_duration_statement = 0" -c "select pg_reload_conf()" >/dev/null
cat >"$home/prepared.sql" <<'EOF'
\set n random(1, 4)
select pg_sleep(:n * 0.02), 'prepared "quoted"';
EOF
chmod 644 "$home/prepared.sql"

inject_bg slow -p "$server" --recipe postgres-query -t 40ms --json
before=$(wc -c <postgres.err)
for i in $(seq 12); do
	"${as[@]}" "$bin/psql" -qAt -c "select pg_sleep($i % 4 * 0.02), 'text $i'" \
		-c "do 'begin perform pg_sleep(0.06); end' /* $i */" \
		-c "create table t$i as select pg_sleep(0.05)::text" >/dev/null
done
"${as[@]}" "$pgbench" -n -M prepared -c 2 -t 15 -f "$home/prepared.sql" >pgbench.out 2>&1 ||
	die "pgbench failed"
"${as[@]}" "$pgbench" -n -M extended -c 1 -t 5 -f "$home/prepared.sql" >pgbench.out 2>&1 ||
	die "pgbench failed"
inject_end
has_line 'all probes removed, text verified' trace.err || die "not removed"
clean "$server"

tail -c +$((before + 1)) postgres.err >log
python3 - log trace.out <<'EOF' || die "others than in the log"
import collections, json, re, sys

# What a statement took by the log, without what parsing and planning took.
logged = [(m[2], float(m[1])) for m in
          re.finditer(r'duration: ([0-9.]+) ms +(?:statement|execute [^:]*): (.*)',
                      open(sys.argv[1]).read())]
shown = []
for line in open(sys.argv[2]):
    o = json.loads(line)
    if o['type'] == 'call' and o['end'] == 'return':
        text = json.loads(o['args']['query'].removesuffix('...'))
        shown.append((text, o['dur_ns'] / 1e6))
seen = collections.Counter(t for t, _ in shown)
sure = collections.Counter(t for t, ms in logged if ms >= 42)
may = collections.Counter(t for t, ms in logged if ms >= 40)
print(len(logged), 'logged,', sum(sure.values()), 'slow,', len(shown), 'shown')
missed, more = sure - seen, seen - may
for word, these in ('missed', missed), ('not slow', more):
    for text, n in these.items():
        print(word, n, text, [d for t, d in logged if t == text], file=sys.stderr)
slow = [k for k in sure if 'prepared' in k], [k for k in sure if 'text' in k]
sys.exit(bool(missed or more) or not all(slow) or len(may) == len(logged))
EOF
postgres_ends
