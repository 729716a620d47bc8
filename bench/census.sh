#!/bin/bash
# SPDX-License-Identifier: MIT
# Of all functions of the programs and libraries that people really run, how many
# can be probed, how, and why not the others? census.sh BUILD [FILE...]
#
# ROOT=DIR: of another machine's files, of the instruction set MACHINE (x86_64, aarch64).
#
# A line per file, then every refused function with its reason (up to 20 a file;
# ALL=1: every one, and each whose exits are not probed). Shares are of the functions that `list` names; "exits" is the
# share of those with exits of which every exit is probed. Resolvers of indirect
# functions and pieces of functions are told apart. At the end: all files together
# beside what is aimed at, and which of them are below that: then it ends with status 1.
set -euo pipefail
build=$1
shift

root=${ROOT:-}
machine=${MACHINE:-$(uname -m)}
server=$build/bench/go/server${MACHINE:+.$MACHINE}

# What the census is of, when no files are given; with the package to install.
files()
{
	cat <<-END
	$root/usr/sbin/nginx nginx-light
	$root/usr/bin/redis-server redis-server
	$root/usr/lib/postgresql/*/bin/postgres postgresql
	$root/usr/bin/memcached memcached
	$root/usr/bin/python3.?? python3
	$root/usr/bin/node nodejs
	$root/lib/$machine-linux-gnu/libc.so.6 libc6
	$root/lib/$machine-linux-gnu/libm.so.6 libc6
	$root/usr/lib/$machine-linux-gnu/libcrypto.so.3 libssl3
	$root/usr/lib/$machine-linux-gnu/libssl.so.3 libssl3
	$root/usr/lib/$machine-linux-gnu/libstdc++.so.6 libstdc++6
	$root/usr/lib/$machine-linux-gnu/libsqlite3.so.0 libsqlite3-0
	$root/usr/lib/gcc/$machine-linux-gnu/*/cc1 cpp
	$root/usr/bin/rg ripgrep
	$root/usr/lib/$machine-linux-gnu/librustc_driver-*.so libstd-rust-1.63
	$server golang-go
	$root/usr/lib/go-*/bin/go golang-go
	$root/lib/$machine-linux-musl/libc.so musl
	END
}

# The rows of `list` on standard input; a line of the table, and refusals.
summarize()
{
	awk -F'\t' -v name="$1" -v all="${ALL:-}" -v sums="$sums" '
	function share(n, of) { return of ? sprintf("%.2f", 100 * n / of) : "-" }
	$5 == "ifunc" || $5 == "fragment" { apart[$5]++; next }	# no functions
	{ n++; tactics[$5]++ }
	$5 == "refused" { why[$6]++; if (all || lines++ < 20) refused = refused "  " $4 ": " $6 "\n"; next }
	$5 == "trap" { traps++ }
	$6 ~ /^entry-only/ {
		exits++
		if (all)
			refused = refused "  " $4 ": " $6 "\n"
		sub(/.*: /, "", $6)
		only[$6]++
		next
	}
	$6 ~ /^[0-9]/ { exits++; whole++ }
	END {
		free = n - why_sum(why) - traps
		printf "%-22s %6d %7s %7s  ", name, n, share(free, n), share(whole, exits)
		for (t in tactics)
			if (t != "refused")
				printf "%s %s, ", t, share(tactics[t], n)
		printf "refused:"
		for (w in why)
			printf " %s %d", w, why[w]
		printf "; entry-only:"
		for (w in only)
			printf " %s %d", w, only[w]
		for (a in apart)
			printf "; %s %d", a, apart[a]
		printf "\n%s", refused
		print n, free, whole + 0, exits + 0, name >>sums
	}
	function why_sum(a,  s, k) { for (k in a) s += a[k]; return s + 0 }'
}

census()
{
	"$build/inject" list "$1" -f '*' 2>/dev/null | summarize "$(basename "$1")"
}

# The Go program is ours: those that are packaged have no symbols.
go_server()
{
	# shellcheck disable=SC2012 # names of versions
	go=$(command -v go || ls -1 /usr/lib/go-*/bin/go 2>/dev/null | tail -1) || true
	[ -z "$go" ] || GOCACHE=$PWD/$build/go-cache CGO_ENABLED=0 \
		GOARCH=$(sed 's/x86_64/amd64/; s/aarch64/arm64/' <<<"$machine") \
		"$go" build -o "$server" bench/go/server.go
}

sums=$(mktemp)
trap 'rm -f "$sums"' EXIT
echo "file                functions  free %  exits %  tactics (%), reasons (functions)"
if [ $# -gt 0 ]; then
	for f; do census "$f"; done
else
	go_server
	while read -r pattern package; do
		# shellcheck disable=SC2086,SC2012 # patterns are for the shell
		f=$(ls -1 $pattern 2>/dev/null | tail -1)
		if [ -n "$f" ]; then
			census "$f"
		else
			echo "$(basename "$pattern"): not here; install $package"
		fi
	done < <(files)
fi
awk '{ n += $1; free += $2; whole += $3; exits += $4 }
	$2 < 0.999 * $1 { few = few " " $5 }
	$3 < 0.94 * $4 { fewer = fewer " " $5 }
	END {
	printf "%-22s %6d %7.3f %7.2f  without traps (aim: 99.9); with all exits (aim: 98.5)\n",
		"together", n, 100 * free / n, 100 * whole / exits
	print "below 99.9 % without traps:" (few ? few : " none")
	print "below 94 % with all exits:" (fewer ? fewer : " none")
	exit few != "" || fewer != "" || free < 0.999 * n || whole < 0.985 * exits }' "$sums"
