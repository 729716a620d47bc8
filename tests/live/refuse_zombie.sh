#!/bin/bash
# SPDX-License-Identifier: MIT
# refuse_zombie: a process that has ended and was not waited for.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

# This shell's child execs sleep, which never waits for a child that ends then.
bash -c 'sleep 0.3 & echo $! >zombie.pid; exec sleep 60' &
started "$!"
zombie() { grep -q '^State:.Z' "/proc/$(cat zombie.pid)/status" 2>/dev/null; }
wait_until 5 test -s zombie.pid && wait_until 5 zombie || skip "could not make a zombie"
status 4 "$INJECT" -p "$(cat zombie.pid)" -f '*'
refused zombie
