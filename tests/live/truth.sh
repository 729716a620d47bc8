#!/bin/bash
# SPDX-License-Identifier: MIT
# truth: a program that knows what it called when, over signals, longjmp, exceptions, ends
# of threads and processes, and exec, is told the same by live output, replay, report,
# graph and each export; and all of them count calls whose begins are not recorded alike.
# timeout: 600
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

need python3 jq
BOUND=$(awk "BEGIN { print 0.5 * ${PATIENCE:-1} }")	# seconds: ends of threads are noticed later
truth() { python3 "$ROOT/tests/tools/truth.py" "$@" || die "$*"; }
act() { tell "$1" "^ok $1" >/dev/null; }

# begin ARG...: the model, while it is traced.
begin()
{
	: >model.log
	victim model "$PWD/model.log"
	inject_bg "$@" -p "$VICTIM" -f 'model_*' --follow-fork
}

# scenes: all that it can do; what ends does so long before the recording.
scenes()
{
	local scene

	for scene in plain left thread fork kill; do
		act $scene
	done
	started "$(tell exec '^ok exec' | cut -d' ' -f3)"
	sleep 1.5
}

# log JSON: what it tells is what the model has done.
log() { truth log model.log "$1" "$BOUND"; }

# views DIRECTORY: all views of it tell the same, and what the model has done.
views()
{
	local to

	status 0 "$INJECT" replay "$1" --json
	mv trace.out view.json
	for to in report graph; do
		status 0 "$INJECT" "$to" "$1"
		mv trace.out "view.$to"
	done
	for to in folded speedscope chrome dot pprof perfetto svg; do
		status 0 "$INJECT" export "$1" --to $to -o "view.$to"
	done
	status 0 "$INJECT" export "$1" --to ctf -o view.ctf
	status 0 "$INJECT" replay view.ctf --json
	mv trace.out ctf.json
	rm -r view.ctf
	truth views view.json
}

# part FUNCTION: it has begun before the record, and so has the call around it.
part() { truth part model.log view.json "$1" "$BOUND"; }

# in_order: lines come in the order of the times that they tell.
in_order() { grep -v '^#' trace.out | cut -c1-15 | LC_ALL=C sort -c || die "$(head -n 20 trace.out)"; }
# No day ends here.
TZ=NOON$(($(date -u +%-H) - 12))
export TZ

begin --json
scenes
inject_end
removed
cp trace.out live.json
log live.json
rm victim.in

begin --time
scenes
inject_end
removed
in_order
[ "$(grep -c '[;{]$' trace.out)" = "$(wc -l <model.log)" ] || die "not each call"
rm victim.in

# The end of the whole process, with it.
begin record -o all
scenes
echo end >&9
WANT=4 inject_wait
views all
log view.json
log ctf.json
status 0 "$INJECT" replay --time all
in_order
rm victim.in

# Where the last is kept, the slow call has its duration, and its caller a part.
: >model.log
victim model "$PWD/model.log"
status 0 "$INJECT" start -p "$VICTIM" -f 'mod*' -m 256K --snapshot-on 'model_slow > 100ms'
act slow
status 0 "$INJECT" snapshot -p "$VICTIM" -o shot
has_line 'model_slow took' trace.err || die "not noticed: $(cat trace.err)"
status 0 "$INJECT" stop -p "$VICTIM"
views shot
part model_slow
victim_quit

# Calls that were open as we came.
: >model.log
victim model "$PWD/model.log"
echo long >&9
inject_bg record -p "$VICTIM" -f 'mod*' -o middle
sleep 0.3
tell enough '^ok long' >/dev/null
inject_end
removed
views middle
part model_lasts
grep -q '^# begun before .*: model_.* 1, model_.* 1$' view.report view.graph || die "not marked"

# What a filter has left out is not there with 0 calls.
for filter in '-t 2ms' '-f model_outer' '-D 2'; do
	for view in 'graph' 'export --to dot'; do
		# shellcheck disable=SC2086 # several words
		status 0 "$INJECT" $view $filter all
		grep -q model_outer trace.out || die "$view $filter: $(cat trace.out)"
		! grep -qE '  0  +model_|n0 calls|="0"' trace.out || die "$view $filter: $(cat trace.out)"
	done
done

# How long a call takes of which the entry is probed only is not known: that is no time of 0.
rm victim.in
begin record -o entries --entry-only
act plain
inject_end
removed
views entries
! grep '0\.000' view.report view.graph view.dot || die "a time that is not known"
[ "$(awk '!/^#/ { print $1 $2 $4 $5 $6 $7 $8 }' view.report | sort -u)" = "-------" ] ||
	die "$(cat view.report)"
grep -q 'calls\\nnot timed' view.dot || die "$(cat view.dot)"
victim_quit
victim linkage_lazy
inject_bg top -p "$VICTIM" -f 'l64a@plt'
tell 'call 50' '^called 50' >/dev/null
inject_end
[ "$(awk '/l64a@plt/ { print $2 $4 $5 $6 $7 $8 }' trace.out)" = ------ ] || die "$(cat trace.out)"

# Where times are counted, those of calls that a thread's end ends are, too.
exec 9>&-
wait "$VICTIM" || true
VICTIM=
rm victim.in
begin hist --json
act thread
inject_end
removed
jq -es --argjson bound "$BOUND" '[.[] | select(.type == "hist") | select(.func |
	IN("model_worker", "model_leaves"))] | length == 2 and all(.[];
	.timed == 1 and .unwound == 1 and .total_ns >= 10e6 and .total_ns <= 10e6 + $bound * 1e9)' \
	trace.out >/dev/null || die "$(cat trace.out)"
