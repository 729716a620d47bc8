#!/bin/bash
# SPDX-License-Identifier: MIT
# calm: what the tracer thread can look at before a stop it looks at when no other wants the
# processor: most of the processor time of its threads is idle, in a process with some megabytes
# of code. (The kernel tells how long each has run, and in which policy, which a thread has from
# the one that starts it.) A visit that finds no processor with nothing else to do hurries
# instead, and says nothing.
# serial: where other tests want the processors there is no leisure
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

need_root
need perf python3
[ "$(nice)" = 0 ] || skip "a niceness that was given stays"

judge()
{
	perf script -i perf.data -F comm,tid,event,trace 2>perf.err | python3 -c '
import collections, re, sys
IDLE, OTHER = 5, 0
first, policy, begun = None, {}, []
time, raised = collections.Counter(), False
for line in sys.stdin:
    m = re.match(r"\s*.+?\s+(\d+)\s+(\S+?):\s+(.*)", line)
    tid, event, trace = int(m[1]), m[2], m[3]
    fields = {k: int(v, 0) for k, v in re.findall(r"(\w+)[:=] ?(0x[0-9a-f]+|\d+)", trace)}
    first = first or tid
    if tid not in policy and tid != first and begun:
        policy[tid] = begun.pop(0)
    if event.endswith("sched_stat_runtime"):
        if tid != first:
            time["idle" if policy.get(tid) == IDLE else "busy"] += fields["runtime"]
    elif event.endswith("sched_process_fork"):
        # Its id is not that of this PID namespace: it is the next that is new.
        begun.append(policy.get(tid, OTHER))
    else:
        thread = fields["pid"] or tid
        policy[thread] = fields["policy"]
        raised |= thread != tid and policy[thread] == OTHER
print("raised" if raised else "eased", time["idle"] // 1000, time["busy"] // 1000)'
}

visit()
{
	status 0 perf record -q -o perf.data -e sched:sched_stat_runtime \
		-e sched:sched_process_fork -e syscalls:sys_enter_sched_setscheduler -- \
		"$INJECT" -d 0.01 -o /dev/null -p "$SERVER" -f 'PyObject_*'
	has_line 'all probes removed, text verified' trace.err || die "not removed"
	read -r how idle busy < <(judge)
	echo "$how: $idle us at leisure, $busy us not"
}

perf record -q -o perf.data -e sched:sched_stat_runtime true >perf.err 2>&1 ||
	skip "the kernel does not tell what has run"
idle_python
for _ in 1 2 3 4 5; do
	visit
	[ "$how" != eased ] || [ "$idle" -lt "$busy" ] || break
done
clean "$SERVER"
[ "$how" = eased ] || skip "no processor here is ever idle: run it where nothing else does"
[ "$idle" -gt "$busy" ] || die "most was not done at leisure"
