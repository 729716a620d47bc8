#!/bin/bash
# SPDX-License-Identifier: MIT
# refuse_shared_text: code mapped shared: a write would change the file.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

victim shared_text
sum=$(sha256sum <shared.bin)
"$INJECT" list -p "$VICTIM" -f '*@shared.bin' >list.out 2>list.err || true
status 3 "$INJECT" -p "$VICTIM" -f '*@shared.bin'
unharmed
[ "$sum" = "$(sha256sum <shared.bin)" ] || die "the file has changed"
