#!/bin/bash
# SPDX-License-Identifier: MIT
# values_traced: arguments and results that -a shows are those that programs print themselves: of
# made-up functions, compiled in every way; and a recording tells the same as a trace.
# timeout: 600
# long: 40
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

need python3 gcc
export PYTHONDONTWRITEBYTECODE=1

# Always the same: others by VALUES_SEED (`tests/values/fuzz.py build -t -n 100 -s SEED`).
nice -n 5 python3 "$ROOT/tests/values/fuzz.py" "$BUILD" -t -n "${VALUES_PROGRAMS:-1}" \
	-s "${VALUES_SEED:-1}" -w "${PATIENCE:-1}" >values.out ||
	{ tail -n 40 values.out; die "values differ"; }
tail -n 1 values.out

cat >v.c <<'END'
#include <string.h>
struct point { int x, y; };
enum colour { RED, GREEN };
__attribute__((noinline)) long read_it(int fd, char *buf, unsigned long n)
{ (void)n; strcpy(buf, "GET / HTTP"); return 10 + 0 * fd; }
__attribute__((noinline)) double scale(struct point p, enum colour c, float by)
{ return (p.x + p.y) * by + (double)c; }
__attribute__((noinline)) const char *longest(const char *a, const struct point *p)
{ return p->x ? a + 1 : a; }
/* As connect() has one: of its members gcc tells nothing. */
typedef union { const struct point *p; const enum colour *c; } address
__attribute__((transparent_union));
__attribute__((noinline)) long reach(int fd, address to, int n) { return fd + to.p->x + n; }
static volatile int kept;
__attribute__((noinline)) void nothing(void) { kept++; kept++; }
__attribute__((noinline)) long outer(int n)
{ char b[32]; struct point p = { n, 2 }; volatile double d;
  long r = read_it(n, b, 32); d = scale(p, GREEN, 1.5f); nothing();
  r += reach(3, &p, 16) > 1000;
  return r + (long)d + longest("abcdef", &p)[0]; }
int main(void) { long r = 0; for (int i = 0; i < 3; i++) r += outer(i); return r == 0; }
END
gcc -O1 -g -o v v.c
by_hand='read_it(fd:x32, out:outstr, n:u64, ret:i64)'
names=(-f read_it -f scale -f longest -f nothing -f outer -f reach)
columns() { sed -n 's/to=0x[0-9a-f]*/to=0xADDRESS/; s/.*] | //p' "$1"; }
status 0 "$INJECT" -q "${names[@]}" -a -A "$by_hand" -o traced -- ./v
columns traced >trace.calls
status 0 "$INJECT" record -q "${names[@]}" -a -A "$by_hand" -o recorded -- ./v
status 0 "$INJECT" replay recorded
columns trace.out >replay.calls
cmp trace.calls replay.calls || die "a recording tells something else"
cat >want <<'END'
outer(n=1) {
  read_it(fd=0x1, out="GET / HTTP", n=32) = 10;
  scale(p={x=1, y=2}, c=GREEN, by=1.5) = 5.5;
  nothing();
  reach(fd=3, to=0xADDRESS, n=16) = 20;
  longest(a="abcdef", p=&{x=1, y=2}) = "bcdef";
} = 113; /* outer */
END
sed -n '/^outer(n=1)/,/^}/p' trace.calls | cmp - want || die "not as it should be: $(cat trace.calls)"
# Of a function only the first bytes of texts, and no pointer followed.
status 0 "$INJECT" -q -f longest -a -s 3 --deep 0 -o short -- ./v
grep -q 'longest(a="abc"\.\.\., p=0x[0-9a-f]*) = "bcd"\.\.\.;' short ||
	grep -q 'longest(a=0x[0-9a-f]*, p=0x[0-9a-f]*) = 0x[0-9a-f]*;' short || die "$(cat short)"
# JSON has them by name, and readers of CTF see the directory.
status 0 "$INJECT" replay --json recorded
grep -q '"func":"scale".*"args":{"p":"{x=1, y=2}","c":"GREEN","by":"1.5"},"ret":"5.5"}' trace.out ||
	die "no values in JSON: $(cat trace.out)"
status 0 "$INJECT" export --to chrome recorded
python3 - <<'END' || die "no values for Chrome: $(cat trace.out)"
import json
calls = [e for e in json.load(open('trace.out', encoding='utf-8'))['traceEvents']
         if e['name'] == 'scale']
want = {'return': '5.5', 'p': '{x=1, y=2}', 'c': 'GREEN', 'by': '1.5'}
assert len(calls) == 3 and calls[1]['args'] == want, calls
END
status 0 "$INJECT" export --to perfetto -o perfetto.out recorded
"$INJECT" replay --json recorded >told.json
python3 "$ROOT/tests/tools/perfetto_values.py" told.json perfetto.out || die "Perfetto has other values"
if command -v babeltrace2 >/dev/null; then
	babeltrace2 recorded >ctf.out || die "babeltrace2 does not read it"
	grep -q ' values: .*func = ( "scale"' ctf.out || die "no values for babeltrace2"
fi
# A signature by hand that is wrong, or of nothing that is probed.
status 2 "$INJECT" -p $$ -f scale -A 'scale(p:point)'
has_line "column 9: no such type" trace.err || die "$(cat trace.err)"
status 125 "$INJECT" -f scale -A 'scales(p:i32)' -- ./v
has_line 'no function scales is probed' trace.err || die "$(cat trace.err)"
