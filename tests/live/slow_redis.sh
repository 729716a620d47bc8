#!/bin/bash
# SPDX-License-Identifier: MIT
# slow_redis: the recipe for Redis shows the commands, with their keys, that its own slow log has with
# such a duration: of connections that come and go, in transactions and scripts.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"
# shellcheck source=tests/real_lib.sh
. "$ROOT/tests/real_lib.sh"

command -v redis-server >/dev/null || skip "no redis here"
redis_begin
cli() { redis-cli -p "$port" "$@" >/dev/null; }
cli config set slowlog-log-slower-than 0
cli config set slowlog-max-len 100000
# As many microseconds as its argument says. (Where the kernel gives the processor to others is then
# hardly ever within a command that asks for the time.)
# shellcheck disable=SC2016
spin='local function now() local t = redis.call("time") return t[1] * 1000000 + t[2] end
local to = now() + ARGV[1] while now() < to do for i = 1, 9999 do end end return 1'
cli slowlog reset

inject_bg slow -p "$server" --recipe redis-command -t 20ms --json
for i in $(seq 12); do
	cli set "plain:$i" value
	cli get "plain:$i"
	cli eval "$spin" 1 "key \"$i\"" $((i % 4 * 15000))
	printf 'multi\nset a%s b\neval "%s" 1 within:%s 30000\nexec\n' "$i" \
		"$(tr '\n"' " '" <<<"$spin")" "$i" | cli
	cli ping
done
inject_end
has_line 'all probes removed, text verified' trace.err || die "not removed"
clean "$server"
redis-cli -p "$port" --json slowlog get -1 >logged

python3 - logged trace.out <<'EOF' || die "others than in the slow log"
import collections, json, re, sys

def key(args):
    return args[3][:60] if args[0].lower() == 'eval' else ' '.join(args)[:60]
logged = [(key(e[3]), e[2]) for e in json.load(open(sys.argv[1]))]
shown, far = collections.Counter(), []
for line in open(sys.argv[2]):
    o = json.loads(line)
    if o['type'] == 'call' and o['end'] == 'return':
        words = re.findall(r'"(?:[^"\\]|\\.)*"', o['until']['args']['argv'])
        what, us = key([json.loads(w) for w in words]), int(o['until']['args']['us'])
        shown[what, us] += 1
        # The span has what redis itself measures within it, and hardly more: unless the kernel
        # gave the processor to others in between.
        far += [(what, us, o['dur_ns'])] if not -1 <= o['dur_ns'] / 1000 - us < 5000 else []
all_of = collections.Counter(logged)
sure = collections.Counter(x for x in logged if x[1] >= 20100)
print(len(logged), 'logged,', sum(sure.values()), 'slow,', sum(shown.values()), 'shown')
print('missed', sure - shown, 'others', shown - all_of, 'far', far, file=sys.stderr)
sys.exit(bool(sure - shown or shown - all_of) or len(far) > 2 or len(sure) < 15 or
         sum(shown.values()) * 10 > len(logged))
EOF
redis_ends
