#!/bin/bash
# SPDX-License-Identifier: MIT
# linkage: NAME@plt shows each call into another library, the first one too,
# for which the loader binds the symbol; the table's words are never touched.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

# called N: exactly so many calls of each of the functions are seen.
called()
{
	local f functions=(l64a a64l snprintf ldexp)
	local wanted=(-f '*64*@plt' -f 'snprintf@plt' -f 'ldexp@plt')

	# A pointer leads to the function itself, or, in some programs, to its stub.
	if "$INJECT" list "$VICTIMS/linkage_$table" -f 'frexp@plt' >/dev/null 2>&1; then
		functions+=(frexp)
		wanted+=(-f 'frexp@plt')
	fi
	inject_bg -p "$VICTIM" "${wanted[@]}"
	tell "call $1" "^called $1" >/dev/null
	inject_end
	removed
	for f in "${functions[@]}"; do
		[ "$(grep -c " $f@plt" trace.out)" = "$1" ] ||
			die "$table: $(grep -c " $f@plt" trace.out) calls of $f, not $1"
	done
}

for table in lazy landing now; do
	victim "linkage_$table"
	called 50
	called 500
	exec 9>&-
	wait "$VICTIM" || die "$table: the victim failed"
	VICTIM=
	rm victim.in
done

# A library's own calls; and what is no call through a table.
"$INJECT" list "$VICTIMS/linkage_lazy" -f '*@plt' >list.out 2>list.err
[ "$(cut -f 6 list.out | sort -u)" = "entry-only: linkage" ] || die "not entries only"
status 3 "$INJECT" list "$VICTIMS/linkage_lazy" -f 'main@plt'
status 3 "$INJECT" list "$VICTIMS/linkage_lazy" -f 'snprint@plt'
has_line 'names that are near: snprintf@plt' trace.err || die "no hint"
