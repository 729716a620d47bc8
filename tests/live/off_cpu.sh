#!/bin/bash
# SPDX-License-Identifier: MIT
# off_cpu: of calls that sleep, wait, spin, and share a processor, it is told how long their
# threads had none, live and of a recording; where the kernel does not tell us, that is said, and
# all else works.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

need jq python3 babeltrace2 protoc
NAMES=(sleep futex lock spin deep crowd brief churn)

# all_of_it: each command once, while it is traced.
all_of_it()
{
	local name

	MARK=$(wc -l <victim.out)
	for name in "${NAMES[@]}"; do
		tell "$name" "^$name$" >/dev/null
	done
}

# truth FILE: what must hold of the calls in the JSON of FILE, and of the lines that the victim has
# printed since mark. How long things took is asked of half of the calls only: a virtual machine may
# lose its processor at any moment, and sees nothing of that.
truth()
{
	tail -n +"$((MARK + 1))" victim.out >did.out
	python3 - "$1" <<'PY' 2>why.out || die "$1: $(cat "$1" did.out why.out)"
import collections, json, os, sys

# Where a machine is slow (PATIENCE) a switch takes long, and a thread's clock begins before it ends;
# and the kernel's clock and that of the calls cannot always be read at the same moment.
slow = float(os.environ.get("PATIENCE") or 1) > 1

calls = [c for c in map(json.loads, open(sys.argv[1])) if c["type"] == "call"]
of = collections.defaultdict(list)
unknown = [c for c in calls if c["cpu_ns"] is None]
assert len(unknown) <= (2 if slow else 0), unknown
for c in sorted(calls, key=lambda c: c["ts_ns"]):
    of[c["func"]].append(c)
    if c in unknown:
        continue
    assert c["end"] == "return" and c["cpu_ns"] + c["wait_ns"] == c["dur_ns"], c
    assert c["cpu_ns"] >= 0 and 0 <= c["preempted_ns"] <= c["wait_ns"], c

# A call in which the thread left its processor to wait has a wait that is not all preempted.
did = collections.defaultdict(list)
for line in open("did.out"):
    if line.startswith("did "):
        _, func, tid, times = line.split()
        did[func, int(tid)].append(int(times))
assert sum(map(len, did.values())) == 50, did
for (func, tid), times in did.items():
    its = [c for c in of[func] if c["tid"] == tid]
    assert len(its) == len(times), (func, tid, its, times)
    for c, n in zip(its, times):
        assert not n or c in unknown or c["wait_ns"] > c["preempted_ns"], (c, n)

def half(func, key, n, least):
    assert len(of[func]) == n, (func, len(of[func]))
    got = sorted(c[key] for c in of[func] if c not in unknown)
    assert got[len(got) // 2] >= least * (0.8 if slow else 1), (func, key, got)

for func in "off_sleep", "off_futex", "off_lock":
    half(func, "wait_ns", 10, 4900000)
# Its own clock begins a little before, with each switch.
half("off_spin", "cpu_ns", 10, 4900000)
half("off_brief", "wait_ns", 20, 900000)
half("off_brief", "cpu_ns", 20, 900000)
half("off_crowd", "cpu_ns", 2, 58000000)
assert sum(c["preempted_ns"] for c in of["off_crowd"]) > 1000000, of["off_crowd"]
deep = sorted(of["off_deep"], key=lambda c: c["depth"])
assert len(deep) == 10 and deep[0]["wait_ns"] >= 4500000, deep
for outer, inner in zip(deep, deep[1:]):
    for key in "dur_ns", "cpu_ns", "wait_ns", "preempted_ns":
        assert outer[key] >= inner[key] - 1, (key, outer, inner)
PY
}

# without_switches: no columns, and the reason once.
without_switches()
{
	removed
	[ "$(grep -c 'cpu and wait times are not to be had: ' trace.err)" = 1 ] ||
		die "it is not said that there are none"
	grep -q "$1" trace.err || die "the reason is not $1"
	if grep -q 'CPU' trace.out; then die "there are columns"; fi
}

victim off_cpu

# ---- where it is forbidden ----

under=("$BUILD/tests/tools/under")
for how in "noperf:seccomp" "paranoid:kernel.perf_event_paranoid is "; do
	for verb in trace hist top; do
		status 0 "${under[@]}" "${how%%:*}" "$INJECT" $verb -p "$VICTIM" -f 'off_*' -d 0.1 --off-cpu
		without_switches "${how#*:}"
	done
	status 0 "${under[@]}" "${how%%:*}" "$INJECT" record -p "$VICTIM" -f 'off_*' -d 0.1 --off-cpu
	without_switches "${how#*:}"
	status 0 "$INJECT" report
	if grep -q 'CPU' trace.out; then die "a recording without them has columns"; fi
	status 1 "$INJECT" report --sort wait
	refused 'record with --off-cpu'
done
status 0 "${under[@]}" noperf "$INJECT" top -p "$VICTIM" -f 'off_*' -d 0.1 --off-cpu --sort wait
status 2 "$INJECT" top -p "$VICTIM" -f 'off_*' --sort wait
refused 'needs --off-cpu'
status 2 "$INJECT" count -p "$VICTIM" -f 'off_*' --off-cpu

status 0 "$INJECT" -p "$VICTIM" -f 'off_*' -d 0.1 --off-cpu
removed
if has_line 'not to be had' trace.err; then
	skip "perf events are not permitted here: $(grep 'not to be had' trace.err)"
fi

# ---- live ----

inject_bg -p "$VICTIM" -f 'off_*' --off-cpu --json
all_of_it
inject_end
removed
cp trace.out live.json
truth live.json

inject_bg -p "$VICTIM" -f 'off_*' --off-cpu
tell sleep '^sleep$' >/dev/null
inject_end
grep -q '^# DURATION  *CPU  *WAIT  *TID  *FUNCTION$' trace.out || die "no columns"
[ "$(grep -cE '^ +[0-9.]+ ms +[0-9.]+ us +[0-9.]+ ms \[.*off_sleep\(\);$' trace.out)" -ge 5 ] ||
	die "no call with its wait: $(cat trace.out)"

# With -t calls are told when they have ended.
inject_bg -p "$VICTIM" -f 'off_*' --off-cpu --json -t 500us
all_of_it
inject_end
removed
cp trace.out late.json
truth late.json

for verb in hist top; do
	inject_bg $verb -p "$VICTIM" -f 'off_*' --off-cpu --json
	all_of_it
	inject_end
	removed
	# Sums of ticks, each made to nanoseconds by itself.
	jq -es --arg verb $verb 'map(select(.type == $verb)) | length == 7 and all(.[];
		.wait_known == .timed and ((.cpu_ns + .wait_ns - .total_ns) | fabs) <= 2)' trace.out >/dev/null ||
		die "$verb: $(cat trace.out)"
	jq -es 'map(select(.func == "off_sleep"))[0].wait_ns >= 24500000' trace.out >/dev/null ||
		die "$verb: $(cat trace.out)"
