#!/bin/bash
# SPDX-License-Identifier: MIT
# instructions.sh BUILD SYSROOT: how many instructions a call of a probed function is on arm64,
# from its first to its return, and how many of them reach memory, beside the floor of two
# readings of the clock. Counted as qemu-aarch64 (of Debian's qemu-user) executes them one by one,
# so that a pair of ldxr and stxr comes to its end. It is a count, and no time. Builds what runs.
set -euo pipefail

[ $# = 2 ] || { sed -n '3,6s/^# \{0,1\}//p' "$0" >&2; exit 2; }
command -v qemu-aarch64 >/dev/null || { echo "instructions.sh: needs qemu-aarch64" >&2; exit 2; }
sysroot=$2
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# In each run all lies in the same place: so the first tells what the second is to log.
program=$1/bench/arm64/instructions
make -s ARCH=arm64 SYSROOT="$sysroot" BUILD="$1" "$program"
emulate() { setarch -R qemu-aarch64 -L "$sysroot" "$@"; }

emulate "$program" >"$dir/list"
first=$(awk 'NF == 2 && length($2) == 8 { print $1; exit }' "$dir/list")
last=$(tail -n 1 "$dir/list" | cut -d' ' -f1)
emulate -singlestep -d exec,nochain -dfilter "$first..$last" -D "$dir/log" "$program" >"$dir/again"
cmp "$dir/list" "$dir/again"
python3 "${0%.sh}.py" "$dir/list" "$dir/log"
