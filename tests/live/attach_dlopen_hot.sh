#!/bin/bash
# SPDX-License-Identifier: MIT
# attach_dlopen_hot: every thread is inside of dlopen, or nearly always.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"
# shellcheck source=tests/cycles_lib.sh
. "$ROOT/tests/cycles_lib.sh"

loads 10 'hot_*' dlopen_hot
