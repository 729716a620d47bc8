#!/bin/bash
# SPDX-License-Identifier: MIT
# images: a program has mapped one file of code more often than inject may have files open.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

ulimit -Sn 256
victim images
status 0 "$INJECT" start -p "$VICTIM" --max-overhead 100 -f images_work
[ "$(tell 'map 400' '^mapped')" = 'mapped 400' ] || die "not mapped"
status 0 "$INJECT" status -p "$VICTIM"
status 0 "$INJECT" stop -p "$VICTIM"
unharmed
status 0 "$INJECT" -p "$VICTIM" -f images_work -d 0.3
traced images_work
removed
victim_works
