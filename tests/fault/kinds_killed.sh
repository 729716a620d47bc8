#!/bin/bash
# SPDX-License-Identifier: MIT
# kinds_killed: inject is killed, or one of its system calls fails, as it maps the
# payload of a program without a loader, in musl's threads above whose stacks
# nothing can be read, and where no code makes the system call by which a thread
# that was abandoned comes back.
# timeout: 1800
KIND=musl_static
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"
# shellcheck source=tests/fault_lib.sh
. "$ROOT/tests/fault_lib.sh"

need_root
[ -d "$VICTIMS" ] || skip "no musl-gcc here"
# Of ptrace alone: what the kernel does when they end in the middle.
ONLY=${CALL[ptrace]} sweep 3 kill fresh spin_threads,2
sweep 60 kill fresh single
sweep 60 kill again single
sweep 48 fail fresh single
