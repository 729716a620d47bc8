#!/bin/bash
# SPDX-License-Identifier: MIT
# attach_malloc_hot: every thread is inside of malloc, or nearly always.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"
# shellcheck source=tests/cycles_lib.sh
. "$ROOT/tests/cycles_lib.sh"

loads "$(fewer 10 3)" 'hot_*' malloc_hot
