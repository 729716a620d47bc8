#!/bin/bash
# SPDX-License-Identifier: MIT
# profiler_real: perf, by frame pointers and by unwind tables, sees of whole programs what
# it sees without probes: Debian's python, which has no frame pointers, and gofmt, which
# has. Of each function that is in one sample of twenty or more: how many samples have it
# anywhere in their stacks. Samples inside of stubs, which are no file's, are counted,
# told, and left out. Shares of samples are compared, not times: to three in a hundred
# and what chance may do, five standard deviations.
# timeout: 1800
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

need perf
python=$(readlink -f /usr/bin/python3 || true)
[ -x "$python" ] || skip "no /usr/bin/python3 here"

# Always the same work. It obeys commands as a victim does.
cat >work <<P
#!$python -S
import collections, json, re, sys, zlib

rows = [{"id": i, "name": "n%d" % (i % 17), "tags": list("abc" * (i % 5)), "x": i / 7}
        for i in range(200)]
word = re.compile(r"[a-z]+\\d*(?=[^a-z])")

class Node:
    def __init__(self, key):
        self.key, self.left, self.right = key, None, None

    def insert(self, key):
        side = "left" if key < self.key else "right"
        if child := getattr(self, side):
            child.insert(key)
        else:
            setattr(self, side, Node(key))

    def walk(self):
        if self.left: yield from self.left.walk()
        yield self.key
        if self.right: yield from self.right.walk()

def work():
    text = json.dumps(rows)
    seen = collections.Counter(word.findall(text))
    root = Node(50)
    for i in range(300): root.insert(i * 7919 % 1009)
    lines = sorted((repr(r) for r in json.loads(text)), key=lambda s: s[::-1])
    return len(seen), list(root.walk()), 3 ** 1500 % 1009, zlib.crc32("".join(lines).encode())

first, rounds = work(), 0
print("ready", flush=True)
for line in sys.stdin:
    if line == "quit\n":
        print("bye", flush=True)
        break
    for i in range(1 if line == "ping\n" else int(line)):
        rounds += 1
        if work() != first: print("WRONG work", flush=True)
    print("alive", rounds, flush=True)
P
chmod +x work
VICTIMS=$PWD

# folded COMMAND: of perf.data a stack a line, innermost function first: OURS if that is no
# file's. A function is there once, however deep it recurs; one without a name by the
# addresses to which its calls return; and none whose address is in no file, for what is no
# frame pointer leads anywhere.
folded()
{
	perf script -i perf.data --comms "$1" --no-inline -F ip,sym,dso 2>>perf.err | awk '
		function end() { if (s) print s; s = ""; split("", here) }
		/^$/ { end(); next }
		!s { s = /perf-[0-9]+\.map|memfd:|\/\/anon|\(\[unknown\]\)/ ? "OURS" : "-" }
		$2 == "[unknown]" && /\(\[unknown\]\)/ { next }
		{ name = $2 == "[unknown]" ? $1 : $2 }
		!(name in here) { here[name]; s = s " " name }
		END { end() }'
}

# sampled HOW ROUNDS FILE: what python does in so many.
sampled()
{
	local before

	before=$(wc -l <victim.out)
	perf record -q -o perf.data -e cpu-clock:u -F 1999 --call-graph "$1" -t "$VICTIM" -- \
		timeout $((300 * ${PATIENCE:-1})) bash -c "echo $2 >&9
			while [ \$(wc -l <victim.out) -le $before ]; do sleep 0.02; done" \
		>perf.err 2>&1 || return 1
	folded work >"$3"
}

# share FILE: of its samples those in stubs, in thousandths, and how many there are.
share() { awk '/^OURS/ { n++ } END { printf "%d %d\n", NR ? n * 1000 / NR : 0, NR }' "$1"; }

# same FILE FILE: prints what is common, with its share in both; fails where they differ.
same()
{
	awk '
	/^OURS/ { next }
	{ f = FILENAME == ARGV[1]; n[f]++; for (i = 2; i <= NF; i++) { c[f, $i]++; names[$i] } }
	END {
		if (n[0] < 500 || n[1] < 500) { print "too few samples:", n[0], n[1]; exit 2 }
		for (k in names) {
			p = c[1, k] / n[1]; q = c[0, k] / n[0]
			if (p < 0.05 && q < 0.05) continue
			both = (c[1, k] + c[0, k]) / (n[1] + n[0])
			d = p > q ? p - q : q - p
			far = d > 0.03 + 5 * sqrt(both * (1 - both) * (1 / n[1] + 1 / n[0]))
			printf "%-36s %.3f %.3f%s\n", k, p, q, far ? " differ" : ""
			bad += far
		}
		exit bad > 0
	}' "$1" "$2" >same.txt
}

# compare HOW FILE FILE
compare()
{
	local status=0

	same "$2" "$3" || status=$?
	sort same.txt
	[ $status != 2 ] || skip "$1: $(cat same.txt)"
	[ $status = 0 ] || die "$1: other stacks in $3 than in $2: $(grep differ same.txt)"
	[ -s same.txt ] || die "$1: no function has one sample of twenty"
}

# in_stubs HOW: some of probed.txt are, and none of plain.txt.
in_stubs()
{
	local ours of

	[[ $(share plain.txt) == "0 "* ]] || die "$1: samples in no file without probes"
	read -r ours of < <(share probed.txt)
	echo "$1: $ours of 1000 samples in stubs, of $of ($(closing functions) functions)"
	[ "$ours" -gt 0 ] || die "$1: no sample in a stub"
}

# formatted FILE COMMAND...: its samples while it formats, and what it says in said.FILE.
formatted()
{
	perf record -q -o perf.data -e cpu-clock:u -F 1999 --call-graph fp -- "${@:2}" \
		-l "$goroot/src/net" "$goroot/src/crypto" >"said.$1" 2>trace.err
	folded gofmt >"$1"
}

# All of Go's own code has frame pointers. In one thread, and without a collector, which does
# more where no others want the processors.
go_too()
{
	local go goroot

	go=$(command -v go || true)
	[ -n "$go" ] || { echo "no Go here"; return 0; }
	goroot=$("$go" env GOROOT)
	export GOMAXPROCS=1 GOGC=off
	formatted plain.txt "$goroot/bin/gofmt"
	formatted probed.txt "$INJECT" -f 'go/*' -f 'runtime.*' -o /dev/null -- "$goroot/bin/gofmt"
	cmp said.plain.txt said.probed.txt
	in_stubs gofmt
	compare gofmt plain.txt probed.txt
}

export PYTHONHASHSEED=1
victim work
sampled fp 20 warm.txt || { cat perf.err; skip "perf cannot record here"; }
for how in fp dwarf,16384; do
	sampled $how 600 plain.txt
	inject_bg -p "$VICTIM" -f 'Py*' -f '_Py*' -o /dev/null
	sampled $how 300 probed.txt
	inject_end INT
	removed
	in_stubs $how
	compare $how plain.txt probed.txt
	sampled $how 600 after.txt
	[[ $(share after.txt) == "0 "* ]] || die "$how: samples in no file after all probes"
	compare $how plain.txt after.txt
done
victim_quit
go_too
