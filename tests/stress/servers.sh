#!/bin/bash
# SPDX-License-Identifier: MIT
# servers: no request of theirs fails while probes come and go, and no visit does. Two of
# them for seconds, with SOAK=1 all for minutes. How long answers take is printed, and not judged.
# timeout: 600
# serial: it loads the machine
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

need python3 gcc
export CC=gcc SECONDS_EACH=8 SLICE=1 RATE=200
servers=(memcached python)
[ -z "${SOAK:-}" ] || { SECONDS_EACH=300; servers=(); }
"$ROOT/bench/latency.sh" "${servers[@]}"
