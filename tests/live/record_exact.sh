#!/bin/bash
# SPDX-License-Identifier: MIT
# record_exact: every call that was made is in the directory, for us and for
# babeltrace2; an older directory is kept, and nothing else replaced.
# timeout: 360
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

need babeltrace2 python3 zstd
victim spin_threads 3
inject_bg record -p "$VICTIM" -f 'count_*'
tell pace '^ok pace' >/dev/null
sleep 0.3
made=$(tell end '^counted' | cut -d' ' -f2)
inject_end
removed
[ "$(closing lost)" = 0 ] || die "lost at a slow pace"
[ "$(closing calls)" = "$made" ] || die "$made calls were made, $(closing calls) recorded"
grep -q 'MiB in inject.data; inject replay shows the calls' trace.err || die "no word of replay"

[ "$(stat -c %a inject.data inject.data/* | sort -u | xargs)" = "600 700" ] ||
	die "others may read it"

# A reader of CTF, without a warning.
babeltrace2 inject.data >bt.out 2>bt.err || die "babeltrace2 fails: $(head -n 3 bt.err)"
[ ! -s bt.err ] || die "babeltrace2 complains: $(head -n 3 bt.err)"
for event in entry exit; do
	[ "$(grep -c " $event: " bt.out)" = "$made" ] || die "babeltrace2 does not see each $event"
done
grep -q '"count_leaf"' bt.out || die "babeltrace2 sees no names"

# And we.
status 0 "$INJECT" replay --json
[ ! -s trace.err ] || die "replay complains"
[ "$(grep -c '"type":"call"' trace.out)" = "$made" ] || die "replay --json does not show each call"
status 0 "$INJECT" replay
traced 'count_frame() {'
[ "$(grep -c 'count_leaf();' trace.out)" -gt 0 ] || die "no leaves"
status 0 "$INJECT" report --sort calls
# Units apart, the third column is that of the calls.
[ "$(awk '!/^#/ { gsub(/ (us|ms| s| m| h) /, " "); n += $3 } END { print n }' trace.out)" = "$made" ] ||
	die "report does not count each call"
total() { awk '!/^#/ { n += $1 * ($2 == "us" ? 1 : $2 == "ms" ? 1e3 : 1e6) } END { printf "%d", n }' trace.out; }
head -n 1 trace.out | grep -q 'MIN  *MAX  *P50' || die "columns are missing where no terminal is"
script -qec "stty cols 80; $INJECT report --sort p50" /dev/null | tr -d '\r' >narrow.out
[ "$(awk '{ print length }' narrow.out | sort -n | tail -n 1)" -le 80 ] ||
	die "too wide for a terminal: $(cat narrow.out)"
head -n 1 narrow.out | grep -q 'TOTAL .*P50 .*FUNCTION' || die "what sorts is not shown"
gross=$(total)
status 0 "$INJECT" report --sort calls --subtract-overhead
net=$(total)
[ "$net" -lt "$gross" ] || die "nothing is subtracted: $net us of $gross"
status 0 "$INJECT" info
grep -qE '^probe	[0-9.]+ ns a call	' trace.out || die "info does not tell what a probe takes"
grep -q "^process	spin_threads ($VICTIM)$" trace.out || die "info does not name the process"
grep -q "^thread	" trace.out || die "info names no thread"

# Compressed: we read it as it is, also beside what zstd makes of it; others then do.
inject_bg record -p "$VICTIM" -f 'count_*' --compress -o small
tell pace '^ok pace' >/dev/null
sleep 0.3
made_small=$(tell end '^counted' | cut -d' ' -f2)
inject_end
removed
all_small() { status 0 "$INJECT" replay small --json; [ "$(grep -c '"type":"call"' trace.out)" = "$made_small" ]; }
all_small || die "not every call of $made_small is read where it is compressed"
[ ! -s trace.err ] || die "replay complains of what is compressed"
status 0 "$INJECT" info small
grep -q '^compressed	yes' trace.out || die "info does not say so"
zstd -q -d small/*.zst
all_small || die "streams of both kinds are counted twice"
rm small/*.zst
babeltrace2 small >bt.out 2>bt.err || die "babeltrace2 fails: $(head -n 3 bt.err)"
[ ! -s bt.err ] && [ "$(grep -c ' entry: ' bt.out)" = "$made_small" ] ||
	die "zstd -d does not make what babeltrace2 reads"

# A part of it.
status 0 "$INJECT" replay -f count_tail -n 5
[ "$(grep -c 'count_tail();' trace.out)" = 5 ] || die "-f and -n do not choose"
status 3 "$INJECT" replay -f nothing_of_this_name
refused 'no function of inject.data matches'

# A reader that has seen enough is no error.
"$INJECT" replay 2>trace.err | head -n 1 >/dev/null
[ "${PIPESTATUS[0]}" = 0 ] && [ ! -s trace.err ] || die "a closed pipe is an error"

# Once more: the first one is kept. Then something else is in the way.
status 0 "$INJECT" record -p "$VICTIM" -f 'count_*' -d 0.1 -q
[ -f inject.data.old/metadata ] && [ -f inject.data/metadata ] || die "the older one is not kept"
status 0 "$INJECT" report inject.data.old --diff inject.data
mkdir mine && echo precious >mine/file
status 1 "$INJECT" record -p "$VICTIM" -f 'count_*' -o mine
refused 'nothing else is replaced'
[ "$(ls mine)" = file ] || die "it was touched all the same"
unharmed
