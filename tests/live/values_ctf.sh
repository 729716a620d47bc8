#!/bin/bash
# SPDX-License-Identifier: MIT
# values_ctf: what export --to ctf makes of values is what babeltrace2 shows by name and type: as the
# program itself prints its arguments and results in babeltrace2's words; what is not there is told
# as text, and inject reads the calls of such a directory, too. And Chrome's format has the same.
# timeout: 600
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

need python3 gcc babeltrace2 jq

cat >v.c <<'END'
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
enum colour { RED = -1, GREEN, BLUE = 7 };
struct at { int x; short y; };
struct request { const char *method; struct at where[2]; int size : 12; unsigned flags : 4; bool done;
		 char name[8]; struct { int left; }; double event; };
static volatile int kept;
#define MADE __attribute__((noinline))
MADE int64_t ints(int8_t a, uint16_t b, int32_t c, uint64_t d, unsigned char string)
{ kept += a + b + c + string; return a + (int64_t)d; }
MADE float reals(float f, double d, bool on) { kept++; return on ? f + (float)d : f; }
MADE enum colour kinds(enum colour c, struct at p, const struct request *req)
{ kept += p.x + p.y; return req == (void *)1 || !req || req->size + (int)req->flags + req->where[1].y +
	req->where[0].x + req->left + req->done + req->method[0] + req->name[0] + (req->event > 0) ? c : GREEN; }
MADE const char *texts(const char *s, const struct at *to) { kept += to ? to->x + to->y : 0; return s + 1; }
MADE long get(int fd, char *buf, unsigned long n, int *count)
{ strcpy(buf, fd ? "GET / \"HT" : "POST"); *count = fd + 40; kept += (int)n; return (long)strlen(buf); }
MADE void nothing(void) { kept++; kept++; }
static const char *name_of(enum colour c) { return c == RED ? "RED" : c == GREEN ? "GREEN" : "BLUE"; }
int main(void)
{
	for (int i = 0; i < 50; i++) {
		struct at p = { -i, (short)(i * 7) };
		struct request r = { i % 2 ? "GET" : "a\"b", { p, { i, 3 } }, i % 9 - 4, i % 16, i % 3, "key", { i },
				     i / 8.0 };
		enum colour c = i % 3 == 0 ? RED : i % 3 == 1 ? GREEN : BLUE;
		char buf[32];
		int count = 0;
		int64_t back = ints((int8_t)-i, (uint16_t)(i * 1000), -i * 70000, (uint64_t)i << 40, 'a');
		printf("entry args = { a = %d, b = %d, c = %d, d = %llu, string = 97 }\nexit ret = %lld\n", -i,
		       i * 1000, -i * 70000, (unsigned long long)i << 40, (long long)back);
		float f = reals((float)i / 4, i / 8.0, i % 2);
		printf("entry args = { f = %g, d = %g, on = ( \"%s\" : container = %d ) }\nexit ret = %g\n", i / 4.0,
		       i / 8.0, i % 2 ? "true" : "false", i % 2, (double)f);
		c = kinds(c, p, i % 10 == 9 ? NULL : &r);
		printf("entry args = { c = ( \"%s\" : container = %d ), p = { x = %d, y = %d }, n_req = %d, req = [ ",
		       name_of(c), c, p.x, p.y, i % 10 != 9);
		if (i % 10 != 9)
			printf("[0] = { method = \"%s\", where = [ [0] = { x = %d, y = %d }, [1] = { x = %d, y = 3 } ], "
			       "size = %d, flags = %d, done = ( \"%s\" : container = %d ), name = \"key\", x__7 = { "
			       "left = %d }, event = %g } ", i % 2 ? "GET" : "a\\\"b", p.x, p.y, i, r.size, r.flags,
			       r.done ? "true" : "false", r.done, i, i / 8.0);
		printf("] }\nexit ret = ( \"%s\" : container = %d )\n", name_of(c), c);
		const char *s = texts(i % 2 ? "abc" : "xyz", i % 4 ? &p : NULL);
		printf("entry args = { s = \"%s\", n_to = %d, to = [ ", i % 2 ? "abc" : "xyz", i % 4 != 0);
		if (i % 4)
			printf("[0] = { x = %d, y = %d } ", p.x, p.y);
		printf("] }\nexit ret = \"%s\"\n", s);
		long n = get(i % 2, buf, sizeof(buf), &count);
		printf("entry args = { fd = %d, buf = %p, n = 32, count = %p }\n", i % 2, (void *)buf,
		       (void *)&count);
		printf("exit args = { buf = \"%s\" }, ret = %ld\n", i % 2 ? "GET / \\\"HT" : "POST", n);
		nothing();
		printf("entry\nexit\n");
	}
	return 0;
}
END
gcc -O1 -g -o v v.c
by_hand='get(fd:i32, buf:out(ret), n:u64, count:x64, ret:i64)'
names=(-f ints -f reals -f kinds -f texts -f get -f nothing)
status 0 "$INJECT" record -q "${names[@]}" -a -A "$by_hand" --deep 2 -o rec -- ./v
mv trace.out own
status 0 "$INJECT" export --to ctf rec
babeltrace2 ctf.data >bt.out 2>bt.err || die "babeltrace2: $(head -n 3 bt.err)"
[ ! -s bt.err ] || die "babeltrace2: $(head -n 3 bt.err)"
cat >shown.py <<'END'
import re
import sys
# The kind of an event, and its fields behind those that say which function it is.
for line in sys.stdin:
    m = re.search(r' (entry|exit): \{ pid.*?\}, \{ func = \( "[^"]*" : container = \d+ \)'
                  r'(?:, words = \d+, reserved = 0, (.*))? \}$', line.rstrip('\n'))
    if m or ' stack_end: ' not in line:
        print(' '.join(p for p in m.groups() if p))
