#!/bin/bash
# SPDX-License-Identifier: MIT
# list_files: many files at once, whatever they are. What is no ELF file is passed
# over, what cannot be read is said, and the rest is listed.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

echo 'no ELF file' >text
# That of another machine: e_machine is 0x7777.
cp "$VICTIMS/aliases" other
printf 'ww' | dd of=other bs=1 seek=18 conv=notrunc 2>/dev/null
status 0 "$INJECT" list text other "$VICTIMS/spin_threads" "$VICTIMS/aliases" -f 'spin_leaf' \
	-f 'alias_*'
[ "$(cut -f 3 trace.out | sort -u | tr '\n' ' ')" = 'aliases spin_threads ' ] ||
	die "$(cat trace.out)"
grep -q "^inject: $VICTIMS/spin_threads: 1 function: 1 entry (1 " trace.err || die "$(cat trace.err)"
grep -q '^inject: passed over as no 64-bit ELF of a known machine: 2 of 4 files$' trace.err ||
	die "$(cat trace.err)"
grep -q '^inject: together: 3 functions:' trace.err || die "$(cat trace.err)"

status 1 "$INJECT" list other
grep -q 'machine 30583 is not known' trace.err || die "$(cat trace.err)"

# One that cannot be read is a failure, but not of the others.
status 1 "$INJECT" list /no/such/file "$VICTIMS/spin_threads" -f spin_leaf
[ "$(wc -l <trace.out)" = 1 ] || die "$(cat trace.out)"
grep -q '^inject: open /no/such/file: ' trace.err || die "$(cat trace.err)"
status 3 "$INJECT" list text "$VICTIMS/spin_threads" -f no_such_function
status 3 "$INJECT" list text text

# A reader that has seen enough ends it.
"$INJECT" list "$VICTIMS/spin_threads" "$VICTIMS/aliases" "$VICTIMS/spin_threads" 2>/dev/null |
	head -1 >trace.out
[ "$(wc -l <trace.out)" = 1 ] || die "nothing for head"
