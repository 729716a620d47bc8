#!/bin/bash
# SPDX-License-Identifier: MIT
# values_report: report --by has for each value as many calls as the program itself has made with
# it: numbers, texts, enums, members behind pointers, results, several together; sums are those of
# the report without; graph and exports have the same; what has no room is in one line.
# timeout: 600
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

need python3 gcc

cat >v.c <<'END'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct at { int x, y; };
struct request { const char *method; int size : 12; unsigned flags : 4; struct { double weight; } in;
		 struct { int left; }; struct at where; };
enum colour { RED, GREEN, BLUE = 7 };
static volatile int kept;
__attribute__((noinline)) long fetch(int fd, const char *key, const struct request *req, enum colour c)
{ return fd * 10 + (long)strlen(key) + req->size + (long)c + req->method[0] + req->left +
	req->where.y + req->where.x + (long)req->in.weight + req->flags; }
__attribute__((noinline)) int delta(int v, double d, struct at at)
{ return v < 0 ? -v : at.x + (d > 0) + (at.y == kept); }
__attribute__((noinline)) void *lookup(unsigned long key, void *not_found)
{ return key + 1 == 0 ? (void *)&kept : not_found; }
__attribute__((noinline)) void nothing(void) { kept++; kept++; }
/* Calls itself with another value. */
__attribute__((noinline)) int down(int n) { int r = n ? down(n - 1) + 1 : 0; kept += r; return r; }
static const char *const keys[] = { "user:1", "user:42", "it's; \"x\"", "" };
static const char *const colours[] = { [RED] = "RED", [GREEN] = "GREEN", [BLUE] = "BLUE" };
int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 0;
	for (int i = 0; i < n; i++) {
		struct request r = { i % 3 ? "GET" : "POST", i % 5 - 2, i & 7, { i % 6 / 4.0 },
				     { i % 2 }, { 1, i % 9 } };
		struct at at = { i % 2, 7 };
		enum colour c = i % 3 == 2 ? BLUE : (enum colour)(i % 3);
		long f = fetch(i % 4, keys[i % 4], &r, c);
		int d = delta(i % 7 - 3, i % 16 / 8.0 - 1, at);
		printf("fetch\t%d\t%s\t%s\t%d\t%d\t%g\t%d\t%d\t%s\t%ld\n", i % 4, keys[i % 4], r.method,
		       r.size, r.flags, r.in.weight, r.left, r.where.y, colours[c], f);
		printf("delta\t%d\t%g\t%d\t%d\n", i % 7 - 3, i % 16 / 8.0 - 1, at.x, d);
		printf("lookup\t%s\n", lookup((unsigned long)i, NULL) ? "?" : "NULL");
		nothing();
		kept += down(i % 4);
	}
	return 0;
}
END
gcc -O1 -g -o v v.c
names=(-f fetch -f delta -f lookup -f nothing -f down)
status 0 "$INJECT" record -q "${names[@]}" -a --deep 2 -o rec -- ./v 500
mv trace.out own
status 0 "$INJECT" record -q "${names[@]}" -a --deep 2 -o less -- ./v 300
mv trace.out own.less

cat >judge.py <<'END'
import collections
import json
import subprocess
import sys

inject = sys.argv[1]
FIELDS = {'fetch': ['fd', 'key', 'req.method', 'req->size', 'req.flags', 'req.in.weight', 'req.left',
                    'req.where.y', 'c', 'retval'],
          'delta': ['v', 'd', 'at.x', 'retval']}
TEXTS = {'key', 'req.method'}


def quoted(text):
    return '"' + text.replace('"', '\\"') + '"'


def own(name, func):
    """What the program has printed: one dict for each call."""
    for line in open(name, encoding='utf-8'):
        word, *values = line.rstrip('\n').split('\t')
        if word == func:
            yield {f: quoted(v) if f in TEXTS else v for f, v in zip(FIELDS[func], values)}


def run(*words):
    return subprocess.run([inject, *words], check=True, stdout=subprocess.PIPE, encoding='utf-8').stdout


def report(*words):
    return [json.loads(line) for line in run('report', '--json', *words).splitlines()]


def by(fields):
    return [word for f in fields for word in ('--by', f)]


