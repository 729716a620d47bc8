#!/bin/bash
# SPDX-License-Identifier: MIT
# command_status: the exit status of `inject -- COMMAND` is COMMAND's own, or
# what a shell would say of one that cannot be started.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

C=$VICTIMS/command
run=("$INJECT" -f 'command_*' -o trace.txt --)

status 0 "${run[@]}" "$C"
status 7 "${run[@]}" "$C" exit 7
status 255 "${run[@]}" "$C" exit 255
status 137 "${run[@]}" "$C" raise 9
has_line 'ended by signal 9 (Killed)' trace.err || die "does not say what ended it"
status 134 "${run[@]}" "$C" raise 6

status 127 "${run[@]}" ./nothing
refused 'cannot start ./nothing: No such file'
status 127 "${run[@]}" no-such-command-anywhere
echo text >text
status 126 "${run[@]}" ./text
refused 'cannot start ./text: Permission denied'
status 126 "${run[@]}" "$PWD"

# A script is its interpreter; one that names none is sh's.
printf '#!/bin/sh\nexit 9\n' >script
printf 'exit 8\n' >bare
chmod +x script bare
status 9 "$INJECT" -f '*' -o trace.txt -- ./script
status 8 "$INJECT" -f '*' -o trace.txt -- ./bare
status 9 env PATH="$PWD" "$INJECT" -f '*' -o trace.txt -- script

# What is ours: the command has not begun.
status 125 "${run[@]}" touch begun
refused 'nothing to probe'
status 125 "$INJECT" -f x --tid 5 -- touch begun
status 125 "$INJECT" -f x -p 1 -- touch begun
status 125 "$INJECT" -f x --no-such-option -- touch begun
status 125 "$INJECT" -f '*' -o /no/such/directory/file -- touch begun
[ ! -e begun ] || die "a command was started that could not be traced"
# Without a command it is the usual one.
status 2 "$INJECT" -f x --no-such-option
status 2 "$INJECT" -f x --
