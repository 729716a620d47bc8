#!/bin/bash
# SPDX-License-Identifier: MIT
# record_export: every format is read by those that it is made for, and has every call.
# timeout: 360
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

need python3 uftrace protoc dot babeltrace2
GO=$(command -v go || ls /usr/lib/go-*/bin/go 2>/dev/null | tail -n 1)
[ -n "$GO" ] || skip "no go here"
python3 -c 'import jsonschema' 2>/dev/null || skip "no jsonschema for python3 here"
victim spin_threads 3
inject_bg record -p "$VICTIM" -f 'count_*'
tell pace '^ok pace' >/dev/null
sleep 0.3
made=$(tell end '^counted' | cut -d' ' -f2)
inject_end
removed
[ "$(closing calls)" = "$made" ] && [ "$(closing lost)" = 0 ] || die "not every call is recorded"

# export FORMAT: into out.FORMAT, without a word.
export_to()
{
	status 0 "$INJECT" export --to "$1" -o "out.$1"
	[ ! -s trace.err ] || die "$1: $(head -n 1 trace.err)"
}

same() { [ "$2" = "$made" ] || die "$1 has $2 calls, not $made"; }

# The tree as we print it is what the others must have.
status 0 "$INJECT" graph
traced '    count_leaf$'
leaves=$(awk '/    count_leaf$/ { print $(NF - 1) }' trace.out)
same graph "$(awk '!/^#/ { n += $(NF - 1) } END { print n }' trace.out)"

export_to uftrace
same uftrace "$(uftrace report -d out.uftrace 2>uftrace.err |
	awk '$NF ~ /^count_/ { n += $(NF - 1) } END { print n }')"
uftrace graph -d out.uftrace count_frame >uftrace.out 2>>uftrace.err
grep -q "($leaves) count_leaf" uftrace.out || die "uftrace's graph is another one"
uftrace replay -d out.uftrace >uftrace.out 2>>uftrace.err
same "uftrace replay" "$(grep -c 'count_.*(.*[{;]$' uftrace.out)"

export_to pprof
"$GO" tool pprof -top -nodecount=0 -sample_index=calls out.pprof >pprof.out 2>pprof.err ||
	die "pprof: $(head -n 2 pprof.err)"
same pprof "$(sed -nE 's/.* of ([0-9]+) total$/\1/p' pprof.out)"

export_to perfetto
# TracePackets with a track_event that begins a slice.
same perfetto "$(protoc --decode_raw <out.perfetto | grep -c '^    9: 1$')"
[ "$(protoc --decode_raw <out.perfetto | grep -c '^    9: 2$')" = "$made" ] || die "perfetto: ends"

export_to ctf
status 0 "$INJECT" replay out.ctf
same "replay of ctf" "$(grep -cE 'count_.*(\{|;)$' trace.out)"
# What is read is not what makes room for the result.
cp -r inject.data older.old
cp -r inject.data older
status 1 "$INJECT" export --to ctf -o older older.old
diff -r inject.data older.old || die "what was to be exported is gone"
babeltrace2 out.ctf >out.ctf.txt 2>ctf.err || die "babeltrace2: $(head -n 2 ctf.err)"
[ ! -s ctf.err ] || die "babeltrace2: $(head -n 1 ctf.err)"
same babeltrace2 "$(grep -c ' entry: ' out.ctf.txt)"
# Moments in ns, as in the recording; of a thread no two are the same.
grep -q 'freq = 1000000000;' out.ctf/metadata && grep -q '	offset = 0;' out.ctf/metadata ||
	die "$(grep -A 8 '^clock' out.ctf/metadata)"
babeltrace2 inject.data >recorded.out 2>>ctf.err
python3 - <<'PY'
import re

def moments(path):
    line = re.compile(r"\[(\d+):(\d+):(\d+)\.(\d+)\].* (entry|exit): .* tid = (\d+),")
    for h, m, s, ns, what, tid in (line.match(l).groups() for l in open(path)):
        yield tid, what, ((int(h) * 60 + int(m)) * 60 + int(s)) * 10**9 + int(ns)

def by_thread(path):
    ret = {}
    for tid, what, ns in moments(path):
        ret.setdefault(tid, []).append((what, ns))
    return ret

then, now = by_thread("recorded.out"), by_thread("out.ctf.txt")
assert then.keys() == now.keys()
for tid in now:
    assert [w for w, _ in then[tid]] == [w for w, _ in now[tid]]
    assert all(a[1] < b[1] for a, b in zip(now[tid], now[tid][1:])), tid
    assert max(abs(a[1] - b[1]) for a, b in zip(then[tid], now[tid])) < 100000, tid
PY

export_to dot
dot -Tsvg out.dot >dot.svg
grep -q count_frame dot.svg || die "dot draws no function"

export_to svg
export_to speedscope
export_to chrome
export_to folded
same chrome "$(grep -c '"ph":"X"' out.chrome)"
python3 - "$ROOT/tests/formats/speedscope.schema.json" <<'PY'
import json, jsonschema, sys, xml.etree.ElementTree as xml

events = json.load(open("out.chrome"))["traceEvents"]
calls = [e for e in events if e["ph"] == "X"]
assert all(e["dur"] >= 0 and e["ts"] >= 0 and e["name"].startswith("count_") for e in calls)
assert {e["tid"] for e in events if e["name"] == "thread_name"} >= {e["tid"] for e in calls}

folded = {}
for line in open("out.folded"):
    stack, ns = line.rsplit(" ", 1)
    folded[tuple(stack.split(";"))] = int(ns)
assert ("count_frame", "count_leaf") in folded, folded

# By the schema that comes with it; then names, and sums that it checks.
s = json.load(open("out.speedscope"))
jsonschema.validate(s, json.load(open(sys.argv[1])))
assert s["$schema"] == "https://www.speedscope.app/file-format-schema.json"
names = [f["name"] for f in s["shared"]["frames"]]
p, = s["profiles"]
assert p["type"] == "sampled" and p["unit"] == "nanoseconds" and p["startValue"] == 0
assert len(p["samples"]) == len(p["weights"]) and sum(p["weights"]) == p["endValue"]
assert {tuple(names[i] for i in s): w for s, w in zip(p["samples"], p["weights"])} == folded

boxes = {}
ns = "{http://www.w3.org/2000/svg}"
root = xml.parse("out.svg").getroot()
for g in root.iter(ns + "g"):
    boxes.setdefault(g.get("data-d"), []).append(float(g.get("data-w")))
    assert g.find(ns + "rect") is not None and g.find(ns + "title") is not None
assert abs(boxes["0"][0] - 1180) < 0.01 and len(boxes["1"]) == 3 and len(boxes["2"]) == 1, boxes
assert abs(sum(boxes["1"]) - 1180) < 1, boxes
assert root.find(ns + "script") is not None
PY
