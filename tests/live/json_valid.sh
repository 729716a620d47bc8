#!/bin/bash
# SPDX-License-Identifier: MIT
# json_valid: every line is an object; keys and order of ending as documented.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

need python3
victim recursion
status 0 "$INJECT" -p "$VICTIM" -f 'rec_fib' -d 0.3 --json
removed
python3 - <<'PY'
import json

seen, last = set(), 0
for line in open("trace.out"):
    o = json.loads(line)
    seen.add(o["type"])
    if o["type"] == "start":
        assert o["version"] == 1, o
    if o["type"] == "call":
        for key in ("ts_ns", "dur_ns", "end", "pid", "tid", "depth", "func", "module"):
            assert key in o, (key, o)
        assert o["end"] in ("return", "unwound", "open"), o
        assert (o["dur_ns"] is None) == (o["end"] == "open"), o
assert {"start", "call", "summary"} <= seen, seen
PY
