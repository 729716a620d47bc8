#!/bin/bash
# SPDX-License-Identifier: MIT
# coroutines: calls on the stacks of Boost.Context, Boost.Coroutine2 and ucontext,
# which begin in one thread and end in another, or by a throw, on memory that was
# another's stack before. The coroutines' own counts are the truth: as many calls of
# each function, each with its end, none without its begin, each within as many
# others as it was.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

# The columns of calls.json as "made" has them.
as_traced()
{
	jq -rs '[.[] | select(.type == "call")] |
		def n(f): map(select(.func == f)) | length;
		def ended(e): map(select(.end == e)) | length;
		"co_deep \(n("co_deep")) co_hop \(n("co_hop")) co_leaf \(n("co_leaf")) " +
		"co_throw \(n("co_throw")) inside \(map(.depth) | add) " +
		"unwound \(ended("unwound")) other \(length - ended("unwound") - ended("return"))"' \
		calls.json
}

# run KIND [LARGE]: "made", as the victim says; calls.json is the trace, with the options in OPTIONS.
OPTIONS=()
run()
{
	victim coroutines "$@"
	tell 'run 20' '^made' >/dev/null
	inject_bg -p "$VICTIM" -f 'co_*' --json -o calls.json "${OPTIONS[@]}"
	made=$(tell 'run 500' '^made' 60)
	inject_end
	removed
	victim_quit
	[ "$(closing lost)" = 0 ] || skip "calls were lost: it is not known which"
	[ "${made##* }" -gt 100 ] || skip "they stayed in their threads (${made##* } moves)"
	got=$(as_traced)
	want="$(sed 's/^made //; s/ moved .*//' <<<"$made") other 0"
	echo "$*: $made; traced $got"
}

# All is as it was made. Of a stack that two threads look for at the same moment a few calls may be
# shown less deep than they are (docs/recording.md).
same()
{
	local told those

	told=${got#* inside } those=${want#* inside }
	told=${told%% *} those=${those%% *}
	[ "${got/inside*unwound/}" = "${want/inside*unwound/}" ] && [ "$told" -le "$those" ] &&
		[ "$told" -ge $((those - those / 1000)) ]
}

need jq
[ -x "$VICTIMS/coroutines" ] || skip "no Boost.Context here"
for kind in fiber coroutine ucontext; do
	run $kind
	same || die "$kind: traced $got, made $want"
done
# Where each call is recorded as it ends, by the thread in which it does.
OPTIONS=(-t 1ns)
for kind in fiber coroutine ucontext; do
	run $kind
	same || die "$kind, sifted: traced $got, made $want"
done
OPTIONS=()
# With frames larger than a stack's bounds are guessed to reach, all is the same but
# how deep the calls are.
run fiber 12000
[ "${got/inside*unwound/}" = "${want/inside*unwound/}" ] || die "large: traced $got, made $want"
# Where two stacks pass for one, calls are taken for others, and still none is lost.
run tight 1
calls=$(awk '{ print $3 + $5 + $7 + $9 }' <<<"$made")
[ "$(closing calls)" = "$calls" ] || die "tight: $(closing calls) calls, made $calls"
[ "$(closing events)" = $((2 * calls)) ] || die "tight: $(closing events) events of $calls calls"
# What is judged as it ends is told if it does, whatever it was taken for meanwhile; but for a few,
# which two threads looked for at the same moment (docs/recording.md).
OPTIONS=(-w 'duration >= 0ns')
run tight 1
calls=$(awk '{ print $3 + $5 + $7 }' <<<"$made")
[ "$(closing calls)" -le "$calls" ] && [ "$(closing calls)" -ge $((calls - calls / 1000)) ] ||
	die "tight, by a condition: $(closing calls) of $calls"
