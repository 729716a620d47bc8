#!/bin/bash
# SPDX-License-Identifier: MIT
# attach_in_syscall: one thread in each blocking system call, and no other;
# here only that the attach works. What the calls return: eintr_table.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

victim blocked 3
status 0 "$INJECT" -p "$VICTIM" -f 'victim_*' -f 'run_*' -d 0.3
has_line 'all probes removed, text verified' trace.err || die "not removed"
clean
