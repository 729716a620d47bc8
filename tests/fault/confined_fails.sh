#!/bin/bash
# SPDX-License-Identifier: MIT
# confined_fails: a process all of whose threads are under seccomp filters that kill for any
# call but its own and those that are made of a borrowed thread; and inject is killed
# right before its 1st, 2nd, 3rd ... system call, or that fails.
# timeout: 1800
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"
# shellcheck source=tests/fault_lib.sh
. "$ROOT/tests/fault_lib.sh"

need_root
visit=(-p @ -f 'early_*' -f 'later_*' -d 0.05 -o /dev/null --max-pause 10s)
FROM=thread sweep 71 kill fresh confined,now,lends "${visit[@]}"
sweep 151 fail fresh confined,now,lends "${visit[@]}"
