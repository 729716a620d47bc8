#!/bin/bash
# SPDX-License-Identifier: MIT
# balance_go: of programs of Go's, with C and without, each call of each function has an
# exit; but for those of the scheduler by which a thread goes over to another goroutine,
# and what goroutines and threads are in at the end.
# timeout: 480
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"
# shellcheck source=tests/balance_lib.sh
. "$ROOT/tests/balance_lib.sh"
# shellcheck source=tests/balance_go_lib.sh
. "$ROOT/tests/balance_go_lib.sh"

# shellcheck disable=SC2034 # used by `program`: for all that is recorded
buffer=256M
export GOCACHE=$PWD/cache HOME=$PWD

# shellcheck disable=SC2012 # names of versions
go=$(command -v go || ls -1 /usr/lib/go-*/bin/go 2>/dev/null | tail -1) || true
[ -n "$go" ] || skip "no Go compiler here"
goroot=$("$go" env GOROOT)
: >left

# The runtime has a thread's id from minit on: there we come.
program without_c '*' "$goroot/bin/gofmt" "$goroot/src/fmt/print.go"
balanced_go without_c '^runtime[.]minit$' 0 '^runtime[.](mstart0|newstack)$'

program with_c '*' "$go" version
balanced_go with_c '^$' 0 '^runtime[.](mstart.*|mexit|newstack)$'
