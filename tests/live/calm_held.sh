#!/bin/bash
# SPDX-License-Identifier: MIT
# calm_held: while inject holds a thread it never waits for a processor that no other wants:
# neither of a command that it starts, which stands still for all of the attach, nor of a
# process that runs. (The kernel tells which thread sets the policy of which, and which traces.)
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

need_root
need perf python3
[ "$(nice)" = 0 ] || skip "a niceness that was given stays"

# What each thread did from its first PTRACE_SEIZE to its last PTRACE_DETACH.
judge()
{
	perf script -i perf.data -F tid,event,trace 2>perf.err | python3 -c '
import re, sys
IDLE, SEIZE, DETACH = 5, 0x4206, 0x11
lines = []
for line in sys.stdin:
    m = re.match(r"\s*(\d+)\s+(\S+?):\s+(.*)", line)
    fields = {k: int(v, 0) for k, v in re.findall(r"(\w+)[:=] ?(0x[0-9a-f]+|\d+)", m[3])}
    if m[2].endswith("ptrace"):
        lines.append((int(m[1]), fields["request"]))
    elif fields["policy"] == IDLE:
        lines.append((fields["pid"] or int(m[1]), "idle"))
held = idle = 0
for tid in {t for t, _ in lines}:
    did = [what for t, what in lines if t == tid]
    if SEIZE in did and DETACH in did:
        held += 1
        end = len(did) - did[::-1].index(DETACH)
        idle += did[did.index(SEIZE):end].count("idle")
print(held, idle)'
}

# checked ARG...: inject with these.
checked()
{
	status 0 perf record -q -o perf.data -e syscalls:sys_enter_ptrace \
		-e syscalls:sys_enter_sched_setscheduler -- \
		"$INJECT" -o /dev/null "$@"
	read -r held idle < <(judge)
	[ "$held" -gt 0 ] || die "no thread was held: $(cat perf.err)"
	[ "$idle" = 0 ] || die "$idle times at leisure with a thread held ($*)"
}

perf record -q -o perf.data -e syscalls:sys_enter_ptrace true >perf.err 2>&1 ||
	skip "the kernel does not tell what calls it"
checked -f '*' -- /bin/true
victim spin_threads 2
checked -d 0.01 -p "$VICTIM" -f '*'
removed
victim_quit
