#!/bin/bash
# SPDX-License-Identifier: MIT
# flight_small: a session in a file takes no room for threads that are not there; yet those
# that come are recorded. Later visits find the room that they want, and another file is as
# small as the first.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

need_room 100 /dev/shm
DIR=$(mktemp -d /dev/shm/flight.XXXXXX)
tidy() { rm -rf "$DIR"; }
MIB=$((1 << 20))
vm_size() { awk '$1 == "VmSize:" { print $2 }' "/proc/$VICTIM/status"; }
field() { status 0 "$INJECT" status -p "$VICTIM"; sed -n 2p trace.out | cut -f"$1"; }
events() { status 0 "$INJECT" info "$1"; sed -n 's/^events\t//p' trace.out; }
session() { grep inject-session "/proc/$VICTIM/maps"; }

# starts NAME: into a small file.
starts()
{
	local size room

	status 0 "$INJECT" start -p "$VICTIM" --max-overhead 100 -f 'crowd_*' -o "$DIR/$1" -m 1M
	size=$(stat -c %s "$DIR/$1/inject-session")
	room=$(($(stat -c %b "$DIR/$1/inject-session") * 512))
	echo "$1: $((size / 1024)) KiB, and $((room / 1024)) on disk"
	[ "$size" -lt $((20 * MIB)) ] || die "the file has $size bytes"
	[ "$room" -lt $((16 * MIB)) ] || die "the file takes $room bytes of the disk"
	made=0
}

# calls COMMAND: of the victim, all of which are recorded.
calls()
{
	made=$((made + $(tell "$1" '^called' | cut -d' ' -f2)))
	[ "$(field 6)" = $((2 * made)) ] || die "$1: $made calls: $(cat trace.out)"
	[ "$(field 8)" = 0 ] || die "$1: events were lost: $(cat trace.out)"
}

is_small() { [ $(($(vm_size) - before)) -lt $((160 << 10)) ] || die "it takes $(($(vm_size) - before)) KiB of addresses"; }

# grown: a visit that wants much. The calls of its threads are counted.
grown()
{
	inject_bg count -p "$VICTIM" -f 'crowd_*'
	made=$(tell 'crowd 100' '^called' | cut -d' ' -f2)
	inject_end
	grep -q "^ *$made .*crowd_call" trace.out || die "not $made calls: $(cat trace.out)"
	removed
	inject_bg -p "$VICTIM" -f 'crowd_*' -m 16M -o /dev/null
	made=$(tell 'crowd 100' '^called' | cut -d' ' -f2)
	grew=$(($(vm_size) - before))
	inject_end
	[ $grew -gt $((2 << 20)) ] || die "it has not grown: $grew KiB"
	is_small
	[ "$(closing calls)" = "$made" ] || die "not $made calls: $(tail -n 1 trace.err)"
	[ "$(closing lost)" = 0 ] || die "events were lost"
	removed
	[ "$(session | wc -l)" = 1 ] || die "not one session: $(session)"
}

victim crowd
before=$(vm_size)
starts first
echo "$(($(vm_size) - before)) KiB of addresses"
is_small

# A thread that was there has as much room as was asked for; those that come are 300.
calls 'main 60000'
[ "$(field 7)" = 120000 ] || die "not all are held: $(cat trace.out)"
for _ in 1 2 3; do
	calls 'crowd 100'
done
# A thread that had no room of that kind keeps the last.
calls 'main 100000'
held=$(field 7)
if [ "$held" -lt 120000 ] || [ "$held" -gt 180000 ]; then
	die "$held events are held"
fi
status 0 "$INJECT" snapshot -p "$VICTIM" -o alive
status 0 "$INJECT" snapshot "$DIR/first" -o file
[ "$(events alive)" = "$held" ] || die "$held are held, and $(events alive) in a snapshot"
[ "$(events file)" = "$held" ] || die "$held are held, and $(events file) in the file"
status 0 "$INJECT" stop -p "$VICTIM"
unharmed

grown
starts second
calls 'crowd 100'
calls 'main 1000'
status 0 "$INJECT" stop -p "$VICTIM"
unharmed
is_small
grown
victim_quit
