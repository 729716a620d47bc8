#!/bin/bash
# SPDX-License-Identifier: MIT
# hist: `inject hist` has each call once, and the time that it took, in its bucket: by
# what a program has measured itself; of 64 threads that end, recursion, calls that are
# left by longjmp and exceptions, fibers, children; by thread; after a kill, and for
# functions that an earlier visit had no room for.
# timeout: 1200
# shellcheck disable=SC2016 # $n is of jq
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

need jq prlimit

# judge FILTER [NUMBER...]: what holds for a run that has ended, of each function by name.
judge()
{
	local filter=$1

	shift
	jq -es --argjson n "[$(IFS=,; echo "$*")]" \
		'map(select(.type == "hist")) | map({ (.func): . }) | add // {} |
		 def sum(f): f.buckets | map(.calls) | add // 0;
		 all(.[]; sum(.) == .timed and .timed <= .calls and .self_ns <= .total_ns and
			.p50_ns <= .p99_ns and .p99_ns <= .max_ns and .unwound <= .timed) and '"($filter)" \
		trace.out >/dev/null || die "not so: $filter, $*: $(grep '"hist"' trace.out)"
}

# timed GLOB COMMAND [OPTION...]: the victim does it while inject times the functions.
timed()
{
	inject_bg hist -p "$VICTIM" -f "$1" --json "${@:3}"
	read -ra ANSWER <<<"$(tell "$2" "^$2 ")"
	inject_end
	removed
}

victim durations
timed 'nap_*' naps
# Calls, what they have measured, what their caller has; the longest by both.
judge '.nap_for | .calls == $n[0] and .timed == .calls and
	.total_ns * 1.001 >= $n[1] and .total_ns * 0.999 <= $n[2] and
	.max_ns * 1.001 >= $n[3] and .max_ns * 0.999 <= $n[4] and
	all(.buckets[]; .to_ns > 100000) and
	([.buckets[] | select(.from_ns >= 24000000) | .calls] | add >= 10)' "${ANSWER[@]:1}"
timed 'thread_[io]*' threads
judge '.thread_outer.timed == $n[0] and .thread_inner.timed == 2 * $n[0] and
	(.thread_outer.total_ns - .thread_outer.self_ns - .thread_inner.total_ns | fabs) <= 2 and
	.thread_inner.self_ns == .thread_inner.total_ns' "${ANSWER[1]}"
[ "$(closing calls) $(closing events) $(closing lost)" = "$((3 * ANSWER[1])) 0 0" ] ||
	die "the closing line: $(tail -n 1 trace.err)"
timed deep_call deep
judge '.deep_call | .timed == $n[0] and .calls == $n[0] and .max_ns * 2 < .total_ns and
	(.self_ns - .max_ns | fabs) <= 2' "${ANSWER[1]}"
timed 'left_*' left
# The last one is open until another call comes by.
judge '[.left_outer, .left_inner] | all(.calls == $n[0] and .unwound >= $n[0] - 1 and
	.unwound == .timed)' "${ANSWER[1]}"

# Its main thread alone: that one makes no call of these.
timed 'thread_[io]*' threads --tid "$VICTIM"
[ "$(closing calls)" = 0 ] || die "calls of other threads: $(tail -n 1 trace.err)"
timed 'nap_*' naps --tid "$VICTIM"
judge '.nap_for.timed == $n[0]' "${ANSWER[1]}"

# As text: the same, in rows, each of the power of two that it begins with.
inject_bg hist -p "$VICTIM" -f 'nap_*'
tell naps '^naps ' >/dev/null
inject_end
removed
grep -Eq '^# nap_for: 30 calls; average [0-9.]+ [mu]?s, p50 .*, p99 .*, longest ' trace.out ||
	die "the head: $(cat trace.out)"
[ "$(awk '!/^#/ { n += $3 } END { print n }' trace.out)" = 30 ] || die "rows: $(cat trace.out)"

