#!/bin/bash
# SPDX-License-Identifier: MIT
# refuse_musl: another C library, by its name.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

need musl-gcc
cat >sleepy.c <<'C'
#include <unistd.h>
int main(void) { sleep(60); return 0; }
C
musl-gcc -o sleepy sleepy.c
./sleepy &
pid=$!
STARTED+=("$pid")
loaded() { grep -q musl "/proc/$pid/maps"; }
wait_until 5 loaded || die "does not load musl"
status 1 "$INJECT" -p $pid -f '*'
refused musl
kill -0 $pid || die "the target has ended"
