#!/bin/bash
# SPDX-License-Identifier: MIT
# cycles_packed: the same where nearly all jumps are puns, whose islands are
# mapped by the first cycles and used again by all others.
# timeout: 1800
# long: 20
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"
# shellcheck source=tests/cycles_lib.sh
. "$ROOT/tests/cycles_lib.sh"

[ "$(uname -m)" = x86_64 ] || skip "the functions are x86-64 code"

mappings() { wc -l <"/proc/$VICTIM/maps"; }

victim packed 3
cycles 10 20 'busy_*' 'pack_*'
before=$(mappings)
cycles 40 20 'busy_*' 'pack_*'
[ "$(mappings)" = "$before" ] || die "$before mappings have become $(mappings)"