def count(name, func, fields):
    return collections.Counter(tuple(c[f] for f in fields) for c in own(name, func))


plain = {line['func']: line for line in report('rec')}
assert plain['fetch']['calls'] == 500 and set(plain['fetch']) >= {
    'type', 'func', 'module', 'calls', 'parts', 'total_ns', 'self_ns', 'avg_ns', 'min_ns', 'max_ns',
    'p50_ns', 'p99_ns'}, plain['fetch']
for func, fields in [('fetch', [f]) for f in FIELDS['fetch']] + [('delta', [f]) for f in FIELDS['delta']] + [
        ('fetch', ['key', 'retval']), ('fetch', ['c', 'req.method', 'fd']), ('delta', ['at.x', 'v'])]:
    lines = [l for l in report('rec', '--top', '5000', *by(fields)) if l['func'] == func]
    got = {tuple(l['by'][f] for f in fields): l['calls'] for l in lines}
    want = count('own', func, fields)
    assert got == want, (func, fields, got, want)
    assert len(lines) == len(want)
    # It all adds up; each sum is rounded down.
    for key in 'total_ns', 'self_ns':
        assert 0 <= plain[func][key] - sum(l[key] for l in lines) <= len(lines), (func, fields, key)
    assert max(l['max_ns'] for l in lines) == plain[func]['max_ns']
    assert min(l['min_ns'] for l in lines) == plain[func]['min_ns']
# By number it is the same one, and a function without values has no line.
lines = report('rec', '--by', 'arg1', '--top', '5000')
assert {l['by']['arg1'] for l in lines if l['func'] == 'fetch'} == {'0', '1', '2', '3'}
assert not any(l['func'] == 'nothing' for l in lines)
# A structure whole, and what a pointer leads to.
lines = report('rec', '--by', 'at', '--by', '*req', '--top', '9999')
got = {l['by']['at']: l['calls'] for l in lines if l['func'] == 'delta'}
assert got == {'{x=0, y=7}': 250, '{x=1, y=7}': 250}, got
assert all(l['by']['*req'].startswith('{method="') for l in lines if l['func'] == 'fetch'), lines
# Sorted, and cut: the others in one.
lines = report('rec', '--by', 'key', '--by', 'retval', '--sort', 'calls', '--top', '7', '-f', 'fetch')
want = count('own', 'fetch', ['key', 'retval'])
assert [l['calls'] for l in lines[:7]] == [n for _, n in want.most_common(7)], lines
assert lines[7]['func'] is None and lines[7]['others'] == len(want) - 7 and len(lines) == 8
assert lines[7]['calls'] == 500 - sum(l['calls'] for l in lines[:7])
assert 0 <= plain['fetch']['total_ns'] - sum(l['total_ns'] for l in lines) <= len(lines)
# As text: names as a call has them.
text = run('report', 'rec', '--by', 'arg1', '--by', 'retval', '--top', '5000')
assert text.splitlines()[0].split()[-1] == 'FUNCTION'
assert '  delta(v=-3) = 3\n' in text and '  lookup(key=0) = NULL\n' in text, text
# Compared with another directory.
lines = {l['by']['fd']: l for l in report('rec', '--diff', 'less', '--by', 'fd')}
want, less = count('own', 'fetch', ['fd']), count('own.less', 'fetch', ['fd'])
for (fd,), n in want.items():
    assert (lines[fd]['now']['calls'], lines[fd]['before']['calls']) == (n, less[(fd,)]), lines[fd]
lines = report('rec', '--diff', 'less', '--by', 'fd', '--top', '1', '--sort', 'calls')
assert lines[0]['now']['calls'] == 125 and lines[1]['others'] == 3 and len(lines) == 2
assert (lines[1]['now']['calls'], lines[1]['before']['calls']) == (375, 225), lines
text = run('report', 'rec', '--diff', 'less', '--by', 'fd')
assert '  fetch(fd=3)\n' in text, text
# Chains of calls: by what is known as they begin.
tree = run('graph', 'rec', '--by', 'arg1')
rows = [line.split() for line in tree.splitlines()]
assert rows[0][1:] == ['TOTAL', 'SELF', 'CALLS', 'FUNCTION'], rows[0]
got = collections.Counter()
for r in rows[1:]:
    got[r[-1]] += int(r[4])
