#!/bin/bash
# SPDX-License-Identifier: MIT
# max_pause: a stop that is too long is undone, whichever part of it takes the
# time: to reach all threads, or to write all jumps. Nothing is left, and the line
# says which option to change. A removal keeps to it while that leads anywhere, and
# then says that it did not. With -v each is told: how long it was, and when it ended.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

# given_up PATTERN [ARG...]: status 1, and why.
given_up()
{
	status 1 "$INJECT" -p "$VICTIM" -o /dev/null -d 1 "${@:2}"
	refused "$1"
	has_line 'max-pause' trace.err || die "does not name the option"
	unharmed
	status 0 "$INJECT" stop -p "$VICTIM"
	has_line 'no probes' trace.err || die "something was left"
}

victim sleeper 300
# One request takes longer than this: no other thread is made to wait for the rest.
given_up ' 1 of 30[0-9] threads' -f 'sleeper_*' --max-pause 1us
# Where each stop shows that more is needed few are made, and it is said how much.
status 1 "$INJECT" -v -p "$VICTIM" -o /dev/null -d 1 -f 'sleeper_*' --max-pause 300us
has_line 'in time; allow more with --max-pause [0-9]*ms (some [0-9]* ms are needed)' trace.err ||
	die "does not say how much"
stops=$(grep -c ' stood still for ' trace.err)
[ "$stops" -le 6 ] || die "stood still $stops times for nothing"
victim_quit

# The threads are there in that time, or the first of the pages is not written.
victim many_functions
given_up 'in so short a stop\|in time' -f 'many_*' --max-pause 60us

inject_bg -p "$VICTIM" -f 'many_*' -o /dev/null --max-pause 5s
kill -KILL "$TRACER"
wait "$TRACER" || true
status 0 "$INJECT" stop -p "$VICTIM" --max-pause 1us
has_line 'stops of at most 0.001 ms' trace.err || die "does not say that it took longer"
removed

# Not where that one has brought it no further, either: a thread stops in none.
victim_quit
victim pager
inject_bg -p "$VICTIM" -f work -o /dev/null
kill -KILL "$TRACER"
wait "$TRACER" || true
tell hold '^held' >/dev/null
status 5 "$INJECT" stop -p "$VICTIM" --max-pause 1us
! has_line ' did$' trace.err || die "what no stop has done is said of one: $(cat trace.err)"
tell let '^let' >/dev/null
status 0 "$INJECT" stop -p "$VICTIM"
removed
victim_quit

victim many_functions

# told BEGIN: since then each stop was told, and the longest is that of the closing line. To
# lend a thread is a stop of a process that has no other.
told()
{
	awk -v begin="$1" -v end="$EPOCHREALTIME" '
		/ for [0-9.]+ ms, until / {
			ms = $(NF - 3); until = $NF; n++
			if (ms > most) most = ms
			if (until - ms / 1000 < begin || until > end) wrong = 1
		}
		/; longest pause / { closing = $0; sub(/.*longest pause /, "", closing) }
		END { apart = most - closing; exit n < 2 || wrong || apart^2 > 0.051^2 }
	' trace.err || die "not every stop was told: $(grep ' until \|longest' trace.err)"
}

begin=$EPOCHREALTIME
status 0 "$INJECT" -v -p "$VICTIM" -o /dev/null -d 0.1 -f 'many_1*' --max-pause 5s
told "$begin"
removed
