#!/bin/bash
# SPDX-License-Identifier: MIT
# text_huge: code that is mapped by huge pages of its file is probed, and as it was
# afterwards.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

need_root
need unshare mount
OPEN=$(mktemp -d)
# shellcheck disable=SC2016 # expanded by that shell
AS=(unshare --mount sh -c 'mount -t tmpfs -o huge=always none "$0" && cp "$1" "$0/" && exec "$0/${1##*/}"'
	"$OPEN")
"${AS[@]}" /bin/true 2>unshare.err || skip "no huge pages in tmpfs here: $(tail -n 1 unshare.err)"
victim text_huge
kb=$(tell huge '^huge ' | cut -d' ' -f2)
[ "$kb" -ge 2048 ] || skip "its code got no huge page (transparent_hugepage/shmem_enabled, free memory)"
for _ in 1 2 3; do
	status 0 "$INJECT" -p "$VICTIM" -f 'huge_work' -d 0.2
	traced huge_work
	removed
done
