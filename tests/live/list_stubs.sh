#!/bin/bash
# SPDX-License-Identifier: MIT
# list_stubs: list --stubs shows the instructions that each jump displaces as objdump has
# them, at the addresses that it has, and a stub that records the entry, of every
# function that is probed; of files, and of a process.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

# shown FILE: address and bytes of each displaced instruction. (Stubs follow their sites.)
shown()
{
	awk '/^  [a-z]* *[a-z]* *[a-z]* at |^  host of/ { code = 1; next }
		/^  stub|^[^ ]/ { code = 0 }
		code { printf "%s", $1; for (i = 2; $i ~ /^[0-9a-f][0-9a-f]$/ && i < 13; i++)
			printf " %s", $i; print "" }' list.out
}

libc=$(ldd "$VICTIMS/spin_threads" | sed -n 's/.* => \(.*libc.so[^ ]*\) .*/\1/p')
for file in "$VICTIMS/spin_threads" "$libc"; do
	status 0 "$INJECT" list "$file" -f '*' --stubs -o list.out
	# (objdump prints of each line only the bytes, or a word; ours shows the first eleven bytes.)
	objdump -dw -z "$file" | awk -F'\t' '/^ +[0-9a-f]+:\t/ {
		a = $1; gsub(/[ :]/, "", a); n = split($2, b, " "); printf "0x%s", a
		if (length(w = b[1]) == 8)
			for (n = 0; n < 4; ) b[++n] = substr(w, 9 - 2 * n, 2)
		for (i = 1; i <= n && i <= 11; i++) printf " %s", b[i]; print "" }' | sort >objdump.out
	shown | sort -u >shown.out
	[ -s shown.out ] || die "nothing is shown of $file"
	comm -23 shown.out objdump.out >other.out
	# What stands in the middle of objdump's data or a hidden instruction is its business;
	# there is none in these files.
	[ ! -s other.out ] || die "not objdump's: $(head -5 other.out)"
	probed=$(awk -F'\t' '/^0x/ && $5 !~ /refused|ifunc|fragment/' list.out | wc -l)
	entries=$(grep -c '^  entry' list.out)
	[ "$probed" = "$entries" ] || die "$probed functions, $entries entries"
	sites=$(grep -cE '^  (entry|exit|host)' list.out)
	stubs=$(grep -c '^  stub, ' list.out)
	[ "$sites" = "$stubs" ] || die "$sites sites, $stubs stubs"
	grep -q 'out of reach' list.out && die "a stub has no place"
	[ "$(grep -c '# records the entry\|# records a mark' list.out)" -ge "$entries" ] ||
		die "an entry that is not recorded"
done

# Nothing is shown without it, and it takes a process, too.
"$INJECT" list "$VICTIMS/spin_threads" -f 'spin_*' 2>/dev/null | grep -q '^ ' && die "not asked for"
victim spin_threads
status 0 "$INJECT" list -p "$VICTIM" -f spin_leaf --stubs -o list.out
grep -q '^  stub, ' list.out || die "no stub of a process"
unharmed
victim_quit
status 2 "$INJECT" trace -p 1 -f x --stubs
