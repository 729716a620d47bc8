#!/bin/bash
# SPDX-License-Identifier: MIT
# values_hist: hist of a value has each call once, where the program itself says that the value
# belongs: numbers of each size by powers of two, below zero, too, enums and texts by how often they
# came; live and of a recording; what was lost is said, and what has room is exact.
# timeout: 600
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

need python3 gcc

cat >v.c <<'END'
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
enum colour { RED, GREEN, BLUE = 7 };
struct packet { int delta : 9; unsigned kind : 3; };
static volatile int kept;
__attribute__((noinline)) int64_t ints(int8_t a, uint16_t b, int32_t c, uint64_t d, int64_t w)
{ kept += a; return (int64_t)(a + b + c + (int64_t)d) ^ w; }
__attribute__((noinline)) double reals(float f, double d) { kept++; return -f * d; }
__attribute__((noinline)) const char *texts(const char *s, enum colour c, bool b, const struct packet *p)
{ kept += p->delta + (int)p->kind; return b ? s : s + (c == RED); }
/* Of registers that it changes gcc would not say what they had. */
__attribute__((noipa)) void widest(unsigned __int128 u, __int128 i) { kept++; kept++; }
__attribute__((noinline)) void nothing(void) { kept++; kept++; }
static const char *const keys[] = { "GET", "SET key", "", "a\"b" };
static const char *const colours[] = { [RED] = "RED", [GREEN] = "GREEN", [BLUE] = "BLUE" };
static uint64_t state = 88172645463325252u;
static uint64_t rnd(void)
{ state ^= state << 13; state ^= state >> 7; return state ^= state << 17; }
static void whole(const char *name, bool below, unsigned __int128 v)
{ printf("widest\t%s\t%s0x%016" PRIx64 "%016" PRIx64 "\n", name, below ? "-" : "",
	 (uint64_t)(v >> 64), (uint64_t)v); }
static void real(const char *name, double d)
{ printf("reals\t%s\t%s%.17g\n", name, "", d); }
int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 0;
	bool waits = argc > 2 && !strcmp(argv[2], "waits"), quiet = argc > 2 && !waits;
	char line[64];
	if (waits) {
		printf("ready\n");
		fflush(stdout);
		if (!fgets(line, sizeof(line), stdin))
			return 1;
	}
	for (int i = 0; i < n; i++) {
		uint64_t r = rnd(), wide = r >> (i % 64);
		int8_t a = (int8_t)(r % 256);
		uint16_t b = (uint16_t)(r >> 8);
		int32_t c = (int32_t)((int64_t)(r << 1) >> (32 + i % 31));
		int64_t w = i % 100 == 7 ? INT64_MIN : (int64_t)wide * (i % 2 ? -1 : 1);
		float f = (float)ldexp((double)(int64_t)r, -60 - i % 70);
		double d = i % 50 == 3 ? 0 : i % 50 == 4 ? INFINITY : i % 50 == 5 ? -INFINITY :
			i % 50 == 6 ? NAN : ldexp((double)(int64_t)r, -64 + i % 130);
		struct packet p = { (int)(i % 300 - 150), i % 8 };
		enum colour col = i % 5 == 2 ? BLUE : (enum colour)(i % 2);
		int64_t ret = ints(a, b, c, wide, w);
		double back = reals(f, d);
		const char *s = texts(keys[i % 7 % 4], col, i % 3, &p);
		unsigned __int128 u = ((unsigned __int128)r << 64 | wide) >> (i % 3 ? 0 : i % 128);
		__int128 wi = i % 100 == 8 ? (__int128)((unsigned __int128)1 << 127) :
			(__int128)(u >> 1) * (i % 4 ? -1 : 1);
		widest(u, wi);
		nothing();
		if (quiet)
			continue;
		printf("ints\ta\t%d\nints\tb\t%u\nints\tc\t%" PRId32 "\nints\td\t%" PRIu64 "\nints\tw\t%" PRId64
		       "\nints\tretval\t%" PRId64 "\n", a, b, c, wide, w, ret);
		whole("u", false, u);
		whole("i", wi < 0, wi < 0 ? -(unsigned __int128)wi : (unsigned __int128)wi);
		real("f", (double)f);
		real("d", d);
		real("retval", back);
		printf("texts\ts\t%s\ntexts\tc\t%s\ntexts\tb\t%s\ntexts\tretval\t%s\ntexts\tp.delta\t%d\n"
		       "texts\tp->kind\t%u\n", keys[i % 7 % 4], colours[col], i % 3 ? "true" : "false", s,
		       p.delta, p.kind);
	}
	printf(waits ? "done\n" : "");
	fflush(stdout);
	while (waits && fgets(line, sizeof(line), stdin))
		;
	return 0;
}
END
gcc -O1 -g -o v v.c -lm
cat >judge.py <<'END'
import collections
import json
import math
import sys


