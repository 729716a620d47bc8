#!/bin/bash
# SPDX-License-Identifier: MIT
# usdt_generated: made-up programs with places for tracers, compiled in every way, so that all forms
# come up that compilers have for arguments: inject prints what the programs do.
# timeout: 600
# long: 40
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

need python3 gcc
export PYTHONDONTWRITEBYTECODE=1

# Always the same programs: others are made by USDT_SEED.
nice -n 5 python3 "$ROOT/tests/values/usdt.py" "$INJECT" . -n "${USDT_PROGRAMS:-2}" \
	-s "${USDT_SEED:-1}" -w "${PATIENCE:-1}" >values.out ||
	{ tail -n 40 values.out; die "values differ"; }
tail -n 1 values.out
