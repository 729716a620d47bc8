#!/bin/bash
# SPDX-License-Identifier: MIT
# no_descriptors: a process that has opened all that RLIMIT_NOFILE allows is traced as any
# other, and stays as it is; inject is killed on the way. An inject that has no
# capability to open its memory otherwise says so.
# long: 15
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

need_root
opens_mappings || skip "may not open what is behind a mapping"

# What is open, and where each is in its file.
descriptors()
{
	local fd

	for fd in "/proc/$VICTIM/fd"/*; do
		echo "${fd##*/} $(readlink "$fd") $(grep -v '^pos' "/proc/$VICTIM/fdinfo/${fd##*/}" | xargs)"
	done
}

# Nothing was opened or closed there, and there is no room for more; the probes are out.
unchanged()
{
	unharmed
	descriptors >after
	diff before after || die "its descriptors are not what they were"
	[ "$(tell open '^open')" = "open 16 24" ] || die "it has a descriptor left"
}

nameless() { grep -c '/dev/zero (deleted)$' "/proc/$VICTIM/maps"; }
field() { sed -n 2p trace.out | cut -f"$1"; }

killed_halfway()
{
	inject_bg -p "$VICTIM" -f 'single_*' -o /dev/null
	kill -KILL "$TRACER"
	wait "$TRACER" || true
	victim_works
	"$TEXTCHECK" -t "$VICTIM" >textcheck.out && die "the probes were not in"
	return 0
}

for threads in 0 3; do
	victim no_descriptors $threads
	descriptors >before
	[ "$(wc -l <before)" = 16 ] || die "it has $(wc -l <before) descriptors open"
	[ "$(nameless)" = 0 ] || die "it has shared memory of its own"

	# Twice, the second time with what the first has left.
	for _ in 1 2; do
		status 0 "$INJECT" -p "$VICTIM" -f 'single_*' -d 0.3
		traced single_inner
		[ "$(closing lost)" = 0 ] || die "events were lost"
		removed
		unchanged
		[ "$(nameless)" = 1 ] || die "$(nameless) sessions"
	done
	"$INJECT" status | grep -q "^$VICTIM" && die "status sees probes"

	# By itself, and more functions later; a child has the probes, too.
	status 0 "$INJECT" start -p "$VICTIM" -f 'single_outer'
	status 0 "$INJECT" status
	grep "^$VICTIM	" trace.out >mine || die "status of all processes does not see it"
	status 0 "$INJECT" add -p "$VICTIM" -f 'single_inner'
	gets_on 50
	status 0 "$INJECT" status -p "$VICTIM"
	[ "$(field 4)" = 2 ] || die "status: $(cat trace.out)"
	[ "$(field 6)" -gt 100 ] || die "nothing is recorded: $(cat trace.out)"
	grep -q ' 0$' <<<"$(tell fork '^child')" || die "a child came to harm"
	status 0 "$INJECT" snapshot -p "$VICTIM" -o "held$threads"
	status 0 "$INJECT" replay "held$threads"
	traced single_inner
	status 0 "$INJECT" stop -p "$VICTIM"
	unchanged

	# The next one after one that was killed takes the probes out, by stop or a visit.
	killed_halfway
	status 0 "$INJECT" stop -p "$VICTIM"
	unchanged
	killed_halfway
	status 0 "$INJECT" -p "$VICTIM" -f 'single_outer' -d 0.2
	removed
	unchanged
	[ "$(nameless)" = 1 ] || die "$(nameless) sessions"

	# A file cannot be handed over.
	status 1 "$INJECT" start -p "$VICTIM" -f 'single_*' -o there
	refused 'no file descriptor left for a session in a file (RLIMIT_NOFILE is 16)'
	[ ! -e there/inject-session ] || die "a session was left in the file"
	unchanged
	victim_quit
done

# A session with a name, whose process has used up all since.
victim single
status 0 "$INJECT" -p "$VICTIM" -f 'single_*' -d 0.1
removed
prlimit --pid "$VICTIM" --nofile=3:"$(prlimit --pid "$VICTIM" --nofile --output HARD --noheadings | xargs)"
for _ in 1 2; do
	status 0 "$INJECT" -p "$VICTIM" -f 'single_*' -d 0.2
	traced single_inner
	removed
	[ "$(nameless) $(grep -c memfd:inject-session "/proc/$VICTIM/maps")" = "1 0" ] ||
		die "the second session is not where the first was"
done
victim_quit

# By its own user, without that capability.
as_nobody no_descriptors
victim no_descriptors 0
status 1 "${AS[@]}" "$VICTIMS/inject" -p "$VICTIM" -f 'single_*' -d 0.2
refused 'no file descriptor left for the session.*CAP_CHECKPOINT_RESTORE.*RLIMIT_NOFILE is 16'
clean
[ "$(nameless)" = 0 ] || die "something was mapped"
