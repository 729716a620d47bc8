#!/bin/bash
# SPDX-License-Identifier: MIT
# refuse_static: a statically linked program has no loader to load a payload.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

victim static 2
status 1 "$INJECT" -p "$VICTIM" -f 'spin_*'
refused static
unharmed