def power(v, real):
    """The row of a number: its least and its largest, as they are printed."""
    if v == 0:
        return 0, 0
    if real and math.isinf(v):
        return None, None
    if real:
        low = math.ldexp(math.frexp(abs(v))[0] and 1, math.frexp(abs(v))[1] - 1)
        high = low * 2
    else:
        low = 1 << (abs(v).bit_length() - 1)
        high = 2 * low - 1
        if v == -(1 << 127):
            high = low
    return (low, high) if v > 0 else (-high, -low)


def quoted(text):
    return '"' + text.replace('"', '\\"') + '"'


def judge(own, hists):
    for (func, name), values in own.items():
        h = hists[func, name]
        assert h['calls'] == len(values), (func, name, h)
        if func == 'texts' and not name.startswith('p'):
            if name in ('s', 'retval'):
                values = [quoted(v) for v in values]
            want = sorted(collections.Counter(values).items(), key=lambda x: (-x[1], x[0]))
            assert [(v['value'], v['calls']) for v in h['values']] == want, (func, name, h, want)
            assert h['others'] == 0 and h['not_known'] == 0
            continue
        real = func == 'reals'
        numbers = [float(v) if real else int(v, 0) for v in values]
        known = [v for v in numbers if not (real and math.isnan(v))]
        assert h.get('nan', 0) == len(numbers) - len(known), (func, name, h)
        want = collections.Counter(power(v, real) for v in known)
        got = collections.Counter()
        for b in h['buckets']:
            got[None if b['from'] is None and b['to'] is None else b['from'],
                b['to']] += b['calls']
        assert got == want, (func, name, got - want, want - got)
        finite = all(map(math.isfinite, known)) if real else True
        if finite:
            assert (h['min'], h['max']) == (min(known), max(known)), (func, name, h)
        if not real:
            assert h['sum'] == sum(known) and h['not_known'] == 0, (func, name, h)
            assert math.isclose(h['avg'], sum(known) / len(known)), (func, name, h)


own = collections.defaultdict(list)
for line in open(sys.argv[1], encoding='utf-8'):
    func, name, value = line.rstrip('\n').split('\t')
    own[func, name].append(value)
hists = {}
for line in open(sys.argv[2], encoding='utf-8'):
    h = json.loads(line)
    if h['type'] == 'hist':
        hists[h['func'], h.get('value', 'duration')] = h
judge(own, hists)
if len(sys.argv) > 3:
    h = hists['nothing', 'duration']
    n = len(own['ints', 'a'])
    assert h['calls'] == h['timed'] == n and sum(b['calls'] for b in h['buckets']) == n, h
    assert hists['ints', 'duration']['calls'] == n
END
values=(-f ints:a -f ints:b -f ints:c -f ints:d -f ints:w -f ints:retval -f reals:f -f reals:d
	-f reals:retval -f widest:u -f widest:i -f texts:s -f texts:c -f texts:b -f texts:retval
	-f texts:p.delta -f 'texts:p->kind')
# The program from its start, and the same as it was recorded.
status 0 "$INJECT" hist -q --json -m 16M "${values[@]}" -f nothing -f ints:duration -o live -- ./v 3000
python3 judge.py trace.out live all || die "live hist tells something else"
[ "$(closing calls) $(closing lost)" = "15000 0" ] || die "$(tail -n 1 trace.err)"
status 0 "$INJECT" record -q -a -m 16M -f ints -f reals -f widest -f texts -f nothing -o rec -- \
	./v 3000
