#!/bin/bash
# SPDX-License-Identifier: MIT
# refuse_hostile_elf: a file cut short anywhere, or with damaged headers, is
# refused or listed, and never crashes the program.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

good=$VICTIMS/spin_threads
size=$(stat -c %s "$good")
# 126 and more would be a signal or a shell's failure.
survives()
{
	local got=0

	timeout 60 "$INJECT" list "$1" -f '*' >list.out 2>list.err || got=$?
	[ $got -le 3 ] || die "$2: status $got"
}
for i in 0 1 4 16 63 64 65 100 500 1000 4095 4096 $((size / 3)) $((size / 2)) $((size - 1)); do
	head -c "$i" "$good" >truncated
	survives truncated "cut to $i bytes"
done
RANDOM=1
for i in $(seq 60); do
	cp "$good" damaged
	for _ in 1 2 3 4 5 6 7 8; do
		at=$((RANDOM % 4 ? RANDOM % 1024 : (RANDOM * 32768 + RANDOM) % size))
		printf %b "\\x$(printf %02x $((RANDOM % 256)))" |
			dd of=damaged bs=1 seek=$at conv=notrunc status=none
	done
	survives damaged "damage $i"
done
survives /dev/null '/dev/null'
survives /etc/passwd 'a text file'
survives / 'a directory'
