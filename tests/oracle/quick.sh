#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 200
# long: 20
# Where a few programs really arrive, nothing is planned: run.sh says how.
exec "$ROOT/tests/oracle/run.sh" "$BUILD" quick
