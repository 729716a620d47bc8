#!/bin/bash
# SPDX-License-Identifier: MIT
# user_files: threads that read, write, open and look at files of a file system in user space
# that ends with EINTR what is interrupted, do not notice that they are traced.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

need_root
victim user_files
! has_line '^absent' victim.out || skip "the kernel does not mount here: $(cat victim.out)"
for _ in 1 2 3 4; do
	inject_bg -p "$VICTIM" -f 'file_*' -o /dev/null
	sleep 0.3
	inject_end
	removed
done
unharmed
