#!/bin/bash
# SPDX-License-Identifier: MIT
# command_terminal: the keys of a terminal reach the command as without us: Ctrl-C
# ends it or not, Ctrl-Z stops it; and a shell sees us stop whenever it does.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

# at_terminal TEXT KEY ARG...: the victim under inject, on a terminal.
at_terminal()
{
	timeout $((90 * ${PATIENCE:-1})) "$BUILD/tests/tools/terminal" "$1" "$2" "$INJECT" -f 'command_*' \
		-o calls.txt -- "$VICTIMS/command" "${@:3}" >terminal.out || die "no end"
	tr -d '\r' <terminal.out >trace.err
}

at_terminal ready C sleep 60
has_line '^status 130$' trace.err || die "$(tail -n 1 trace.err)"

# It handles Ctrl-C, goes on, and ends as it likes, after the trace.
at_terminal ready C interrupted $((500 * ${PATIENCE:-1}))
has_line '^interrupted$' trace.err || die "the command was not interrupted"
has_line '^status 6$' trace.err || die "$(tail -n 1 trace.err)"
has_line 'all probes removed, text verified' trace.err || die "the probes are not removed"

# Both stop, both go on.
at_terminal ready Z sleep 1
has_line '^stopped$' trace.err || die "the shell did not see it stop"
has_line '^status 0$' trace.err || die "$(tail -n 1 trace.err)"

# It stops itself alone.
at_terminal ready - suspend
has_line '^stopped$' trace.err || die "the shell did not see it stop"
has_line '^back$' trace.err || die "it did not go on"
has_line '^status 8$' trace.err || die "$(tail -n 1 trace.err)"
[ "$(closing calls)" = 1010 ] || die "$(closing calls) calls, not 1010"

# What stops it by SIGSTOP will continue it, and not us.
at_terminal ready - stopped
has_line '^back$' trace.err || die "it did not go on"
! has_line '^stopped$' trace.err || die "inject has stopped, too"
has_line '^status 9$' trace.err || die "$(tail -n 1 trace.err)"
