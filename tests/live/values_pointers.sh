#!/bin/bash
# SPDX-License-Identifier: MIT
# values_pointers: pointers that lead nowhere, that change and vanish: values of many calls are
# read, and what is shown of memory is what was there. No register changes where values are read.
# timeout: 600
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

need python3
many=${VALUES_CALLS:-$([ "${PATIENCE:-1}" -lt 10 ] && echo 200000 || echo 20000)}
out='fill(out:out(n), n:u64, ret:void)'

victim pointers
calls() { tell count '^calls' | tail -n 1 | cut -d' ' -f2; }
enough_calls() { [ "$(calls)" -gt $((before + many)) ]; }

inject_bg -p "$VICTIM" -f take -f fill -a -A "$out" -o traced --json -m 16M
before=$(calls)
wait_until 200 enough_calls
inject_end
removed
victim_works
python3 - traced <<'END'
import json, re, sys
calls, texts, unreadable = 0, {'a': 0, 'b': 0}, 0
for line in open(sys.argv[1], encoding='utf-8'):
    c = json.loads(line)
    if c['type'] != 'call' or 'args' not in c:
        continue
    calls += 1
    # What was never read is no text; one has letters of one kind, and zeros where a page has
    # just come.
    for value in c['args'].values():
        unreadable += '(unreadable)' in value
        for text in re.findall(r'"([^"]*)"', value):
            kinds = set(text.replace('\\x00', ''))
            if not kinds <= {'a'} and not kinds <= {'b'}:
                sys.exit(f'no such text is there: {line}')
            for kind in kinds:
                texts[kind] += 1
    if c['func'] == 'take' and c['end'] == 'return' and 'ret' not in c:
        sys.exit(f'no result: {line}')
print(calls, texts, unreadable)
if calls < 1000 or not texts['a'] or not texts['b'] or not unreadable:
    sys.exit('too little was seen')
END
victim_quit

# All registers, where all of an argument's kinds are read.
rm -f victim.in
victim registers
for _ in 1 2 3 4 5; do
	status 0 "$INJECT" -q -p "$VICTIM" -f 'regs_probed*' -d 0.1 -o /dev/null \
		-A 'regs_probed(a:str, b:f64, c:buf(40), d:f80, e:x64, f:out(ret), ret:f64)' \
		-A 'regs_probed_leaf(a:ptr, b:f32, c:str, d:u8, e:u64, f:u64, g:u64, h:u64, ret:f80)'
	removed
done
victim_works
