#!/bin/bash
# SPDX-License-Identifier: MIT
# count_json: each recorded call is printed once, as a line of JSON.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

need python3
victim spin_threads 2
inject_bg -p "$VICTIM" -f 'count_*' --json
tell pace '^ok pace' >/dev/null
sleep 0.5
made=$(tell end '^counted' | cut -d' ' -f2)
inject_end
removed
python3 - "$made" <<'PY'
import json, sys

made, calls, names, kinds = int(sys.argv[1]), 0, {}, []
for line in open("trace.out"):
    o = json.loads(line)
    kinds.append(o["type"])
    if o["type"] == "call":
        calls += 1
        names[o["func"]] = names.get(o["func"], 0) + 1
        assert o["end"] == "return", o
        assert o["dur_ns"] >= 0 and o["ts_ns"] > 0, o
        assert o["depth"] >= 0 and o["tid"] > 0 and o["pid"] > 0, o
assert kinds[0] == "start" and kinds[-1] == "summary", kinds[:1] + kinds[-1:]
assert calls == made, (calls, made)
# A round is one count_frame, one count_tail, three count_leaf.
assert names["count_leaf"] == 3 * names["count_frame"], names
assert names["count_tail"] == names["count_frame"], names
PY
