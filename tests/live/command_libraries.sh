#!/bin/bash
# SPDX-License-Identifier: MIT
# command_libraries: a program of more libraries than a session has arenas: each
# of their functions is probed.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

need gcc
n=56
for i in $(seq $n); do
	echo "__attribute__((noinline)) int many_$i(int x) { return x * ($i + 100) + 1; }" >"m$i.c"
	echo "int many_$i(int);" >>main.c
done
for i in $(seq $n); do
	gcc -O1 -shared -fPIC -o "libm$i.so" "m$i.c" 2>gcc.err || { cat gcc.err; die "gcc"; }
done
{
	echo 'int main(void) { int x = 0;'
	for i in $(seq $n); do echo "x += many_$i(1);"; done
	echo 'return x != '$((n * (n + 1) / 2 + 101 * n))'; }'
} >>main.c
mapfile -t libs < <(seq -f "-lm%g" $n)
gcc -o many main.c -L. "${libs[@]}" -Wl,-rpath,"$PWD"
status 0 "$INJECT" -f 'many_*' -o calls.txt -- ./many
[ "$(closing functions)" = $n ] || die "$(closing functions) of $n functions probed"
[ "$(closing calls)" = $n ] || die "$(closing calls) of $n calls"
