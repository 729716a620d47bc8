# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# runtime_lib: what the tests with language runtimes share: a program that checks
# itself, and says `alive N 0` as victims do. Sourced after lib.sh.

# runtime COMMAND...: start it. Its PID is VICTIM.
runtime()
{
	mkfifo victim.in
	"$@" <victim.in >victim.out 2>victim.err 9>&- &
	VICTIM=$!
	started "$VICTIM"
	exec 9>victim.in
	wait_until 30 has_line '^ready$' victim.out || die "$1 is not ready"
}

moves() { [ "$(progress)" -gt "$seen" ]; }

# visit CALLS OPTION...: trace until so many; the code is as before, and it goes on,
# at whatever pace a busy machine leaves it.
visit()
{
	status 0 "$INJECT" -p "$VICTIM" -n "$1" -d 20 "${@:2}" -o /dev/null --max-pause 2s
	has_line 'all probes removed, text verified' trace.err || die "not removed"
	[ "$(closing calls)" -gt 0 ] || die "no call of ${*:2}"
	clean
	seen=$(progress)
	wait_until 30 moves || die "it stands still"
}

# It comes to its end, and has found nothing wrong.
runtime_ends()
{
	exec 9>&-
	wait "$VICTIM" || die "it ended with status $?"
	VICTIM=
	has_line '^bye$' victim.out || die "it did not come to its end"
	! has_line '^WRONG' victim.out || die "$(grep ^WRONG victim.out | head -n 3)"
}
