#!/bin/bash
# SPDX-License-Identifier: MIT
# list_file: the functions of a file, without root and without a process.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

need nm

"$INJECT" list "$VICTIMS/spin_threads" -f '*' >list.out 2>list.err
grep -q 'spin_switch' list.out
# address, size, module, function, entry, exits: separated by tabs
awk -F'\t' 'NF < 5 { print; bad = 1 } END { exit bad }' list.out
addr=$(awk -F'\t' '$4 == "spin_leaf" { print $1 }' list.out)
nm "$VICTIMS/spin_threads" | grep ' T spin_leaf$' | grep -qi "0*${addr#0x} " || die "address $addr is not nm's"
grep -q '^inject: ' list.err || die "no totals"
[ "$("$INJECT" list "$VICTIMS/spin_threads" -f 'spin_*' 2>/dev/null | wc -l)" = 4 ]
# Further names of an address follow, and each selects it.
"$INJECT" list "$VICTIMS/aliases" -f alias_second >list.out 2>list.err
[ "$(cut -f 4,7 list.out)" = "alias_second	alias_first alias_third" ] || die "$(cat list.out)"
[ "$("$INJECT" list "$VICTIMS/aliases" -f alias_third -f 'alias_*' 2>/dev/null | wc -l)" = 2 ]
# What indirect functions would be is not known of a file.
libc=$(ldd "$VICTIMS/aliases" | sed -n 's/.* => \(.*libc.so[^ ]*\) .*/\1/p')
[ "$("$INJECT" list "$libc" -f memcpy 2>/dev/null | grep -c '	ifunc	resolver')" = 1 ]
status 1 "$INJECT" list /no/such/file
status 3 "$INJECT" list "$VICTIMS/spin_threads" -f 'no_such_function'
