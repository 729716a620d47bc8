#!/bin/bash
# SPDX-License-Identifier: MIT
# command_whole: every call of a command is seen, from its first constructor to
# its last line, however soon it ends; and what it prints is its own.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

whole()
{
	local entries

	status "$1" "$INJECT" -f 'command_*' -o calls.txt -- "${@:2}"
	[ "$(closing calls)" = 1010 ] || die "$(closing calls) calls, not 10 and 1000"
	[ "$(closing lost)" = 0 ] || die "lost calls of a command"
	entries=$(grep -c 'command_early();' calls.txt)
	[ "$entries" = 10 ] || die "$entries calls in the constructor, not 10"
}

whole 0 "$VICTIMS/command"
whole 5 "$VICTIMS/command" exit 5
whole 137 "$VICTIMS/command" raise 9
for _ in $(seq 20); do
	whole 0 "$VICTIMS/command"
done

# A recording begins before its first call, and knows its program, though that has ended before
# it could be looked at.
for _ in $(seq 20); do
	status 5 "$INJECT" record -q -o whole.data -f 'command_*' -- "$VICTIMS/command" exit 5
	status 0 "$INJECT" replay whole.data --json -o whole.json
	jq -e -s '(map(select(.type == "start"))[0].ts_ns) as $begin |
		map(select(.type == "call").ts_ns) | length == 1010 and min >= $begin' \
		whole.json >/dev/null || die "calls before the recording's begin"
	[ "$("$INJECT" info whole.data | sed -n 's/^executable\t//p')" = \
		"$(readlink -f "$VICTIMS/command")" ] || die "the recording has no executable"
done

# What follows is about glibc's loader.
[ -z "${KIND:-}" ] || exit 0

# By the loader's own name, and with a library put before all others.
loader=$(sed -n 's,.* \(/.*/ld-linux.*\)$,\1,p' /proc/self/maps | head -n 1)
whole 6 "$loader" "$VICTIMS/command" exit 6
LD_PRELOAD=$VICTIMS/plugin.so whole 0 "$VICTIMS/command"
LD_BIND_NOW=1 whole 0 "$VICTIMS/command"

# The loader runs an auditor's constructors before it begins with the command.
cat >audit.c <<'C'
#include <stdlib.h>
unsigned int la_version(unsigned int v) { return v; }
__attribute__((constructor)) static void begin(void) { free(malloc(10)); }
C
if gcc -shared -fPIC -o audit.so audit.c; then
	LD_AUDIT=./audit.so whole 4 "$VICTIMS/command" exit 4
fi

# It ends in the loader, which is asked for the list of libraries only.
status 0 "$INJECT" -f 'command_*' -o calls.txt -- "$loader" --list "$VICTIMS/command"
traced libc.so

# A library is missing: what the loader says, and its status.
cp "$VICTIMS/command" needy
if command -v patchelf >/dev/null; then
	patchelf --add-needed libnothing.so needy
	status 127 "$INJECT" -f '*' -- ./needy
fi