mv trace.out own
status 0 "$INJECT" hist rec --json "${values[@]}" -f nothing ints:duration
python3 judge.py own trace.out all || die "hist of a recording tells something else"
# By number, by position on the line, of some of it; and as text.
status 0 "$INJECT" hist rec ints:arg1 --json
python3 - <<'END' || die "$(cat trace.out)"
import json
h, = map(json.loads, open('trace.out', encoding='utf-8'))
assert h['value'] == 'arg1' and h['calls'] == 3000, h
END
status 0 "$INJECT" hist rec ints:a texts:c -n 100
[ "$(grep -c '^#' trace.out)" = 2 ] || die "$(cat trace.out)"
grep -qE '^  -(127|128)\.\.-64  +[0-9]+  #' trace.out || die "no row below zero: $(cat trace.out)"
grep -qE '^ +[0-9]+  #+ +BLUE$' trace.out || die "no row for an enum: $(cat trace.out)"
status 0 "$INJECT" hist rec texts:s --top 2
[ "$(tail -n 1 trace.out | sed 's/.* //')" = others ] || die "$(cat trace.out)"
# Of a recording durations alone, of all functions.
status 0 "$INJECT" hist rec
[ "$(grep -c '^# .*: 3000 calls; average' trace.out)" = 5 ] || die "$(cat trace.out)"
# A program that runs, faster than it can be read: what was read is shown, the rest is lost.
status 0 "$INJECT" hist -q --json -m 128K -f ints:a -f nothing -o lossy -- ./v 3000000 quietly
python3 - "$(closing calls)" "$(closing lost)" <<'END' || die "$(tail -n 1 trace.err; cat lossy)"
import json
import sys
hists = {h['func']: h for h in map(json.loads, open('lossy', encoding='utf-8')) if h['type'] == 'hist'}
calls, lost = map(int, sys.argv[1:])
h = hists['ints']
assert sum(b['calls'] for b in h['buckets']) + h['not_known'] == h['calls'] <= 3000000, h
assert calls < 6000000 and lost > 0 or calls == 6000000 and lost == 0, (calls, lost)
assert abs(h['calls'] + hists['nothing']['calls'] - calls) <= h['not_known'] + 2, (h, calls)
END
# A process that is there already.
VICTIMS=$PWD
victim v 2000 waits
inject_bg hist -p "$VICTIM" --json -m 16M "${values[@]}"
tell go '^done$' >/dev/null
inject_end
has_line 'all probes removed, text verified' trace.err || die "$(tail -n 1 trace.err)"
clean
[ "$(closing calls) $(closing lost)" = "8000 0" ] || die "$(tail -n 1 trace.err)"
grep -P '^(ints|reals|texts|widest)\t' victim.out >own.there
python3 judge.py own.there trace.out || die "hist of a process tells something else"

# What is refused.
status 1 "$INJECT" hist rec ints:nope
has_line 'ints:nope: no such value' trace.err || die "$(cat trace.err)"
status 125 "$INJECT" hist -f ints:nope -- ./v 1
has_line 'ints:nope: no such value' trace.err || die "$(cat trace.err)"
status 2 "$INJECT" hist -p $$ -f ints -m 4M
has_line 'go with a value' trace.err || die "$(cat trace.err)"
status 2 "$INJECT" hist rec -p $$ -f ints:a
has_line 'got both' trace.err || die "$(cat trace.err)"
status 2 "$INJECT" hist rec ints:a -d 1
has_line 'hist of a recording takes' trace.err || die "$(cat trace.err)"
status 2 "$INJECT" hist -p $$ -f ints:a --since 1
# Both infinities have a row, and a sign.
cat >inf.c <<'END'
#include <math.h>
static volatile double kept;
__attribute__((noinline)) void real(double a) { kept += a; }
int main(void) { real(INFINITY); real(-INFINITY); real(2); }
END
gcc -O1 -g -o inf inf.c
status 0 "$INJECT" hist -q -f real:a -- ./inf
[ "$(awk '/\*|#####/ { print $1 }' trace.out | grep -c inf)" = 2 ] && grep -q '^ *-inf  *1 ' trace.out ||
	die "infinities: $(cat trace.out)"
