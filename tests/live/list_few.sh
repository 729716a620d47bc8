#!/bin/bash
# SPDX-License-Identifier: MIT
# list_few: a few functions of a large file are planned as when all of them are, although
# hardly any of its text is read for them.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

few=210
file=$(${CC:-gcc} -print-prog-name=cc1 2>/dev/null || true)
[ -x "$file" ] || file=/usr/bin/python3
file=$(readlink -f "$file")
"$INJECT" list "$file" >whole.out 2>whole.err

# From all over it, but no two of one name, and none whose name is no plain pattern.
sort whole.out | awk -F'\t' -v n="$(wc -l <whole.out)" -v few=$few '
	$4 !~ /[][*?\\]/ && !named[$4]++ && at++ % int(n / few) == 0 { print $4 }' >names
args=()
while read -r name; do
	args+=(-f "$name")
done <names
[ ${#args[@]} -ge 300 ] || die "$file is too small: install gcc"
"$INJECT" list "$file" "${args[@]}" >few.out 2>few.err
[ "$(wc -l <few.out)" -ge "$(wc -l <names)" ] || die "not all were found"
other=$(comm -13 <(sort whole.out) <(sort few.out))
[ -z "$other" ] || die "planned otherwise: $other"
echo "$(wc -l <few.out) of $(wc -l <whole.out) functions of $file"
