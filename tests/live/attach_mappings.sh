#!/bin/bash
# SPDX-License-Identifier: MIT
# attach_mappings: a first visit reads no list of mappings while it holds a thread, nor
# more of anything, however many there are: the pause does not grow with them.
# timeout: 1200
# long: 25
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

need strace
MOST=/proc/sys/vm/max_map_count
RAISED=120000
BEFORE=		# if it was raised, by us

# It is of the whole machine: of several such tests at one time one raises it, and puts it back.
raise()
{
	exec 8<$MOST
	flock -n 8 || return 0
	MAY=$(<$MOST)
	[ "$MAY" -lt $RAISED ] && [ -w $MOST ] || return 0
	BEFORE=$MAY
	# Also if we are killed: this one reads until no process of ours is there any more.
	mkfifo alive
	# shellcheck disable=SC2016
	setsid bash -c 'read -r _; [ "$(<"$1")" != "$2" ] || echo "$3" >"$1"' \
		restore $MOST $RAISED "$BEFORE" <alive 8>&- &
	exec 7>alive
	echo $RAISED 2>/dev/null >$MOST || true
	MAY=$(<$MOST)
}

tidy()
{
	[ -z "$BEFORE" ] || [ "$(<$MOST)" != $RAISED ] || echo "$BEFORE" >$MOST
	exec 7>&-
}

# Of a strace: the most bytes read in one hold, lists of mappings read in any, and bytes of
# such lists read by all.
holds() {
	awk '
	/ptrace\(PTRACE_SEIZE/ { held = 1; holds++; bytes = 0 }
	/(read|pread64)\([0-9]+</ && match($0, /= [0-9]+$/) {
		n = substr($0, RSTART + 2)
		list = $0 ~ /<\/proc\/[0-9\/task]*\/(maps|smaps|numa_maps|pagemap)>/
		if (list) all += n
		if (held) { bytes += n; lists += list }
	}
	/ptrace\(PTRACE_DETACH/ { if (bytes > most) most = bytes; held = 0 }
	END { print most + 0, lists + 0, all + 0, holds + 0 }' "$1"
}

# visit N THREADS: the most bytes read in one hold
visit()
{
	local most lists all holds

	victim mappings "$1" "$2"
	status 0 strace -f -y -e trace=ptrace,read,pread64 -o strace.out \
		"$INJECT" -p "$VICTIM" -f mappings_work -d 0.1 -v --max-pause 1s
	traced mappings_work
	removed
	read -r most lists all holds < <(holds strace.out)
	[ "$holds" -ge 3 ] || die "strace saw $holds holds only"
	[ "$all" -gt $((20 * $1)) ] || die "strace did not see the mappings being read ($all)"
	[ "$lists" = 0 ] || die "$1 mappings, $2 threads: $lists reads of lists while held"
	victim_quit
	[ "$1" = 1 ] && LEAST=$most
	[ "$most" -le $((2 * LEAST)) ] ||
		die "$1 mappings, $2 threads: $most bytes read in one hold, not some $LEAST"
	# The pause by itself, with what --max-pause is by default.
	victim mappings "$1" "$2"
	status 0 "$INJECT" -p "$VICTIM" -f mappings_work -d 0.1
	removed
	victim_quit
	echo "$1 mappings, $2 threads: $most bytes in a hold;" \
		"$(grep -o 'paused [0-9.]* m\?s' trace.err)"
}

# In an emulator strace takes some minutes for each list of the longer ones.
counts="1 1000 10000 60000 100000"
[ "${PATIENCE:-1}" -lt 10 ] || counts="1 1000 10000"
MAY=$(($(<$MOST) < 65530 ? $(<$MOST) : 65530))
raise
for threads in 0 2; do
	LEAST=0
	for n in $counts; do
		if [ $((n + 1000)) -gt "$MAY" ]; then
			echo "no $n mappings: vm.max_map_count leaves $MAY"
			continue
		fi
		visit "$n" "$threads"
	done
done
