#!/bin/bash
# SPDX-License-Identifier: MIT
# unwinders: threads that are cancelled, or thrown out of, wherever they stand: inside
# of stubs, recording routines and the payload, too. Each destructor is run, and each
# exception caught, whichever library has the unwinder, and however calls are recorded.
# timeout: 1800
# long: 30
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

rounds()
{
	local got

	got=$(tell "rounds $1" '^rounds') || { echo "$got"; die "no rounds $2"; }
	[ "$got" = "rounds $1 undestroyed 0 uncaught 0" ] || die "$2: $got"
}

# steps LEAST NAME: walks from each instruction of calls, so many at least.
steps()
{
	local got n

	got=$(tell steps '^steps') || { echo "$got"; die "no steps $2"; }
	n=${got#steps }
	[ "${n#* }" = "lost 0" ] && [ "${n%% *}" -ge "$1" ] || die "$2: $got"
}

# As many in less time, where all is slow.
most=400
[ "${PATIENCE:-1}" -lt 10 ] || most=40

begin()
{
	victim "$1"
	rounds 50 "$1, without probes"
	steps 50 "$1, without probes"
}

# traced_by VICTIM ARG...: while it is traced.
traced_by()
{
	begin "$1"
	inject_bg "${@:2}" -p "$VICTIM"
	rounds $most "$*"
	steps 300 "$*"
	inject_end
	removed
	rounds 50 "$1, after the removal"
	victim_quit
}

for kind in unwinders unwinders_own unwinders_static; do
	traced_by $kind -f '*' -o /dev/null
done
# Nothing else of its module is probed; and it is, with all that it calls.
traced_by unwinders -f 'un_*' -o /dev/null
traced_by unwinders -f 'un_*' -f '*@libgcc_s*' -o /dev/null
traced_by unwinders count -f 'un_*' -o /dev/null
traced_by unwinders record -f 'un_*' -o recorded

# From the middle of functions, where a stub steps over what they have below the stack pointer.
mapfile -t all < <(places_of unwinders un_leaf un_tail un_aligned un_sized)
for n in 1 3; do
	every 4 $n "${all[@]}"
	traced_by unwinders "${PLACES[@]}" -o /dev/null
done

# A throw from a stub whose function's jumps are gone finds the way, too.
begin unwinders
inject_bg -p "$VICTIM" -f 'un_*' -o /dev/null
tell hold '^held' >/dev/null
inject_end
removed
[ "$(tell held '^uncaught')" = "uncaught 0" ] || die "a thread that came out late was not unwound"
victim_quit

# Without an inject there.
begin unwinders
status 0 "$INJECT" start -p "$VICTIM" -f 'un_*' --keep last
rounds $most "started"
status 0 "$INJECT" add -p "$VICTIM" -f 'unwinders::*' -f '*call*'
status 0 "$INJECT" status -p "$VICTIM"
! grep _Unwind trace.out || die "what was not asked for is listed"
status 0 "$INJECT" remove -p "$VICTIM" -f un_leaf
rounds $((most / 2)) "changed"
status 0 "$INJECT" stop -p "$VICTIM"
unharmed

# And without one there because it was killed.
inject_bg -p "$VICTIM" -f 'un_*' -o /dev/null
WANT=137 inject_end KILL
rounds $((most / 2)) "killed"
status 0 "$INJECT" stop -p "$VICTIM"
unharmed
