#!/bin/bash
# SPDX-License-Identifier: MIT
# refuse_not_permitted: another user's process: who, whose, and to try sudo.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

need_root
need setpriv
victim spin_threads 2
exe=./inject.copy
cp "$INJECT" $exe
chmod 755 . $exe
chmod go+x .. 2>/dev/null || true
status 1 setpriv --reuid=65534 --regid=65534 --clear-groups "$(realpath $exe)" -p "$VICTIM" -f 'spin_*'
refused 'not permitted'
unharmed
