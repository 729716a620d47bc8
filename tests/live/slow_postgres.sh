#!/bin/bash
# SPDX-License-Identifier: MIT
# slow_postgres: the recipe for PostgreSQL shows the statements that its own log has, and that take
# so long: of connections that come and go, as texts and as prepared statements.
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

# What a statement took by the log, with what parsing and planning took: so it may be shown if that
# is enough, but must be only if it has slept for so long.
def slept(text, n):
    if text.startswith('do '):
        return 60
    if text.startswith('create'):
        return 50
    return 20 * int(n) if n else 20 * (int(re.search(r"'text (\d+)'", text)[1]) % 4)
logged, sure = [], collections.Counter()
for m in re.finditer(r'duration: ([0-9.]+) ms +(?:statement|execute [^:]*): (.*)\n'
                     r"(?:.*DETAIL: +parameters: \$1 = '(\d+)')?", open(sys.argv[1]).read()):
    logged.append((m[2], float(m[1])))
    sure[m[2]] += slept(m[2], m[3]) >= 42
shown = []
for line in open(sys.argv[2]):
    o = json.loads(line)
    if o['type'] == 'call' and o['end'] == 'return':
        text = json.loads(o['args']['query'].removesuffix('...'))
        shown.append((text, o['dur_ns'] / 1e6))
seen = collections.Counter(t for t, _ in shown)
may = collections.Counter(t for t, ms in logged if ms >= 40)
print(len(logged), 'logged,', sum(sure.values()), 'slow,', len(shown), 'shown')
missed, more = sure - seen, seen - may
for word, these in ('missed', missed), ('not slow', more):
    for text, n in these.items():
        print(word, n, text, [d for t, d in logged if t == text], file=sys.stderr)
sure = +sure
slow = [k for k in sure if 'prepared' in k], [k for k in sure if 'text' in k]
sys.exit(bool(missed or more) or not all(slow) or len(may) == len(logged))
EOF
postgres_ends
