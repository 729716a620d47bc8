#!/bin/bash
# SPDX-License-Identifier: MIT
# run-tests.sh BUILD TEST...: tests/run in the guest, where all is some ten times as slow. BUILD is
# copied into memory of the guest's first: what lies in the folder that is shared is read anew, and
# its code translated anew, each time that it runs; and the folder knows no sockets. Of programs
# that are tests, 9 MB each, only those are copied that are named.
set -eu
cd "$(dirname "$0")/../.."
memory=$(mktemp -d)
mount -t tmpfs build "$memory"
{
	(cd "$1" && find . \( -path ./run -o -path ./go-cache -o -path ./tests/unit -o \
		-path ./tests/patch -o -path ./tests/fuzz \) -prune -o ! -name '*.[od]' -type f -print)
	for test; do [[ $test != "$1"/* ]] || echo "${test#"$1"/}"; done
} >/tmp/copied
tar -C "$1" -T /tmp/copied -cf - | tar -C "$memory" -xf -
mount --bind "$memory" "$1"
# Recipes are sought beside the directory that inject is in.
[ -e "$1/../share" ] || ln -s "$(realpath --relative-to="$1/.." share)" "$1/../share"
PATIENCE=${PATIENCE:-10} JOBS=${JOBS:-2} exec tests/run "$@"