done
inject_bg hist -p "$VICTIM" -f off_sleep --off-cpu
tell sleep '^sleep$' >/dev/null
inject_end
grep -qE '^# off_sleep: 10 calls.*; cpu [0-9.]+ .s, wait [0-9.]+ ms$' trace.out || die "hist: $(cat trace.out)"
inject_bg top -p "$VICTIM" -f 'off_s*' --off-cpu --sort wait
tell sleep '^sleep$' >/dev/null
tell spin '^spin$' >/dev/null
inject_end
grep -qE '^#.* SELF +CPU +WAIT +AVG ' trace.out && [ "$(grep -cE '( +[0-9.]+( %| .s)?){10}  off_s' trace.out)" = 2 ] ||
	die "top: $(cat trace.out)"

# ---- recorded ----

inject_bg record -p "$VICTIM" -f 'off_*' --off-cpu
all_of_it
inject_end
removed
status 0 "$INJECT" replay --json
cp trace.out replay.json
truth replay.json
status 0 "$INJECT" info
grep -q '^off-cpu	yes$' trace.out || die "info: $(cat trace.out)"
status 0 "$INJECT" report --sort wait
cp trace.out report.out
status 0 "$INJECT" report --json
jq -es 'length == 7 and all(.[]; ((.cpu_ns + .wait_ns - .total_ns) | fabs) <= .calls)' trace.out >/dev/null ||
	die "report --json: $(cat trace.out)"
