#!/bin/bash
# SPDX-License-Identifier: MIT
# analyze [FILE...]: what compilers find who think a function through: gcc -fanalyzer,
# and clang-tidy with the checks of .clang-tidy (cppcheck is lint's). All files take some
# minutes; JOBS=1 for one at a time.
#
# Not asked of gcc: leaks, for it takes what a structure's owner frees later for
# lost (LeakSanitizer tells in `make soak-san`); nor variables without a value, for it
# has lost sight of those with a cleanup attribute where they are freed.
set -u
cd "$(dirname "$0")/.." || exit 1
bad=0

export FLAGS='-std=gnu11 -O2 -fno-strict-aliasing -I. -D_GNU_SOURCE -DANALYZED'
export VERSION='-DINJECT_VERSION="analyzed"'

# shellcheck disable=SC2086 # a list of options
with_gcc()
{
	gcc $FLAGS "$VERSION" -fanalyzer -Wno-analyzer-malloc-leak \
		-Wno-analyzer-use-of-uninitialized-value -Werror -c -o /dev/null "$1" 2>&1
}

# How much it has left out, it says on its error output.
# shellcheck disable=SC2086
with_tidy()
{
	clang-tidy --quiet "$1" -- $FLAGS "$VERSION" 2>/dev/null || echo "$1"
}
export -f with_gcc with_tidy

# check NAME FUNCTION: passed if it has nothing to say of any file.
check()
{
	local out

	if ! command -v "${1%% *}" >/dev/null; then
		echo "SKIP $1: no ${1%% *} here"
		return
	fi
	out=$(printf '%s\n' "${files[@]}" | xargs -P "${JOBS:-2}" -I{} bash -c "$2 {}")
	if [ -z "$out" ]; then
		echo "PASS $1"
	else
		echo "FAIL $1"
		printf '%s\n' "$out" | sed 's/^/    /'
		bad=1
	fi
}

files=("$@")
[ $# -gt 0 ] || files=(base/*.c arch/*.c arch/*/*.c {symbols,plan}/{,*/}*.c trace/*/*.c injector/*/*.c
	payload/*.c)
check 'gcc -fanalyzer' with_gcc
check clang-tidy with_tidy
exit $bad
