#!/bin/bash
# SPDX-License-Identifier: MIT
# usdt_real: the places for tracers of a distribution's programs and libraries, where it has
# built them in: Python's, with semaphores, the C++ library's, and those of PostgreSQL.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

# Calls of those whose name begins so.
seen() { awk -v name="${1%\*}" 'index($2, name) == 1 { n += $1 } END { print n + 0 }' trace.out; }

# has FILE GLOB: places that match, all of which have room.
has()
{
	"$INJECT" list --usdt="$2" "$1" >listed.out 2>/dev/null || return 1
	! grep -P '\trefused\t' listed.out || die "$1 has a place without room"
}

tried=0
python=$(readlink -f "$(command -v python3)" || true)
if [ -n "$python" ] && has "$python" 'python:*'; then
	mkfifo python.in
	"$python" -u -c 'import gc, sys
gc.disable()
def work(n):
    return sum(i * i for i in range(n))
want = [work(n) for n in range(50)]
print("ready")
for line in sys.stdin:
    gc.collect()
    assert [work(n) for n in range(50)] == want
    print("done", line.strip())' <python.in >python.out 2>python.err 9>&- &
	python_pid=$!
	started $python_pid
	exec 8>python.in
	wait_until 30 has_line ready python.out
	inject_bg count -p $python_pid --usdt 'python:gc__*' --usdt 'python:function__*'
	for i in 1 2 3 4 5 6 7; do echo $i >&8; done
	wait_until 30 has_line 'done 7' python.out || { cat python.err; die "it does not go on"; }
	inject_end
	has_line 'all probes removed, text verified' trace.err || die "not removed"
	clean $python_pid
	[ "$(seen python:gc__start) $(seen python:gc__done)" = "7 7" ] ||
		{ cat trace.out; die "collections were not seen"; }
	# Python 3.11 goes by the place at the end only.
	[ "$(seen 'python:function__*')" -ge 350 ] || die "few functions were seen"
	status 0 "$INJECT" -p $python_pid --usdt 'python:*' -d 0.2 -o /dev/null
	# Arguments: those of the function that is called, and what a collection has found.
	inject_bg -p $python_pid --usdt 'python:gc__*' --usdt 'python:function__return' \
		--usdt 'python:import__find__load__start'
	echo 8 >&8
	wait_until 30 has_line 'done 8' python.out || { cat python.err; die "it does not go on"; }
	inject_end
	clean $python_pid
	grep -q 'python:gc__start(generation=2);' trace.out || die "a generation is not known"
	grep -q 'python:gc__done(collected=[0-9]*);' trace.out || die "what was found is not known"
	[ "$(grep -c 'function__return(file="<string>", function="work", line=[45]);' trace.out)" \
		-ge 50 ] || { head trace.out; die "functions have no names"; }
	exec 8>&-
	wait $python_pid || die "Python has failed"
	tried=$((tried + 1))
fi

cxx=$(ldd "$VICTIMS/throwers" | sed -n 's/.*libstdc++.* => \([^ ]*\).*/\1/p')
if [ -n "$cxx" ] && has "$cxx" 'libstdcxx:*'; then
	victim throwers
	inject_bg count -p "$VICTIM" --usdt 'libstdcxx:*' -d 1
	inject_wait
	removed
	[ "$(seen libstdcxx:throw)" -gt 100 ] && [ "$(seen libstdcxx:catch)" -gt 100 ] ||
		{ cat trace.out; die "exceptions were not seen"; }
	victim_quit
	tried=$((tried + 1))
fi

for postgres in /usr/lib/postgresql/*/bin/postgres; do
	[ -e "$postgres" ] && has "$postgres" 'postgresql:*' || continue
	! grep '?' listed.out || die "an argument is in no form that is known"
	tried=$((tried + 1))
done
echo "$tried programs"
[ $tried -gt 0 ] || skip "nothing here has such places"
