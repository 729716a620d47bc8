#!/bin/bash
# SPDX-License-Identifier: MIT
# record_ends: however a recording ends, what is in the directory can be read: with a
# command, with a target that dies, with forked children, by kill -9 of inject, on a
# disk that was full before, and where a file was cut.
# timeout: 360
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

need babeltrace2

# quiet COMMAND...: it works, and has nothing to say.
quiet()
{
	status 0 "$@"
	[ ! -s trace.err ] || die "$1 complains: $(head -n 2 trace.err)"
}

calls_in() { awk '!/^#/ { gsub(/ (us|ms| s| m| h) /, " "); n += $3 } END { print n + 0 }' trace.out; }

# A whole command.
status 5 "$INJECT" record -f 'command_*' -o whole -- "$VICTIMS/command" exit 5
[ "$(closing calls)" = 1010 ] || die "$(closing calls) calls, not 1010"
quiet "$INJECT" report whole
[ "$(calls_in)" = 1010 ] || die "report has $(calls_in) calls"
quiet babeltrace2 whole
[ "$(grep -c ' entry: ' trace.out)" = 1010 ] || die "babeltrace2 does not see each call"

# After so many calls.
status 0 "$INJECT" record -f 'command_*' -n 1 -o few -- "$VICTIMS/command"
quiet "$INJECT" report few

# The target dies.
victim recursion
inject_bg record -p "$VICTIM" -f 'rec_*' -o dies
wait_until 20 [ -s dies/stream_0 ] || die "nothing is written"
kill -KILL "$VICTIM"
WANT=4 inject_wait
quiet "$INJECT" report dies
[ "$(calls_in)" -gt 0 ] || die "no calls of what has died"
exec 9>&-
rm victim.in
VICTIM=

# A file is cut: what was open there has ended, for all that is known, and not as late as all does.
cp -r dies cut
truncate -s "$((($(stat -c %s cut/stream_0) * 3 / 5 + 1000) | 1))" cut/stream_0	# no packet's end
status 0 "$INJECT" replay cut
refused 'is torn\|are no packet' 2
has_line 'exit lost' trace.out || die "no call has lost its end"
has_line 'still open' trace.out && die "what was open there is said to be open still"

# inject dies: what was there a second ago stays, and it is said that more may be missing.
victim recursion
inject_bg record -p "$VICTIM" -f 'rec_*' -o killed
wait_until 20 [ -s killed/stream_0 ] || die "nothing is written"
# A kill cuts a write short, a stop does not: what is written is whole then.
stands() { [ "$(sed 's/.*) //' "/proc/$TRACER/stat" | cut -c1)" = T ]; }
inject_killed() { kill -KILL "$TRACER"; wait "$TRACER" || [ $? = 137 ]; }
kill -STOP "$TRACER"
wait_until 20 stands || die "inject does not stop"
inject_killed 2>/dev/null
status 0 "$INJECT" report killed
[ "$(calls_in)" -gt 0 ] || die "no calls of what was killed"
refused 'killed was not ended'
babeltrace2 killed >bt.out 2>bt.err || die "babeltrace2 fails: $(head -n 2 bt.err)"
status 0 "$INJECT" stop -p "$VICTIM"
unharmed

# inject dies right before newer metadata take the place of what is there.
status 137 "$BUILD/tests/fault/failer" -o "${CALL[renameat]}" -n 2 -k -- \
	"$INJECT" record -p "$VICTIM" -f 'rec_*' -d 60 -o renames
[ -s renames/.metadata.new ] || die "inject was not killed between writing and renaming"
status 0 "$INJECT" report renames
babeltrace2 renames >bt.out 2>bt.err || die "babeltrace2 fails: $(head -n 2 bt.err)"
status 0 "$INJECT" stop -p "$VICTIM"
unharmed

# Nothing can be written at all: the probes were in already, and go again.
if [ "$(id -u)" = 0 ] && mkdir disk && mount -t tmpfs -o size=64k tmpfs disk 2>/dev/null; then
	tidy() { umount -l disk 2>/dev/null; }
	head -c 1M /dev/zero >disk/full 2>/dev/null || true
	status 1 "$INJECT" record -p "$VICTIM" -f 'rec_*' -o disk/t
	grep -q 'disk/t.*No space left on device' trace.err || die "the disk is not named"
	removed
fi
victim_quit

# A library that is loaded meanwhile: its functions have names, and it is in the list.
cp "$VICTIMS/plugin.so" plugin.so
victim replugger
inject_bg record -p "$VICTIM" -f 'plugin_*' -o libraries
cp "$VICTIMS/plugin_other.so" new.so && mv new.so plugin.so
tell "load other" '^loaded' >/dev/null
wait_until 20 has_line 'plugin.so was loaded: 1 of 1 ' trace.err || die "the load was not noticed"
inject_end
removed
quiet "$INJECT" info libraries
[ "$(grep -c '^module	.*plugin.so' trace.out)" = 2 ] || die "the second library is not named"
quiet "$INJECT" report libraries
traced plugin_answer
victim_quit

# Forked children, with --follow-fork: each under its own number.
victim forker
inject_bg record -p "$VICTIM" -f 'fork_*' -o forks --follow-fork
one=$(tell fork '^child' | cut -d' ' -f2)
of_child() { "$INJECT" info forks 2>/dev/null | grep -q "^thread	$one	"; }
wait_until 20 of_child || die "no thread of the child"
inject_end
removed
clean "$one"
quiet "$INJECT" replay forks --json
grep -q "\"pid\":$one," trace.out || die "no call of the child"
tell reap '^reaped' >/dev/null
