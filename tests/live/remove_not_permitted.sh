#!/bin/bash
# SPDX-License-Identifier: MIT
# remove_not_permitted: a user traces a process of his own, which then forbids
# it. He is told that probes remain; root's `stop` removes them.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

need_root
need setpriv
mkdir user
cp "$INJECT" "$VICTIMS/changer" user/
chmod 755 . user user/*
up=$PWD
while [ "$up" != / ]; do
	[ $((0$(stat -c %a "$up") & 1)) = 1 ] || skip "$up is closed to other users"
	up=$(dirname "$up")
done
as_user=(setpriv --reuid=65534 --regid=65534 --clear-groups)
mkfifo victim.in
"${as_user[@]}" user/changer <victim.in >victim.out 9>&- &
VICTIM=$!
STARTED+=("$VICTIM")
exec 9>victim.in
wait_until 10 has_line '^ready$' victim.out
INJECT_ROOT=$INJECT
INJECT=setpriv
inject_bg --reuid=65534 --regid=65534 --clear-groups user/inject -p "$VICTIM" -f 'change_*' -o /dev/null
tell undump '^done undump' >/dev/null
WANT=5 inject_end
has_line 'PROBES REMAIN' trace.err || die "not said that probes remain"
victim_works
status 0 "$INJECT_ROOT" stop -p "$VICTIM"
unharmed