status 0 "$INJECT" hist inject.data --json
jq -es 'length == 7 and all(.[]; .wait_known == .timed and ((.cpu_ns + .wait_ns - .total_ns) | fabs) <= 2)' trace.out >/dev/null ||
	die "hist of a recording: $(cat trace.out)"
status 0 "$INJECT" graph
cp trace.out graph.out
python3 - <<'PY' || die "$(cat report.out graph.out)"
import json, re

units = {"us": 1e3, "ms": 1e6, "s": 1e9}
def spans(line):
    return [float(n) * units[u] for n, u in re.findall(r"(\d+\.\d+) +(us|ms|s)\b", line)]

# Of recursive calls the outermost counts.
calls = [c for c in map(json.loads, open("replay.json")) if c["type"] == "call"]
sums = {}
for c in calls:
    if c["func"] != "off_deep" or c["depth"] == 0:
        s = sums.setdefault(c["func"], [0, 0, 0])
        for i, key in enumerate(("dur_ns", "cpu_ns", "wait_ns")):
            s[i] += c[key]

lines = open("report.out").read().splitlines()
assert re.match(r"# +TOTAL +SELF +CPU +WAIT +CALLS ", lines[0]), lines[0]
rows = {l.split()[-1]: spans(l) for l in lines[1:] if not l.startswith("#")}
assert set(rows) == set(sums), (rows, sums)
for name, (total, self, cpu, wait, *rest) in rows.items():
    for shown, real in zip((total, cpu, wait), sums[name]):
        assert abs(shown - real) <= max(real / 500, 1000), (name, shown, real)
waits = [r[3] for r in rows.values()]
assert waits == sorted(waits, reverse=True), waits
assert not any(l.startswith("# in the total") for l in lines)

lines = open("graph.out").read().splitlines()
assert re.match(r"# +TOTAL +SELF +CPU +WAIT +CALLS +FUNCTION", lines[0]), lines[0]
deep = [spans(l) for l in lines if l.endswith("off_deep")]
assert len(deep) == 10 and all(abs(t - c - w) <= 2000 for t, s, c, w in deep), deep
PY

# Of a part of it, too: the later calls.
status 0 "$INJECT" replay --json --since 1ms -f 'off_[cb]*'
jq -es 'map(select(.type == "call" and .end == "return")) | length == 22 and
	all(.[]; .cpu_ns + .wait_ns == .dur_ns)' trace.out >/dev/null || die "since: $(cat trace.out)"

# ---- more than the kernel keeps ----

inject_bg record -p "$VICTIM" -f 'off_*' --off-cpu -o storm.data
tell sleep '^sleep$' >/dev/null
# Nothing is read meanwhile, nor kept of the calls that come after it.
kill -STOP "$TRACER"
tell storm '^storm$' >/dev/null
tell futex '^futex$' >/dev/null
kill -CONT "$TRACER"
for i in 1 2 3 4 5; do
	tell sleep '^sleep$' >/dev/null
	sleep 0.2
