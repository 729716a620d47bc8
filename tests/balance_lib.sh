# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# balance_lib: of whole programs each call of each function, accounted for: it has an
# exit, or there is a cause for it that the program has counted. Sourced after lib.sh.

buffer=64M		# for all that is recorded, should no process read meanwhile

# Of lines of replay --json: each function's calls, and how they end. What follows sees
# those that do not return only.
cat >balance_calls.awk <<'EOF'
function field(name,  at) {
	at = index($0, "\"" name "\":")
	if (!at)
		return ""
	at = substr($0, at + length(name) + 3)
	if (sub(/^"/, "", at))
		sub(/".*/, "", at)
	else
		sub(/[,}].*/, "", at)
	return at
}
function bad(text) { print "unexplained: " text; wrong = 1 }
function print_calls(  f) {
	for (f in calls)
		if (n[f, "unwound"] + n[f, "open"] + n[f, "before"])
			printf "  %-44s %7d entered %7d returned %6d unwound %4d open %3d before\n",
				f, calls[f] - n[f, "before"], n[f, "return"], n[f, "unwound"],
				n[f, "open"], n[f, "before"]
}
function all() {
	return sprintf("  all: %d returned, %d unwound, %d open, %d before, %d entry only",
		       total["return"], total["unwound"], total["open"], total["before"],
		       total["entry only"])
}
/^{"type":"lost"/ {
	losses++
	lost = $0
}
!/^{"type":"call"/ { next }
{
	f = field("func")
	gsub(/ /, "", f)
	calls[f]++
}
/"end":"return"/ {	# nearly all
	n[f, "return"]++
	total["return"]++
	next
}
{
	how = /"entry_only":true/ ? "entry only" : /"began_before":true/ ? "before" : \
		/"exit_lost":true/ ? "exit lost" : field("end")
	# The end of the process has ended what was open by then.
	if (how == "open" && OVER)
		bad("open behind the end of the process: " $0)
	if (how == "unwound" && OVER && field("ts_ns") + field("dur_ns") >= OVER - 2000)
		how = "open"
	n[f, how]++
	total[how]++
}
EOF

# The calls of a function by how they end, and what must be true of them:
#  - none lost an exit; none began before the trace, but of functions that LATE
#    matches (probed while they ran), or around all others where ATTACHED is 1;
#  - those left without an exit are as many as the file LEFT says, a line each of
#    FUNCTION COUNT [ALL CALLS], without spaces in its name; "MODULE?" is all other
#    functions of a library, which may be without names. A function that is never called leaves
#    none. A thread may have ended so shortly before the program that its last calls seem open.
#    Of other functions none are left;
#  - what is open at the end is one chain of calls in each thread.
cat >balance.awk <<'EOF'
BEGIN {
	while ((getline line < LEFT) > 0) {
		n_words = split(line, w, " ")
		left[w[1]] = w[2]
		if (n_words > 2)
			made[w[1]] = w[3]
	}
}
{
	if (how == "exit lost" || how == "before" && (f "@" field("module")) !~ LATE &&
	    !(ATTACHED && (field("depth") == 0 || /"seen_ns"/)))
		bad($0)
	if (how == "open")
		open[field("tid"), field("depth")]++
	key = !(f in left) && (field("module") "?") in left ? field("module") "?" : f
	if (how == "unwound" || how == "open" && key in left && field("tid") != field("pid"))
		away[key]++
}
END {
	if (losses)
		bad(lost)
	for (f in made)
		if (calls[f] != made[f])
			bad(f ": " calls[f] + 0 " calls, not " made[f])
	for (at in open) {
		split(at, w, SUBSEP)
		if (w[2] > 0 && open[at] > open[w[1], w[2] - 1])
			bad("a call open at depth " w[2] " of thread " w[1] ", and none around it")
	}
	for (f in left)
		if (f in calls || f in made || f ~ /\?$/)
			away[f] += 0
	for (f in away)
		if (away[f] != left[f] + 0)
			bad(f ": " away[f] " left, not " left[f] + 0)
	print_calls()
	print all()
	exit wrong
}
EOF

# When the process has ended, as the outermost calls tell that were open then.
process_end()
{
	grep -q '"target_ended":true' calls.json || return 0
	grep '"end":"unwound"' calls.json | grep '"depth":0,' | awk '
		function field(name,  at) {
			at = substr($0, index($0, "\"" name "\":") + length(name) + 3)
			sub(/[,}].*/, "", at)
			return at
		}
		{ end = field("ts_ns") + field("dur_ns") }
		end > last { last = end }
		END { printf "%.0f", last }' || true
}

# balanced NAME [LATE [ATTACHED]]: of ./recorded, with the causes in ./left.
balanced()
{
	"$INJECT" replay recorded --json -o calls.json
	echo "$1: $(tail -n 1 trace.err)"
	awk -v OVER="$(process_end)" -v LATE="${2:-^$}" -v ATTACHED="${3:-0}" -v LEFT=left \
		-f balance_calls.awk -f balance.awk calls.json >balance.txt ||
		{ grep ^unexplained balance.txt | head -n 20; die "$1: not balanced"; }
	sort balance.txt
}

# program NAME PATTERNS COMMAND...: it does what it does alone, and ends with status
# $ENDS (0); all is recorded.
program()
{
	local words=() patterns p got=0

	read -ra patterns <<<"$2"
	for p in "${patterns[@]}"; do words+=(-f "$p"); done
	"${@:3}" >alone.out 2>alone.err </dev/null || got=$?
	[ $got = "${ENDS:-0}" ] || { cat alone.out alone.err; die "$1 fails by itself"; }
	rm -rf recorded
	LIMIT=150 status "${ENDS:-0}" "$INJECT" record -q -m "$buffer" -o recorded "${words[@]}" \
		-- "${@:3}" </dev/null
	cp trace.out probed.out
	diff alone.out probed.out || die "$1: another output than without probes"
	diff <(complaints alone.err) <(complaints trace.err) || die "$1: complains of something else"
}

# What a program says itself; Rust of late names threads by their ids, too.
complaints() { sed "/^inject: /d; s/^\(thread '.*'\) ([0-9]*) /\1 /" "$1"; }

# Libraries that came while calls in them were under way; the first is the loader,
# which starts a program.
late() { sed -n 's/^inject: \(.*\) was loaded: .*/|@\1$/p' trace.err | tr + . | tr -d '\n'; }

cause() { awk -v c="$1" '$1 == "cause" && $2 == c { print $3 }' probed.out; }
