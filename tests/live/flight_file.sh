#!/bin/bash
# SPDX-License-Identifier: MIT
# flight_file: with start -o the rings are a file, which holds the last calls of a
# process that has crashed. A file for which there is no room, or that others could
# cut off, is refused before the process maps it, or any thread of it is held.
# timeout: 360
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

need_room 300 /dev/shm
DIR=$(mktemp -d /dev/shm/flight.XXXXXX)
tidy() { rm -rf "$DIR"; }
recorded() { status 0 "$INJECT" status -p "$VICTIM"; sed -n 2p trace.out | cut -f6; }
held() { status 0 "$INJECT" status -p "$VICTIM"; sed -n 2p trace.out | cut -f7; }
events() { status 0 "$INJECT" info "$1"; sed -n 's/^events\t//p' trace.out; }

victim spin_threads 2

# Refused, and nothing is left of it: no room, a limit, others' business.
in_mount() { status 1 unshare -m sh -c "mount -t $1 none '$DIR' && exec \"\$@\"" sh "${@:2}"; }
if [ "$(id -u)" = 0 ] && unshare -m true 2>/dev/null; then
	in_mount 'tmpfs -o size=5M' "$INJECT" start -p "$VICTIM" -f 'count_*' -o "$DIR/x"
	refused 'No space left'
	in_mount 'tmpfs -o size=5M' "$INJECT" start -v -p "$VICTIM" -f 'count_*' -o "$DIR/x"
	! has_line 'lent a thread' trace.err || die "a thread was held while room was taken"
	in_mount ramfs "$INJECT" start -p "$VICTIM" -f 'count_*' -o "$DIR/x"
	refused 'may run out of room'
fi
(ulimit -f 1000; status 1 "$INJECT" start -p "$VICTIM" -f 'count_*' -o "$DIR/x")
[ ! -e "$DIR/x" ] || die "something was left in $DIR"
mkdir -m 777 "$DIR/open"
status 1 "$INJECT" start -p "$VICTIM" -f 'count_*' -o "$DIR/open"
refused 'is writable by others'
unharmed
status 0 "$INJECT" status -p "$VICTIM"

# It works as memory does, and is its owner's only.
status 0 "$INJECT" start -p "$VICTIM" --max-overhead 100 -f 'count_*' -o "$DIR/x" -m 128K
[ "$(stat -c %a "$DIR/x" "$DIR/x/inject-session" | xargs)" = "700 600" ] ||
	die "others may read it"
tell pace '^ok pace' >/dev/null
sleep 0.2
made=$(tell end '^counted' | cut -d' ' -f2)
[ "$(recorded)" = $((2 * made)) ] || die "$made calls, $(recorded) events"
status 0 "$INJECT" snapshot -p "$VICTIM" -o alive
status 0 "$INJECT" snapshot "$DIR/x" -o file
[ "$(events alive)" = "$(events file)" ] || die "the file is another"
status 1 "$INJECT" replay "$DIR/x"
refused 'inject snapshot'
# Its room stays taken: the process has it mapped, and there may be none later.
room=$(stat -c %b "$DIR/x/inject-session")
status 0 "$INJECT" stop -p "$VICTIM"
[ "$(stat -c %b "$DIR/x/inject-session")" = "$room" ] || die "room was given back"
unharmed
status 1 "$INJECT" start -p "$VICTIM" -f 'count_*' -o "$DIR/x"
refused 'holds a session already'

# A second time, and a crash.
status 0 "$INJECT" start -p "$VICTIM" --max-overhead 100 -f 'count_*' -o "$DIR/y"
status 0 "$INJECT" add -p "$VICTIM" -f 'spin_leaf'
status 0 "$INJECT" remove -p "$VICTIM" -f 'spin_leaf'
tell count '^ok count' >/dev/null
sleep 0.2
tell end '^counted' >/dev/null
want=$(held)
kill -SEGV "$VICTIM"
wait "$VICTIM" || true
status 0 "$INJECT" snapshot "$DIR/y" -o crashed
[ "$(events crashed)" = "$want" ] || die "$want events were held, $(events crashed) are left"
status 0 "$INJECT" replay crashed
traced 'count_leaf();'

# Whatever stands in such a file, it is read or refused.
for at in 0 8 40 72 80 88 96 104 200 4096 200000; do
	mkdir -p "$DIR/z"
	cp "$DIR/y/inject-session" "$DIR/z/"
	printf '\377\377\377\377\377\377\377\377' |
		dd of="$DIR/z/inject-session" bs=1 seek=$at conv=notrunc 2>/dev/null
	got=0
	timeout 20 "$INJECT" snapshot "$DIR/z" -o damaged >trace.out 2>trace.err || got=$?
	[ $got -le 1 ] || die "byte $at: status $got"
done
truncate -s 100000 "$DIR/z/inject-session"
status 1 "$INJECT" snapshot "$DIR/z" -o damaged
