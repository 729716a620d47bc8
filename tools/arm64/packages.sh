#!/bin/bash
# SPDX-License-Identifier: MIT
# packages.sh DIR PACKAGE...: DIR/root, into which these packages of arm64 are unpacked, with what
# they depend on; nothing of them runs. Made anew for another list.
set -euo pipefail

[ $# -gt 1 ] || { sed -n '3,4s/^# \{0,1\}//p' "$0" >&2; exit 2; }
dir=$(realpath -m "$1")
here=$(dirname "$(realpath "$0")")
shift
[ "$(cat "$dir/stamp" 2>/dev/null)" != "$*" ] || exit 0
# shellcheck source=tools/arm64/apt.sh
. "$here/apt.sh"

rm -rf "$dir"
mkdir -p "$dir/root"
begin_apt
unpack "$dir/root" "$@"
rm -rf "$dir/apt"
echo "$*" >"$dir/stamp"