assert [got[f'down(n={i})'] for i in range(4)] == [500, 375, 250, 125], got
assert tree.count('down(n=0)') == 4 and got['nothing'] == 500, tree
folded = dict(line.rsplit(' ', 1) for line in run('export', '--to', 'folded', 'rec', '--by', 'n',
                                                  '--by', 'key').splitlines())
assert 'down(n=2);down(n=1);down(n=0)' in folded, folded
assert 'fetch(key="it\'s: \\"x\\"")' in folded, folded
total = sum(int(ns) for f, ns in folded.items() if f.startswith('fetch('))
assert abs(total - plain['fetch']['total_ns']) <= 500, (total, plain['fetch'])
frames = json.loads(run('export', '--to', 'speedscope', 'rec', '--by', 'key'))['shared']['frames']
assert 'fetch(key="user:42")' in {f['name'] for f in frames}
for to in 'svg', 'dot':
    assert 'user:42' in run('export', '--to', to, 'rec', '--by', 'key'), to
END
python3 judge.py "$INJECT" || die "report --by tells something else"

# pprof has labels, and functions by their own names.
GO=$(command -v go || true)
if [ -n "$GO" ]; then
	status 0 "$INJECT" export --to pprof -o p.pb rec --by key --by arg1
	"$GO" tool pprof -tags -sample_index=calls p.pb >tags 2>&1 || die "pprof: $(cat tags)"
	grep -q '125\.0 (.*): "user:42"$' tags || die "no label of pprof's: $(cat tags)"
	"$GO" tool pprof -top -sample_index=calls -tagfocus='key=user:42' p.pb >tags 2>&1
	grep -q ' 125 .* fetch$' tags || die "pprof does not choose by label: $(cat tags)"
fi

# uftrace has arguments and results in its own words.
if command -v uftrace >/dev/null; then
	status 0 "$INJECT" export --to uftrace -o u.data rec
	uftrace replay -d u.data --no-pager >u.out 2>u.err || die "uftrace: $(cat u.err)"
	python3 - <<'END' || die "uftrace shows other values: $(grep -m 3 fetch u.out)"
import re
shown = [m.groups() for m in re.finditer(r'fetch\((\d+), "(.*)", "&\{.*\}", "(\w+)"\) = (-?\d+);',
                                         open('u.out', encoding='utf-8').read())]
own = []
for line in open('own', encoding='utf-8'):
    word, *v = line.rstrip('\n').split('\t')
    if word == 'fetch':
        own.append((v[0], v[1].replace('"', '\\"'), v[8], v[9]))
assert len(own) == 500 and shown == own, (len(shown), shown[:2], own[:2])
reals = re.findall(r'delta\((-?\d+), (-?[\d.]+), ', open('u.out', encoding='utf-8').read())
assert reals[:2] == [('-3', '-1.000000'), ('-2', '-0.875000')] and len(reals) == 500, reals[:2]
END
fi

# More different values than are told apart: the rest of them in one line, and said.
status 0 "$INJECT" record -q -f lookup -a -m 16M -o many -- ./v 12000
status 0 "$INJECT" report many --by key --top 20000 --json
[ "$(grep -c '"by":{"key":' trace.out)" = 10000 ] || die "not 10000 lines: $(wc -l <trace.out)"
grep -q '"by":null,"calls":2000,' trace.out || die "no line for the rest: $(grep null trace.out)"
has_line 'more than 10000 different values' trace.err || die "not said: $(cat trace.err)"

# What is no value, or none of this recording's.
status 1 "$INJECT" report rec --by nope
has_line 'no call of the recording has a value of that name' trace.err || die "$(cat trace.err)"
status 1 "$INJECT" report rec --by fd.x
status 2 "$INJECT" report rec --by 'a b'
has_line "wants the name of a value" trace.err || die "$(cat trace.err)"
status 2 "$INJECT" graph rec --by retval
has_line 'goes with report alone' trace.err || die "$(cat trace.err)"
status 2 "$INJECT" export --to chrome rec --by fd
has_line 'formats that have chains' trace.err || die "$(cat trace.err)"