done
inject_end
removed
has_line ' the kernel had more switches of threads than it keeps' trace.err || die "it is not said"
# What is told is right: those that slept have waited.
status 0 "$INJECT" replay --json storm.data
jq -es 'map(select(.type == "call")) | length == 71 and
	all(.[]; if .func == "off_sleep" then .cpu_ns == null or (.cpu_ns + .wait_ns == .dur_ns and
		.wait_ns > .preempted_ns) else .cpu_ns == null and .wait_ns == null end) and
	all(.[:10][]; .cpu_ns != null) and any(.[-40:][]; .cpu_ns != null)' trace.out >/dev/null ||
	die "a ring that was full: $(cat trace.out)"
babeltrace2 storm.data >storm.out
grep -q ' switches_lost: ' storm.out || die "no loss is recorded"
status 0 "$INJECT" report storm.data
grep -q '^# in the total, but in neither cpu nor wait.*off_storm 1' trace.out || die "$(cat trace.out)"
awk '$NF == "off_storm" && $5 == "-" && $6 == "-" { ok = 1 } END { exit !ok }' trace.out || die "$(cat trace.out)"

# ---- other tools ----

babeltrace2 inject.data >ctf.out 2>ctf.err || die "babeltrace2: $(cat ctf.err)"
[ ! -s ctf.err ] || die "babeltrace2: $(head -n 1 ctf.err)"
[ "$(grep -c ' off: .*preempted = [01]' ctf.out)" -ge 60 ] || die "babeltrace2 sees no switches"
status 0 "$INJECT" export --to ctf -o out.ctf
babeltrace2 out.ctf >moved.out 2>ctf.err || die "babeltrace2: $(cat ctf.err)"
[ "$(grep -c ' off: ' moved.out)" = "$(grep -c ' off: ' ctf.out)" ] || die "export --to ctf has others"
status 0 "$INJECT" export --to chrome
jq -e '.traceEvents | (map(select(.ph == "b" and .name == "waits")) | length) as $n |
	$n >= 50 and (map(select(.ph == "b")) | length) == (map(select(.ph == "e")) | length)' trace.out >/dev/null ||
	die "chrome"
status 0 "$INJECT" export --to perfetto -o out.perfetto
protoc --decode_raw <out.perfetto >perfetto.out
[ "$(grep -c '"waits"' perfetto.out)" -ge 50 ] && grep -q '"off-CPU"' perfetto.out || die "perfetto"
for format in uftrace folded pprof svg dot speedscope; do
	status 0 "$INJECT" export --to $format -o "out.$format"
done

# ---- a command, forked children, and a user other than root ----

status 0 "$INJECT" -f 'off_*' --off-cpu --json -- "$VICTIMS/off_cpu" < <(printf 'sleep\nbrief\nquit\n')
grep '^{' trace.out | jq -es 'map(select(.type == "call")) | length == 20 and
	all(.[]; .cpu_ns + .wait_ns == .dur_ns)' >/dev/null || die "a command: $(cat trace.out)"
status 0 "$INJECT" --follow-fork -f 'fork_*' -f 'child_*' --off-cpu --json -d 1 -- "$VICTIMS/forker" </dev/null
victim_quit
[ "$(id -u)" = 0 ] || exit 0
as_nobody off_cpu
victim off_cpu
timeout 60 "${AS[@]}" "$VICTIMS/inject" -p "$VICTIM" -f 'off_*' --off-cpu --json -n 8 >trace.out 2>trace.err &
TRACER=$!
wait_until 60 attached || die "inject did not attach"
tell sleep '^sleep$' >/dev/null
wait $TRACER || die "inject of another user: $?"
if [ "$(cat /proc/sys/kernel/perf_event_paranoid)" -gt 2 ]; then
	# Debian's kernels refuse then, others do as with 2.
	grep -q 'kernel.perf_event_paranoid is ' trace.err && exit 0
fi
if has_line 'not to be had' trace.err; then die "$(cat trace.err)"; fi
jq -es 'map(select(.type == "call")) | length >= 8 and all(.[]; .cpu_ns + .wait_ns == .dur_ns)' trace.out >/dev/null ||
	die "another user: $(cat trace.out)"
