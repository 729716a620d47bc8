#!/bin/bash
# SPDX-License-Identifier: MIT
# values_generated: made-up programs with functions of every signature, compiled in every way:
# arguments and results that read plans bring are those that the program prints.
# timeout: 600
# long: 50
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

need python3 gcc
export PYTHONDONTWRITEBYTECODE=1

# What is read tests/values/driver prints. The programs are always the same: others are made by
# VALUES_SEED, or by the program itself
# (`tests/values/fuzz.py build -n 100 -s SEED`).
nice -n 5 python3 "$ROOT/tests/values/fuzz.py" "$BUILD" -n "${VALUES_PROGRAMS:-2}" \
	-s "${VALUES_SEED:-1}" -w "${PATIENCE:-1}" >values.out ||
	{ tail -n 40 values.out; die "values differ"; }
tail -n 1 values.out
