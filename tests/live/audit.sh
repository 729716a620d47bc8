#!/bin/bash
# SPDX-License-Identifier: MIT
# audit: each run that works on a process leaves two lines, in --log and in the
# system's log: user, verb, process, and the result. An inject that is killed has left
# the first. Nothing that a line is made of can begin another one, and what a command
# is given stays out. Without a place for the line nothing begins.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

# lines COUNT PATTERN: so many of the log are like that, and have time and writer.
lines() { [ "$(grep -c "^[-0-9T:]*Z inject\[[0-9]*\]: user [0-9].*$2" log)" = "$1" ] || { cat log; die "not $1 like '$2'"; }; }

# How long a stop may be is said before the rest, where all is slow (tests/tools/patient.sh).
[ "${PATIENCE:-1}" = 1 ] && slow= || slow='--max-pause [0-9]*ms '
victim spin_threads 2
status 0 "$INJECT" -p "$VICTIM" -f 'spin_*' -N 'a
b' -n 10 -q --log log
lines 1 "begins: $slow-p $VICTIM -f spin_\* -N a.x0ab .*\[process $VICTIM (spin_threads) of user $(id -u)\]"
lines 1 "ended with status 0: $slow-p $VICTIM .*: 4 functions probed.*all probes removed, text verified"
[ "$(wc -l <log)" = 2 ] || die "not two lines"
[ "$(stat -c %a log)" = 600 ] || die "others may read it"

status 3 "$INJECT" -p "$VICTIM" -f no_such --log log
lines 1 'ended with status 3: .*nothing to probe'
# However much is asked for, and in what letters: process and result are not pushed out.
long=$(printf '\001%.0s' {1..2000})
status 3 "$INJECT" -f "$long" -p "$VICTIM" -f no_such --log log
lines 1 "begins: $slow-f .*x01 \[process $VICTIM (spin_threads) of user $(id -u)\]"
lines 1 "ended with status 3: .*x01 \[process $VICTIM .*nothing to probe"
status 0 "$INJECT" stop -p "$VICTIM" --log log
lines 1 "begins: stop $slow-p"
status 7 "$INJECT" -f 'fn_*' -o /dev/null --log log -- sh -c 'exit 7' secret
lines 1 'begins: .* sh$'
lines 1 'ended with status 7: .* sh: '
! grep -q secret log || die "what the command was given is in the log"
rm log

inject_bg -p "$VICTIM" -f 'spin_*' -o /dev/null --log log
kill -KILL "$TRACER"
wait "$TRACER" || true
lines 1 'begins: '
[ "$(wc -l <log)" = 1 ] || die "more than begun"
status 0 "$INJECT" stop -p "$VICTIM"

# Nowhere to write: nothing was tried.
ln -sf log link
for file in link /nowhere/log /dev/full; do
	status 1 "$INJECT" -p "$VICTIM" -f 'spin_*' -d 1 --log $file
	refused 'write the log'
done
unharmed

# The system's: seen by a reader of /dev/log in a place of its own.
[ "$(id -u)" = 0 ] && unshare --mount true 2>/dev/null || exit 0
mkdir dev
cat >alone.sh <<'END'
set -e
mount --rbind /dev dev
mount -t tmpfs none /dev
for f in null zero full urandom; do touch /dev/$f; mount --bind dev/$f /dev/$f; done
"$BUILD/tests/tools/listen" /dev/log >"$PWD/heard.out" &
trap "kill $!" EXIT
for _ in $(seq 500); do grep -q ready heard.out && break; sleep 0.02; done
"$INJECT" -p "$1" -f 'spin_*' -n 10 -o /dev/null 2>alone.err
for _ in $(seq 500); do grep -q ended heard.out && break; sleep 0.02; done
END
export INJECT
status 0 unshare --mount bash alone.sh "$VICTIM"
grep -q "^<85>... [ 0-9][0-9] ..:..:.. inject\[[0-9]*\]: user 0.* begins: $slow-p $VICTIM" heard.out ||
	die "the system's log has no begin: $(cat heard.out)"
grep -q 'ended with status 0: .*text verified' heard.out || die "nor an end"
unharmed
