#!/bin/bash
# SPDX-License-Identifier: MIT
# real_commands: whole programs under probes print what they print without, and
# end as they do; each with its own functions probed, with those of the C library,
# and with those of the dynamic loader.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

cat >p.py <<'P'
import json, re, pickle, hashlib, zlib, random, threading, queue, subprocess, asyncio, itertools
random.seed(5)
h = hashlib.sha256()
put = lambda x: h.update(repr(x).encode())
d = [{"a": random.random(), "b": list(range(i % 7)), "c": "x" * (i % 31)} for i in range(300)]
put(json.loads(json.dumps(d)))
put(pickle.loads(pickle.dumps(d)))
put(re.sub(r'(?i)([aeiou])\1*', '_', json.dumps(d)))
put(zlib.decompress(zlib.compress(repr(d).encode())))
def deep(n): return 0 if n == 0 else 1 + deep(n - 1)
put(deep(500))
try: deep(10 ** 6)
except RecursionError as e: put(str(e))
q, out = queue.Queue(), []
def work():
    while (x := q.get()) is not None: out.append(x * x)
ts = [threading.Thread(target=work) for _ in range(4)]
for t in ts: t.start()
for i in range(500): q.put(i)
for t in ts: q.put(None)
for t in ts: t.join()
put(sorted(out))
put(subprocess.run(['echo', 'hi'], capture_output=True).stdout)
async def co(i): await asyncio.sleep(0); return i
async def main(): return await asyncio.gather(*(co(i) for i in range(50)))
put(asyncio.run(main()))
print(h.hexdigest())
raise SystemExit(7)
P
cat >q.sql <<'S'
create table t(a integer primary key, b text, c real);
with recursive n(i) as (select 1 union all select i + 1 from n where i < 5000)
	insert into t select i, printf('%x-%d', i * 7919 % 10007, i), i * 1.5 / 7 from n;
create index tb on t(b);
select count(*), sum(a), avg(c), max(b) from t;
select substr(b, 1, 2), count(*) from t group by 1 order by 2 desc, 1 limit 20;
delete from t where a % 5 = 0;
select a, sum(c) over (order by a rows 3 preceding) from t limit 15;
pragma integrity_check;
select nosuch from t;
S
cat >s.pl <<'P'
use strict; srand(3); my (%h, $n);
$h{int(rand(500))} .= chr(65 + $_ % 26) for 1 .. 5000;
print join(',', map { "$_$h{$_}" } sort keys %h), "\n";
my $t = join ' ', map { "w$_=" . ($_ * $_) } 1 .. 500;
$n += $2 while $t =~ /(w\d+)=(\d+)/g;
for (1 .. 100) { eval { die { code => $_ } }; $n += $@->{code} }
sub f { my $n = shift; $n < 2 ? $n : f($n - 1) + f($n - 2) }
print "$n ", f(15), "\n"; print `echo child`;
local $SIG{ALRM} = sub { print "alarm\n" }; alarm 1; select(undef, undef, undef, 5);
warn "bye\n"; exit 3;
P
cat >s.lua <<'L'
local t, s, c = {}, 0, 0
for i = 1, 5000 do t[i] = (i * 7919) % 10007 end
table.sort(t)
for i, v in ipairs(t) do s = s + v * i end
local co = coroutine.wrap(function() for i = 1, 500 do coroutine.yield(i) end end)
for i = 1, 500 do c = c + co() end
for i = 1, 100 do pcall(error, i) end
print(s, c, #string.pack(">I4s2", 7, "abc"))
os.exit(5)
L
cat >s.sh <<'B'
declare -A a
for i in {1..1000}; do a[$((i % 97))]+=$i; done
echo ${#a[@]} ${a[5]}
f() { local n=$1 x; if ((n < 2)); then r=$n; else f $((n - 1)); x=$r; f $((n - 2)); r=$((r + x)); fi; }
f 10; echo $r $(for i in 1 2 3; do echo $i | tr 123 abc; done)
trap 'echo usr1' USR1; kill -USR1 $$
read -r l < <(echo hello); echo ${l^^}; false | true; echo ${PIPESTATUS[@]}
trap 'echo exit' EXIT
exit 6
B
cat >s.awk <<'A'
{ n[$1] += $2 } END { for (k in n) print k, n[k] | "sort" }
A
cat >loop.sh <<'D'
i=0; while [ $i -lt 500 ]; do i=$((i + 1)); done; echo $i; exit 4
D
cat >data.txt <<<"$(seq 3000 | awk '{ print "k" $1 % 17, $1 * 7919 % 10007 }')"
cp "$ROOT/plan/choose/choose.c" x.c

# same NAME PATTERN...: run once by itself, and once under probes.
COMMAND=()
same()
{
	local name=$1 want=0 got=0 patterns=()

	for p in "${@:2}"; do patterns+=(-f "$p"); done
	[ -f "$name.plain" ] || "${COMMAND[@]}" >"$name.plain" 2>"$name.errors" </dev/null || want=$?
	[ -f "$name.want" ] || echo $want >"$name.want"
	"$INJECT" -q "${patterns[@]}" -o /dev/null -- "${COMMAND[@]}" \
		>"$name.out" 2>"$name.err" </dev/null || got=$?
	grep ' functions\? probed, ' "$name.err" >trace.err || die "$name: was not traced"
	sed -i '/^inject: /d' "$name.err"
	cmp "$name.plain" "$name.out" || die "$name with $*: prints something else"
	cmp "$name.errors" "$name.err" || die "$name with $*: complains of something else"
	[ "$(cat "$name.want")" = $got ] || die "$name with $*: status $got"
	echo "$name $2: $(closing functions) functions, $(closing calls) calls"
}

# program NAME COMMAND...
program()
{
	local name=$1

	COMMAND=("${@:2}")
	command -v "$2" >/dev/null || { echo "no $2 here"; return 0; }
	ran=$((ran + 1))
	same "$name" '*'
	same "$name" '*@libc.so*'
	same "$name" '*@ld-linux*' '*@libstdc++*' '*@libm.so*' '*@libgcc*'
}

export PYTHONHASHSEED=0 LC_ALL=C HOME=$PWD
ran=0
python=$(readlink -f /usr/bin/python3 || true)
program python "${python:-python3}" p.py
program sqlite sqlite3 :memory: '.read q.sql'
program perl perl s.pl
program lua lua5.4 s.lua
program bash bash s.sh
program dash dash loop.sh
program sort sort -k1,1 -k2,2n data.txt
program awk awk -f s.awk data.txt
program sed sed -E 's/([a-z]+)([0-9]+)/\2\1/; 5,10d; /9$/!s/0/o/g' data.txt
program tar tar cf - -C "$ROOT" plan
program git git diff --no-index --stat -p data.txt q.sql
program diff diff -u data.txt q.sql
program gdb gdb -nx -batch -ex 'info line main' "$VICTIMS/command"
program gcc "$(gcc -print-prog-name=cc1 2>/dev/null || echo cc1)" -quiet -I "$ROOT" -D_GNU_SOURCE -O1 x.c -o -
[ $ran -gt 0 ] || skip "none of the programs is here"
