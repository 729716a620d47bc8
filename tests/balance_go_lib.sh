# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# balance_go_lib: of whole programs of Go's each call of each function, accounted for.
# Sourced after lib.sh and balance_lib.sh.

# The calls of a function by how they end, and what must be true of them:
#  - none lost an exit; none began before the trace, but of functions that LATE
#    matches, or around all others where ATTACHED is 1;
#  - those left without an exit are as many as the file LEFT says, a line each of
#    FUNCTION COUNT [ALL CALLS]; PREFIX* COUNT is of each function that begins so and is
#    left at all. Of other functions none are left, but those of C with which a thread
#    begins that ends with the process, and
#  - of those by which a thread goes over to a goroutine, or ends: none ever returns,
#    but of what RETURNS matches (a thread of C's, which goes back; or where they have the
#    name of what calls them for others, which jumps to them);
#  - what is open at the end is around what is open deeper, and no function is that LEFT
#    has all calls of;
#  - what was lost are calls of handlers: of signals that were sent, by preemption or a
#    fault, and came while a thread recorded another call.
cat >balance_go.awk <<'EOW'
function prefix_of(f,  p, found) {
	for (p in begins)
		if (index(f, p) == 1)
			found = p
	return found
}
BEGIN {
	# With them a thread of C begins, which may end with the process.
	left["crosscall_amd64"] = left["threadentry"] = left["runtime.mstart"] = "any"
	while ((getline line < LEFT) > 0) {
		n_words = split(line, w, " ")
		if (sub(/\*$/, "", w[1]))
			begins[w[1]] = w[2]
		else
			left[w[1]] = w[2]
		if (n_words > 2)
			made[w[1]] = w[3]
	}
	never = "^runtime\\.(mstart[01]|mstart\\.abi0|mexit|schedule|execute|park_m|newstack|" \
		"recovery|goexit0|gdestroy|gopreempt_m|gosched_m|goschedImpl|" \
		"goschedguarded_m|goyield_m|preemptPark|exitsyscall0|exitsyscallNoP|" \
		"coroswitch_m)$"
}
{
	if (how == "exit lost" || how == "before" && f !~ LATE &&
	    !(ATTACHED && (field("depth") == 0 || /"seen_ns"/) && !(f in made)))
		bad($0)
	if (how == "open")
		open[field("depth")]++
	if (how == "open" && f in made && !left[f])
		bad($0)
	if (how == "unwound" || how == "open" && f in left)
		away[f]++
}
END {
	for (f in made)
		if (calls[f] != made[f])
			bad(f ": " calls[f] + 0 " calls, not " made[f])
	for (d in open)
		if (d > 0 && open[d] > open[d - 1])
			bad(open[d] " calls open at depth " d ", and " open[d - 1] + 0 " around them")
	for (f in left)
		if (f in calls || f in made)
			away[f] += 0
	for (f in away) {
		p = prefix_of(f)
		if (f ~ never || f in left && left[f] == "any")
			continue
		if (f in left ? away[f] != left[f] : p == "" ? away[f] : away[f] != begins[p])
			bad(f ": " away[f] " left, not " (f in left ? left[f] : begins[p]) + 0)
	}
	for (f in calls)
		if (f ~ never && n[f, "return"] && f !~ RETURNS)
			bad(f " has returned")
	sent = calls["runtime.tgkill.abi0"] + calls["runtime.tgkill"] + left["signals"]
	seen = calls["runtime.sigtrampgo"]
	if (sent < seen + losses)
		bad(losses + 0 " handlers lost, " seen + 0 " seen; of " sent + 0 " signals")
	print_calls()
	print all() "; of " seen + losses " handlers " losses + 0 " lost"
	exit wrong || total["return"] < 1000
}
EOW

# balanced_go NAME [LATE [ATTACHED [RETURNS]]]: of ./recorded, with the causes in ./left.
balanced_go()
{
	echo "$1: $(tail -n 1 trace.err)"
	"$INJECT" replay recorded --json -o calls.json
	awk -v OVER="$(process_end)" -v LATE="${2:-^$}" -v ATTACHED="${3:-0}" -v RETURNS="${4:-^$}" \
		-v LEFT=left -f balance_calls.awk -f balance_go.awk calls.json >balance.txt ||
		{ grep ^unexplained balance.txt | head -n 20; die "$1: not balanced"; }
	sort balance.txt
}
