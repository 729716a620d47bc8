#!/bin/bash
# SPDX-License-Identifier: MIT
# environment: what processes on production machines may be under, and tests are
# rarely: memory that is never both written and executed, Landlock, all signals blocked
# or ignored, a small stack, another scheduling class, no right to start a thread, an
# unmapped user, memory that is arranged otherwise; and an inject that has the
# capabilities, but is not root. Traced, and as it was afterwards.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

need_root
need setpriv prlimit unshare chrt setarch
UNDER=$BUILD/tests/tools/under
OPEN=$(mktemp -d)
cp "$BUILD/inject" "$VICTIMS/spin_threads" "$VICTIMS/single" "$OPEN/"
chmod -R a+rX "$OPEN"
VICTIMS=$OPEN
user=$((600000 + $$ % 60000))	# no other's, so that its threads can be counted
as_user=(setpriv --reuid="$user" --regid="$user" --clear-groups)

begin()
{
	local what=$1

	shift
	[ "$what" = single ] || set -- 2
	rm -f victim.in
	victim "$what" "$@"
}

# under WHAT COMMAND...: a victim that is started by it is traced. A thread in the idle class
# stops late where others want the processor.
under()
{
	local what=$1 kind status=0

	AS=("${@:2}")
	"${AS[@]}" true 2>no.err || status=$?
	[ $status != 77 ] || { echo "$what: not here: $(cat no.err)"; return 0; }
	for kind in spin_threads single; do
		begin $kind
		status 0 "$INJECT" -p "$VICTIM" -f 'spin_*' -f 'single_*' -d 0.3 -o /dev/null \
			--max-pause 10s
		removed
		echo "$what: $kind: $(closing calls) calls"
		victim_quit
	done
}

for what in mdwe landlock blocked,ignored; do
	under $what "$UNDER" $what
done
under "small limits" prlimit --stack=65536 --sigpending=0 --memlock=0
under "addresses as they always are" setarch -R
under "addresses upwards, as they always are" setarch -RL
under "addresses below 3 GB" setarch -3
under "what is read may be executed" setarch -X
under "the idle class" chrt -i 0
under "an unmapped user" unshare --user

# One thread, lest it keeps a processor to itself.
AS=(chrt -f 1)
if "${AS[@]}" true 2>/dev/null; then
	begin single
	inject_until single_ -p "$VICTIM" -f 'single_*'
	removed
	victim_quit
fi

# Nothing is loaded, and so no thread is started where none may be.
AS=("${as_user[@]}" prlimit --nproc=3)
begin spin_threads
for _ in 1 2; do
	status 0 "$INJECT" -p "$VICTIM" -f 'spin_*' -d 0.3
	traced spin_leaf
	removed
done
! grep -q inject-payload "/proc/$VICTIM/maps" || die "a thread was started against the limit"
victim_quit

# Refused by name, and before anything is tried.
AS=()
for kind in spin_threads single; do
	begin $kind
	maps=$(wc -l <"/proc/$VICTIM/maps")
	prlimit --pid "$VICTIM" --data=1:unlimited
	status 1 "$INJECT" -p "$VICTIM" -f 'spin_*' -f 'single_*' -d 1
	refused 'RLIMIT_DATA leaves 0 MiB'
	[ "$(wc -l <"/proc/$VICTIM/maps")" = "$maps" ] || die "something was mapped"
	unharmed
	victim_quit
done

# Another user's process, with capabilities.
AS=("${as_user[@]}")
begin spin_threads
other=(setpriv --reuid=$((user + 1)) --regid=$((user + 1)) --clear-groups)
some=("${other[@]}" --inh-caps=+sys_ptrace --ambient-caps=+sys_ptrace)
both=+sys_ptrace,+dac_override
all=("${other[@]}" --inh-caps="$both" --ambient-caps="$both")
if "${all[@]}" true 2>/dev/null; then
	status 1 "${some[@]}" "$OPEN/inject" -p "$VICTIM" -f 'spin_*'
	refused 'CAP_DAC_OVERRIDE is needed'
	status 0 "${all[@]}" "$OPEN/inject" -p "$VICTIM" -f 'spin_*' -d 0.3 -o /dev/null
	removed
fi
status 1 "${other[@]}" "$OPEN/inject" -p "$VICTIM" -f 'spin_*'
refused 'not permitted for .*try sudo'
unharmed
