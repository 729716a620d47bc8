#!/bin/bash
# SPDX-License-Identifier: MIT
# kinds_musl_static: programs with musl in them, at fixed addresses and elsewhere, in such states.
# timeout: 1200
# long: 20
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"
# shellcheck source=tests/kinds_lib.sh
. "$ROOT/tests/kinds_lib.sh"

kind musl_static stop_after_kill9 signals_while_borrowed attach_churn
kind musl_static_pie attach_sigaltstack waiting command_whole