# Killed while it times; then visits of other kinds in turn.
inject_bg hist -p "$VICTIM" -f 'thread_[io]*' -o /dev/null
tell threads '^threads ' >/dev/null
kill -KILL "$TRACER"
wait "$TRACER" || true
tell threads '^threads ' >/dev/null
status 0 "$INJECT" stop -p "$VICTIM"
unharmed
for way in trace hist count hist "trace --entry-only" top; do
	read -ra words <<<"$way"
	inject_bg "${words[@]}" -p "$VICTIM" -f 'thread_[io]*' -o calls.txt
	tell threads '^threads ' >/dev/null
	inject_end
	removed
	[ "$(closing calls)" -gt 0 ] || die "$way: no calls"
	[ "$(closing lost)" = 0 ] || [ "${words[0]}" = trace ] || die "$way has lost calls"
done
victim_quit

# Where addresses are limited, an earlier visit has taken little of them, and the times of
# many functions have no room there: that is said before any jump is written, and fewer
# are timed.
libc='@libc.so*'
[ -z "${KIND:-}" ] || libc='@*'		# others have it elsewhere, or in the program
victim single
prlimit --pid "$VICTIM" --as=$((1 << 30)):unlimited
status 0 "$INJECT" -p "$VICTIM" -f 'single_*' -m 128K -n 10 -o /dev/null
removed
for verb in hist top; do
	status 1 "$INJECT" $verb -p "$VICTIM" -f "*$libc" -d 1
	refused 'the times of [0-9]* functions do not fit into the memory that inject has'
	[ "$(awk '$1 == "VmSize:" { print $2 }' "/proc/$VICTIM/status")" -lt $((200 << 10)) ] ||
		die "$verb: refused, and the addresses are kept"
	unharmed
done
room=$(sed -n 's/.*(\([0-9]*\) would).*/\1/p' trace.err)
[ "$room" -gt 0 ] || die "how many would fit: $(cat trace.err)"
status 0 "$INJECT" hist -p "$VICTIM" -f 'single_*' -n 10
removed
[ "$(closing lost)" = 0 ] || die "calls were lost"
# Ids are for life: a visit for which there is room gives more of them than times have.
status 0 "$INJECT" -p "$VICTIM" -f "*$libc" -d 0.2 -o /dev/null
removed
status 1 "$INJECT" hist -p "$VICTIM" -f "*$libc" -d 1
refused 'visits have probed [0-9]* functions of this process so far, and the memory that inject has'
unharmed
status 0 "$INJECT" hist -p "$VICTIM" -f 'single_*' -n 10
removed
[ "$(closing lost)" = 0 ] || die "calls were lost"
victim_quit

# Many that come and go.
victim churn 4
inject_bg hist -p "$VICTIM" -f 'churn_*' --json
gets_on 3000
inject_end
removed
judge '.churn_work.timed > 3000 * 20 and
	(.churn_inner.timed - 2 * .churn_work.timed | fabs) <= 32'
[ "$(closing lost)" = 0 ] || die "calls were lost"
victim_quit

victim longjmper
inject_bg hist -p "$VICTIM" -f 'jump_*' --json
gets_on 300
inject_end
removed
judge '.jump_catch | .unwound == 0 and .timed >= 300'
judge '.jump_deep | .unwound == .timed and .calls - .timed <= 3 * 9'
victim_quit

# Fibers that go from thread to thread take their open calls with them.
for kind in fiber coroutine ucontext; do
	[ -x "$VICTIMS/coroutines" ] || break
	victim coroutines $kind
	inject_bg hist -p "$VICTIM" -f '*co_*' --json
	read -ra made <<<"$(tell 'run 200' '^made ')"
	inject_end
	removed
	jq -es --argjson n "$((made[2] + made[4] + made[6] + made[8]))" --argjson unwound "${made[12]}" \
		'map(select(.type == "hist")) | (map(.calls) | add) == $n and
		 (map(.timed) | add) == $n and (map(.unwound) | add) == $unwound' \
		trace.out >/dev/null || die "$kind: ${made[*]}: $(cat trace.out)"
	victim_quit
done

# Children, half of which are followed, and make 99 calls of the outer function each.
victim forker
inject_bg hist -p "$VICTIM" -f 'fork_*' --follow-fork --json
one=$(tell fork '^child' | cut -d' ' -f2)
gets_on 100
inject_end
removed
clean "$one"
judge '.fork_outer.timed > 1000 and .fork_inner.timed >= 2 * .fork_outer.timed - 8'
tell reap "^reaped" >/dev/null
