#!/bin/bash
# SPDX-License-Identifier: MIT
# run-tests.sh BUILD TEST...: tests/run in the guest, where all is some ten times as slow. What
# tests leave behind is memory of the guest's, for the folder that is shared knows no sockets.
set -eu
cd "$(dirname "$0")/../.."
mkdir -p "$1/run"
mount -t tmpfs run "$1/run"
# Recipes are sought beside the directory that inject is in.
[ -e "$1/../share" ] || ln -s "$(realpath --relative-to="$1/.." share)" "$1/../share"
PATIENCE=${PATIENCE:-10} JOBS=${JOBS:-2} exec tests/run "$@"
