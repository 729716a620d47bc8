#!/bin/bash
# SPDX-License-Identifier: MIT
# closed_streams: inject is started without standard streams. Nothing that it
# opens takes their numbers, for it would print into that, be it the memory of the
# target; and a command that it starts has them closed, too.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

# bounded COMMAND...: a run that hangs prints for ever, and hears no signal.
bounded() { timeout -k 5 60 "$@" 9>&-; }

victim spin_threads 2
for closed in '>&-' '2>&-' '>&- 2>&-' '<&- >&- 2>&-'; do
	got=0
	eval "bounded \"\$INJECT\" -p $VICTIM -f 'spin_*' -d 0.1 >one.out 2>one.err $closed" ||
		got=$?
	case $closed in
	*'>&- '* | '>&-') want=1 ;;
	*) want=0 ;;
	esac
	[ $got = $want ] || die "status $got, not $want, with $closed"
	unharmed
done
got=0
bounded "$INJECT" list "$BUILD/inject" >&- 2>trace.err || got=$?
[ $got = 1 ] || die "list: status $got, not 1"
has_line 'cannot write the results to standard output: Bad file descriptor' trace.err

# What a command has is what it would have without inject.
cat >streams.sh <<'EOF'
for fd in 0 1 2; do [ -e /proc/$$/fd/$fd ] && echo $fd; done >streams.out
exit 0
EOF
for closed in '<&-' '>&-' '<&- >&- 2>&-'; do
	eval "sh streams.sh $closed"
	mv streams.out bare.out
	eval "bounded \"\$INJECT\" -f '*' -o calls.txt -- sh streams.sh $closed"
	cmp bare.out streams.out || die "the command has other streams with $closed"
done

for what in --help --version list; do
	[ $what != list ] || what="list $BUILD/inject"
	# shellcheck disable=SC2086
	status 1 sh -c '"$@" >/dev/full' sh "$INJECT" $what
	has_line 'cannot write .*: No space left on device' trace.err
done

# What fails before the command line is read is no fault of that.
status 1 "$BUILD/tests/fault/failer" -o "${CALL[fcntl]}" -n 1 -e 9 -- "$BUILD/inject" --version
has_line 'closed descriptor 0' trace.err || die "$(cat trace.err)"
status 125 "$BUILD/tests/fault/failer" -o "${CALL[fcntl]}" -n 1 -e 9 -- "$BUILD/inject" -f '*' -- true
status 2 "$INJECT" --no-such-option
