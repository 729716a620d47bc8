#!/bin/bash
# SPDX-License-Identifier: MIT
# What is probed of all functions of many files, how, and why not the rest?
# reasons.sh BUILD FILE...: one table of all of them, with the most frequent reasons first; - reads
# names of files from standard input. A file that is none of this machine's programs is left out,
# and so is one of which others are copies.
set -euo pipefail
[ $# -ge 2 ] || { echo "usage: reasons.sh BUILD FILE... (or -)" >&2; exit 2; }
inject=$1/inject
shift

names() { if [ "$1" = - ]; then cat; else printf '%s\n' "$@"; fi; }

# The same bytes once; no object files, none of other instruction sets.
modules()
{
	names "$@" | while read -r f; do
		head="$(head -c 20 "$f" 2>/dev/null | od -An -tx1 -v | tr -d ' \n')"
		case $head in
		7f454c460201????????????????????0[23]00"$machine"00)
			echo "$(sha1sum <"$f") $f" ;;
		esac
	done | sort -u -k1,1 | cut -d' ' -f4-
}

case $(uname -m) in
x86_64) machine=3e ;;
aarch64) machine=b7 ;;
esac

modules "$@" | while read -r f; do
	echo "module"
	"$inject" list "$f" -f '*' 2>/dev/null || true
done | awk -F'\t' '
	$1 == "module" { modules++; next }
	$5 == "ifunc" || $5 == "fragment" { next }
	{ functions++ }
	$5 == "refused" { why["refused: " $6]++; next }
	{ entries++; puns += $5 == "pun" }
	$6 ~ /^entry-only/ { why[$6]++; next }
	{
		n = split($6, of, ", ")
		for (i = 1; i <= n; i++)
			exits += of[i]
	}
	END {
		printf "%d\tmodules\n%d\tfunctions\n%d\tentries\n%d\texits\n%d\tentries by puns\n",
			modules, functions, entries, exits, puns
		for (w in why)
			print why[w] "\t" w | "sort -rn"
	}'