END
python3 shown.py <bt.out >shown
mv own want
sed -i -E 's/= 0x([0-9A-F]+)/= 0x\L\1/g' shown
cmp -s want shown || die "babeltrace2 shows something else: $(diff want shown | head -n 12)"
# Chrome's format has the same as text, and its file is JSON.
status 0 "$INJECT" export --to chrome -o out.json rec
cat >chrome.py <<'END'
import json
import re
import sys
# What the program says in babeltrace2's words, as inject writes it.
def text(s):
    s = re.sub(r'\( "(\w+)" : container = -?\d+ \)', r'\1', s)
    s = re.sub(r'n_\w+ = 0, (\w+) = \[ \]', r'\1 = NULL', s)
    s = re.sub(r'n_\w+ = 1, (\w+) = \[ \[0\] = (.*) \] }$', r'\1 = &\2 }', s)
    s = re.sub(r'\[\d\] = |x__7 = ', '', s).replace(' = ', '=')
    s = re.sub(r'([{[]) ', r'\1', s)
    return re.sub(r' ([}\]])', r'\1', s)
want, entry = [], None
for line in open('want', encoding='utf-8'):
    line = line.rstrip('\n')
    if line.startswith('entry'):
        entry = text(line[len('entry args = '):])
        continue
    out = re.match(r'exit args = { buf = (.*) }, ret = (.*)', line)
    back = out[2] if out else line[len('exit ret = '):]
    if out:
        entry = re.sub(r'buf=0x[0-9a-f]+', lambda m: 'buf=' + out[1], entry)
    want.append((entry, text(back)))
got = []
for e in json.load(open('out.json', encoding='utf-8'))['traceEvents']:
    if e['ph'] == 'X':
        args = dict(e.get('args', {}))
        back = args.pop('return', '')
        got.append(('{' + ', '.join(f'{k}={v}' for k, v in args.items()) + '}' if args else '', back))
for i, (w, g) in enumerate(zip(want, got)):
    if w != g:
        sys.exit(f'call {i}: {w}, but {g}')
if len(want) != len(got) or len(got) != 300:
    sys.exit(f'{len(want)} calls, {len(got)} told')
END
python3 chrome.py || die "Chrome's format has other values"
# inject reads the same calls of it, and a recording has them raw, and as fast as ever.
status 0 "$INJECT" report --json rec
jq -r '.func + " \(.calls)"' trace.out | sort >calls.rec
status 0 "$INJECT" report --json ctf.data
jq -r '.func + " \(.calls)"' trace.out | sort | cmp - calls.rec || die "other calls: $(cat trace.out)"
[ "$(wc -l <calls.rec)" = 6 ] || die "$(cat calls.rec)"
# What is called as what a call has besides gets another key in Chrome's format.
cat >same.c <<'END'
__attribute__((noinline)) int same(int stack, int end) { asm volatile("" : : : "memory"); return stack + end; }
int main(void) { return same(3, 4) - 7; }
END
gcc -O1 -g -o same same.c
status 0 "$INJECT" record -q -f same -a --stack=2 -o twice -- ./same
status 0 "$INJECT" export --to chrome -o same.json twice
python3 - <<'END' || die "keys of a call: $(grep same same.json)"
import json
def once(pairs):
    assert len(dict(pairs)) == len(pairs), pairs
    return dict(pairs)
calls = [e for e in json.load(open('same.json'), object_pairs_hook=once)['traceEvents'] if e['name'] == 'same']
args = calls[0]['args']
assert len(calls) == 1 and args['stack'] and isinstance(args['stack'], list), calls
assert (args['stack (argument)'], args['end (argument)'], args['return']) == ('3', '4', '7'), args
END
# What is not there is text; what is no name of C gets one.
cat >w.c <<'END'
struct at { int x, y; };
static volatile int kept;
__attribute__((noinline)) int away(const struct at *p, int n) { kept += n; return p == (void *)16 ? 3 : 4; }
int main(void) { return away((void *)16, 5) + away((void *)0, 6) - 7; }
END
gcc -O1 -g -o w w.c
status 0 "$INJECT" record -q -f away -a -o gone -- ./w
rm -r ctf.data
status 0 "$INJECT" export --to ctf gone
babeltrace2 ctf.data >bt.out 2>bt.err || die "babeltrace2: $(head -n 3 bt.err)"
python3 shown.py <bt.out >shown
cat >want <<'END'
entry args = "p=0x10 (unreadable), n=5"
exit ret = 3
entry args = { n_p = 0, p = [ ], n = 6 }
exit ret = 4
END
cmp -s want shown || die "what is not there: $(diff want shown)"
# Of many packets each ends where its last event does, not where its last word does.
cat >five.c <<'END'
static volatile long kept;
__attribute__((noinline)) int five(int n) { kept += n; return n; }
int main(void) { for (int i = 0; i < 40000; i++) five(i); }
END
gcc -O1 -g -o five five.c
status 0 "$INJECT" record -q -f five -a -m 16M -o many -- ./five
rm -r ctf.data
status 0 "$INJECT" export --to ctf many
babeltrace2 ctf.data >bt.out 2>bt.err || die "babeltrace2: $(head -n 3 bt.err)"
[ "$(grep -c ' exit:.* ret = ' bt.out)" = 40000 ] || die "$(grep -c ' exit:' bt.out) of 40000 calls"
