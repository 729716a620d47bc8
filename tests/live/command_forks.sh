#!/bin/bash
# SPDX-License-Identifier: MIT
# command_forks: a command that forks and ends leaves a child without probes;
# one that executes another program is waited for.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

status 4 "$INJECT" -f 'command_*' -o calls.txt -- "$VICTIMS/command" fork 5
child=$(sed -n 's/^child //p' trace.out)
started "$child"
kill -0 "$child" || die "the child has ended with its parent"
clean "$child"
! has_line WRONG trace.out || die "the child computed something wrong"

status 9 "$INJECT" -f 'command_*' -o calls.txt -- "$VICTIMS/command" exec sh -c 'exit 9'
[ "$(closing calls)" = 1010 ] || die "$(closing calls) calls before the exec, not 1010"
# Long enough for inject to see that the command has become another program.
status 9 "$INJECT" -f 'command_*' -o calls.txt -- "$VICTIMS/command" exec sh -c 'sleep 2; exit 9'
