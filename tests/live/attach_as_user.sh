#!/bin/bash
# SPDX-License-Identifier: MIT
# attach_as_user: a user who is not root traces a process of his own.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

need_root
need setpriv
mkdir user
cp "$INJECT" "$VICTIMS/spin_threads" user/
chmod 755 . user user/*
up=$PWD
while [ "$up" != / ]; do
	[ $((0$(stat -c %a "$up") & 1)) = 1 ] || skip "$up is closed to other users"
	up=$(dirname "$up")
done
as_user=(setpriv --reuid=65534 --regid=65534 --clear-groups)
mkfifo victim.in
"${as_user[@]}" user/spin_threads 2 <victim.in >victim.out &
VICTIM=$!
STARTED+=("$VICTIM")
exec 9>victim.in
wait_until 10 has_line '^ready$' victim.out
status 0 "${as_user[@]}" user/inject -p "$VICTIM" -f 'spin_*' -d 0.3
traced spin_leaf
removed
